//! Extents of walls, and size and mass properties of bodies.

use crate::terminal;
use seixo_engine::world::{Body, PolyhedralShape, Vec3, WallShape, World};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Surface and extent of a wall.
#[derive(Serialize)]
pub struct WallSize {
    wall: String,
    surface: &'static str,
    /// Number of triangles of a mesh.
    triangles: Option<usize>,
    /// Corners of the box around it \[m\]; none for a plane.
    bounds: Option<[Vec3; 2]>,
    /// A point of a plane \[m\], and its normal, on whose side the grains are.
    plane: Option<[Vec3; 2]>,
}

/// Surfaces and extents of all walls.
pub fn of_walls(world: &World) -> Vec<WallSize> {
    let sized = |shape: &WallShape| match shape {
        WallShape::Plane { point, normal } => ("plane", None, None, Some([*point, *normal])),
        WallShape::Mesh(triangles) => ("mesh", Some(triangles.len()), Some(shape.bounds()), None),
        WallShape::Round(_) => ("round wall", None, Some(shape.bounds()), None),
        WallShape::Sphere { .. } => ("sphere", None, Some(shape.bounds()), None),
    };
    let walls = world.walls.iter().map(|wall| {
        let (surface, triangles, bounds, plane) = sized(&wall.shape);
        WallSize {
            wall: wall.name.clone(),
            surface,
            triangles,
            bounds,
            plane,
        }
    });
    walls.collect()
}

/// Formats a position \[m\].
fn position(at: Vec3) -> String {
    format!("({})", at.map(|coordinate| terminal::scaled(coordinate, "m")).join(", "))
}

impl WallSize {
    /// Describes the wall in a line.
    pub fn text(&self) -> String {
        let WallSize { wall, surface, .. } = self;
        if let Some([point, normal]) = self.plane {
            let normal = normal.map(|component| format!("{component:.3}")).join(", ");
            return format!("{wall}: {surface} through {}, grains on the side of ({normal})", position(point));
        }
        let triangles = self.triangles.map(|count| format!(" of {}", terminal::many(count, "triangle")));
        let bounds = self.bounds.map(|bounds| {
            let [low, high] = bounds.map(position);
            format!(", {}, from {low} to {high}", terminal::size(bounds))
        });
        format!("{wall}: {surface}{}{}", triangles.unwrap_or_default(), bounds.unwrap_or_default())
    }
}

/// Size and mass properties of a body.
#[derive(Serialize)]
pub struct BodySize {
    group: String,
    /// Number of spheres; zero for a polyhedral grain.
    spheres: usize,
    /// Edges of the box around its spheres or polyhedron, along its principal axes \[m\].
    size: Vec3,
    /// Radius of the sphere about its center of mass that contains these \[m\].
    bounding_radius: f64,
    /// \[kg\].
    mass: f64,
    /// Principal moments of inertia \[kg m²\].
    moments_of_inertia: Vec3,
}

/// The shape of a grain, if it is polyhedral.
fn shape_of(world: &World, place: usize) -> Option<&PolyhedralShape> {
    let index = world.grains.shape.get(place)?.checked_sub(1)?;
    world.shapes.get(index as usize)
}

/// The heaviest body of each group that moves freely. Polyhedral grains are alone on their bodies, with their center and axes.
pub fn of_bodies(world: &World) -> Vec<BodySize> {
    let grains = &world.grains;
    let places: HashMap<u32, usize> = if grains.bodies.is_empty() {
        HashMap::new()
    } else {
        grains.id.iter().enumerate().map(|(place, &id)| (id, place)).collect()
    };
    let mut heaviest: BTreeMap<u32, &Body> = BTreeMap::new();
    for body in grains.bodies.iter().filter(|body| body.motion.is_none()) {
        let Some(&place) = body.carries.first().and_then(|(id, _)| places.get(id)) else {
            continue;
        };
        let known = heaviest.entry(grains.group[place]).or_insert(body);
        if body.mass > known.mass {
            *known = body;
        }
    }
    let sized = |(group, body): (u32, &Body)| {
        let (mut low, mut high, mut bounding_radius) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3], 0.0_f64);
        let mut spheres = body.carries.len();
        for (id, offset) in &body.carries {
            let place = places.get(id).copied();
            let radius = place.map_or(0.0, |place| grains.radius[place]);
            if let Some(shape) = place.and_then(|place| shape_of(world, place)) {
                spheres -= 1;
                bounding_radius = bounding_radius.max(radius);
                for vertex in &shape.vertices {
                    for axis in 0..3 {
                        low[axis] = low[axis].min((vertex[axis] - shape.rounding) * radius);
                        high[axis] = high[axis].max((vertex[axis] + shape.rounding) * radius);
                    }
                }
                continue;
            }
            let distance = offset.iter().map(|x| x * x).sum::<f64>().sqrt();
            bounding_radius = bounding_radius.max(distance + radius);
            for axis in 0..3 {
                low[axis] = low[axis].min(offset[axis] - radius);
                high[axis] = high[axis].max(offset[axis] + radius);
            }
        }
        BodySize {
            group: world.groups[group as usize].clone(),
            spheres,
            size: [0, 1, 2].map(|axis| high[axis] - low[axis]),
            bounding_radius,
            mass: body.mass,
            moments_of_inertia: body.moments,
        }
    };
    heaviest.into_iter().map(sized).collect()
}

impl BodySize {
    /// Describes the body in a line.
    pub fn text(&self) -> String {
        let made_of = if self.spheres == 0 {
            "a polyhedron".to_owned()
        } else {
            terminal::many(self.spheres, "sphere")
        };
        format!(
            "{}, the heaviest: {made_of}, {} along its principal axes, bounding radius {}, {}, moments of inertia {} kg m²",
            self.group,
            terminal::size([[0.0; 3], self.size]),
            terminal::scaled(self.bounding_radius, "m"),
            terminal::scaled(1e3 * self.mass, "g"),
            self.moments_of_inertia.map(|moment| format!("{moment:.3e}")).join(", ")
        )
    }
}
