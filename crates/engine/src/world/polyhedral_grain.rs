//! Polyhedral grains of a world, and what they do not go with.

use super::{
    Body, DeviceChoice, ForceAssembly, Frustum, Grains, Interaction, Joint, PolyhedralShape, Settings, Vec3, Wall, WallMotion, WallShape,
    World, array, start_of, vector,
};
use crate::refusal::WorldError;
use seixo_sweeps::shape_meshes::{MOST_FEATURES_AT_MESHES, MOST_TRIANGLES};
use std::collections::HashSet;

/// Walls that polyhedral grains do not go with, and what to do.
const OTHER_WALLS: &str = "walls other than planes, meshes and closed round walls around them, or with a surface that runs on a round wall";
const INSTEAD_OF_OTHER_WALLS: &str =
    "write segments for a cylinder or a cone, which makes it a mesh, or give it caps; or use grains that are spheres";

/// Largest distance of the length of an orientation from one.
const OF_UNIT_LENGTH: f64 = 1e-6;

/// A polyhedral grain, see [`Grains::push_polyhedron`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolyhedralGrain {
    /// Unique id.
    pub id: u32,
    /// Index into [`World::shapes`].
    pub shape: u32,
    /// Radius of the bounding sphere about the center of mass: the scale of the shape \[m\].
    pub radius: f64,
    /// Mass \[kg\], see [`PolyhedralShape::mass`].
    pub mass: f64,
    /// Center of mass \[m\].
    pub center: Vec3,
    /// Orientation: the unit quaternion w x y z that rotates vectors of the shape into space.
    pub orientation: [f64; 4],
    /// Velocity \[m/s\].
    pub velocity: Vec3,
    /// Angular velocity \[rad/s\].
    pub angular_velocity: Vec3,
    /// Index into [`World::materials`].
    pub material: u32,
    /// Index into [`World::groups`].
    pub group: u32,
}

impl Grains {
    /// Appends a polyhedral grain. Others may be spheres.
    pub fn push_polyhedron(&mut self, grain: &PolyhedralGrain) {
        self.shape.resize(self.len(), 0);
        self.orientation.resize(self.len(), [1.0, 0.0, 0.0, 0.0]);
        self.push(
            grain.id,
            grain.center,
            grain.velocity,
            grain.angular_velocity,
            grain.radius,
            grain.material,
            grain.group,
        );
        self.shape.resize(self.len(), 0);
        self.orientation.resize(self.len(), [1.0, 0.0, 0.0, 0.0]);
        if let (Some(shape), Some(orientation)) = (self.shape.last_mut(), self.orientation.last_mut()) {
            (*shape, *orientation) = (grain.shape + 1, grain.orientation);
        }
        self.masses.insert(grain.id, grain.mass);
    }

    /// Lets a rigid body of its own carry the polyhedral grain k, which has this shape. The body has the mass, center, axes and velocities of the grain. It
    /// moves freely, or as `motion` prescribes. Its id is the number of bodies before it, and is returned.
    pub fn put_on_body(&mut self, k: usize, shape: &PolyhedralShape, motion: Option<WallMotion>) -> u32 {
        let id = self.bodies.len() as u32;
        let mass = self.masses.get(&self.id[k]).copied().unwrap_or(f64::NAN);
        self.bodies.push(Body {
            id,
            mass,
            moments: shape.moments_of_inertia(mass, self.radius[k]),
            center: self.position[k],
            orientation: self.orientation.get(k).copied().unwrap_or([1.0, 0.0, 0.0, 0.0]),
            velocity: self.velocity[k],
            angular_velocity: self.angular_velocity[k],
            motion,
            joint: None,
            carries: vec![(self.id[k], [0.0; 3])],
        });
        id
    }

    /// As [`Grains::put_on_body`], on a joint to space. The grain keeps the velocities that the joint permits.
    pub fn put_on_joint(&mut self, k: usize, shape: &PolyhedralShape, joint: Joint) {
        self.put_on_body(k, shape, None);
        if let Some(body) = self.bodies.last_mut() {
            body.joint = Some(joint);
            [self.velocity[k], self.angular_velocity[k]] = start_of(body).map(|v| array(&v));
        }
    }

    /// The shape of grain k, if it is no sphere.
    pub(crate) fn shape_of<'a>(&self, k: usize, shapes: &'a [PolyhedralShape]) -> Option<&'a PolyhedralShape> {
        let index = self.shape.get(k)?.checked_sub(1)?;
        shapes.get(index as usize)
    }

    /// Radius of grain k in contacts \[m\]: that of a sphere, or the rounding radius.
    pub(crate) fn contact_radius(&self, k: usize, shapes: &[PolyhedralShape]) -> f64 {
        self.radius[k] * self.shape_of(k, shapes).map_or(1.0, |shape| shape.rounding)
    }
}

/// Rejects polyhedral grains whose numbers are wrong, and what they do not go with.
pub(crate) fn check_polyhedra(world: &World, settings: &Settings) -> Result<(), WorldError> {
    for shape in &world.shapes {
        if let Some(what) = shape.flaw() {
            return Err(WorldError::Shape {
                name: shape.name.clone(),
                what,
            });
        }
    }
    check_shapes(&world.grains, world.shapes.len())?;
    if world.shapes.is_empty() {
        return Ok(());
    }
    check_interactions_with_polyhedra(world)?;
    let is_refused = |(is_there, _, _): &(bool, _, _)| *is_there;
    match unsupported(world, settings).into_iter().find(is_refused) {
        Some((_, what, remedy)) => Err(WorldError::WithPolyhedra { what, remedy }),
        None => Ok(()),
    }
}

/// Rejects grains with shapes that are not among this many, and polyhedral grains without orientation or mass.
pub(crate) fn check_shapes(grains: &Grains, shapes: usize) -> Result<(), WorldError> {
    if grains.shape.is_empty() && grains.orientation.is_empty() {
        return Ok(());
    }
    if grains.shape.len() != grains.len() || grains.orientation.len() != grains.len() {
        return Err(WorldError::FluidSurroundings {
            what: "number of shapes and of orientations of grains",
            value: grains.shape.len().min(grains.orientation.len()) as f64,
            must: "that of the grains, or zero if all are spheres",
        });
    }
    for (k, &id) in grains.id.iter().enumerate() {
        let index = grains.shape[k];
        let wrong = |what: &'static str, value: f64, must: &'static str| Err(WorldError::Grain { id, what, value, must });
        if index as usize > shapes {
            return wrong("shape", f64::from(index), "0 for a sphere, or one more than the index of a shape");
        }
        let length = grains.orientation[k].iter().map(|x| x * x).sum::<f64>().sqrt();
        // The comparison with what is not a number fails, too.
        let is_unit = (length - 1.0).abs() <= OF_UNIT_LENGTH;
        if index > 0 && !is_unit {
            return wrong("length of the orientation", length, "1: a unit quaternion w x y z");
        }
        if index > 0 && !grains.masses.contains_key(&id) {
            return wrong("mass", f64::NAN, "given, as the grain is polyhedral");
        }
    }
    Ok(())
}

/// Whether a body without prescribed motion carries a polyhedral grain together with others, or beside its center.
fn has_compound_polyhedra(grains: &Grains) -> bool {
    let is_compound = |body: &&Body| match body.carries[..] {
        [(_, offset)] => body.motion.is_none() && offset != [0.0; 3],
        _ => body.motion.is_none(),
    };
    let members = grains.bodies.iter().filter(is_compound).flat_map(|body| &body.carries);
    let members: HashSet<u32> = members.map(|(id, _)| *id).collect();
    (0..grains.shape.len()).any(|k| grains.shape[k] > 0 && members.contains(&grains.id[k]))
}

/// Rejects interactions with more than polyhedral grains have; the error begins with the key.
fn check_interactions_with_polyhedra(world: &World) -> Result<(), WorldError> {
    let refused = world.interactions.iter().enumerate().find_map(|(k, pair)| {
        let what = beyond_overlap(pair.as_ref()?)?;
        // The table has a row for each material.
        let name = |material: usize| world.materials.get(material).map(|found| found.name.clone());
        let materials = world.materials.len().max(1);
        let [a, b] = [k / materials, k % materials].map(|material| name(material).unwrap_or_default());
        Some(WorldError::Interaction {
            a,
            b,
            what: what.to_owned(),
        })
    });
    refused.map_or(Ok(()), Err)
}

/// What an interaction has besides forces of overlap alone, and the remedy.
fn beyond_overlap(pair: &Interaction) -> Option<&'static str> {
    let all = [
        (
            pair.cohesion.is_some(),
            "cohesion does not go with polyhedral grains yet; leave it out, or use spheres",
        ),
        (
            pair.rolling.is_some(),
            "rolling does not go with polyhedral grains, whose edges and faces keep them from rolling; leave it out",
        ),
        (
            pair.twisting.is_some(),
            "twisting does not go with polyhedral grains, whose contacts of a face keep them from twisting; leave it out",
        ),
        (
            !pair.is_of_overlap_alone(),
            "normal = \"hysteretic\" does not go with polyhedral grains yet; use \"hertz\" or \"linear\"",
        ),
    ];
    all.into_iter().find(|(is_there, _)| *is_there).map(|(_, what)| what)
}

/// What polyhedral grains do not go with: whether it is there, its name, and the remedy.
fn unsupported(world: &World, settings: &Settings) -> [(bool, &'static str, &'static str); 12] {
    let is_on_both = matches!(settings.device, DeviceChoice::Heterogeneous(_));
    let centers = centers_of_polyhedra(&world.grains);
    let domain = world.domain.as_ref();
    let has_periodic_sides = domain.is_some_and(|domain| domain.periodic.contains(&true));
    let triangles = world.walls.iter().filter_map(|wall| match &wall.shape {
        WallShape::Mesh(triangles) => Some(triangles.len()),
        _ => None,
    });
    let most_triangles = triangles.max().unwrap_or(0);
    let has_mesh = most_triangles > 0;
    let features = world.shapes.iter().map(|shape| shape.vertices.len().max(shape.edges.len()));
    let most_features = features.max().unwrap_or(0);
    [
        (is_on_both, "a CPU and a GPU at the same time", "use --device cpu or --device gpu"),
        (
            has_compound_polyhedra(&world.grains),
            "rigid bodies of polyhedral grains and others",
            "let each body be one polyhedral grain about its center, or prescribe their motion",
        ),
        (
            world.later.freezes,
            "fluids that freeze",
            "leave the freezing out, or use grains that are spheres",
        ),
        (world.has_films(), "liquid films", "leave film_exchange out, or use spheres"),
        (
            world.walls.iter().any(|wall| !goes_with(wall, &centers)),
            OTHER_WALLS,
            INSTEAD_OF_OTHER_WALLS,
        ),
        (
            has_mesh && has_periodic_sides,
            "walls from meshes in a domain with periodic sides",
            "use planes, or a domain without periodic sides",
        ),
        (
            most_triangles > MOST_TRIANGLES || has_mesh && most_features > MOST_FEATURES_AT_MESHES,
            "walls from meshes of more than 43690 triangles, or together with shapes of more than 8191 vertices or edges",
            "simplify the meshes, or split them into several walls",
        ),
        (
            world.walls.iter().any(|wall| wall.specific_wear_rate > 0.0),
            "walls that wear",
            "leave specific_wear_rate out",
        ),
        (
            domain.is_some_and(|domain| domain.shear.is_some() || domain.control.is_some()),
            "sides that slide, or a controlled cell",
            "use fixed sides",
        ),
        (settings.scheme.corrects().is_some(), "Gear's methods", "take another integrator"),
        (
            settings.assembly != ForceAssembly::Fused,
            "force assembly by a list of contacts",
            "write run.assembly = \"fused\"",
        ),
        (
            world.saved.as_ref().is_some_and(|saved| !saved.bonds.is_empty()),
            "bonds of another run",
            "name the section of the bonds otherwise, so that they are made at the start",
        ),
    ]
}

/// Rejects walls that polyhedral grains among newcomers do not go with.
pub(crate) fn check_walls_around(walls: &[Wall], newcomers: &Grains) -> Result<(), WorldError> {
    let centers = centers_of_polyhedra(newcomers);
    if centers.is_empty() || walls.iter().all(|wall| goes_with(wall, &centers)) {
        return Ok(());
    }
    Err(WorldError::WithPolyhedra {
        what: OTHER_WALLS,
        remedy: INSTEAD_OF_OTHER_WALLS,
    })
}

fn centers_of_polyhedra(grains: &Grains) -> Vec<Vec3> {
    let polyhedral = (0..grains.shape.len()).filter(|&k| grains.shape[k] > 0);
    polyhedral.map(|k| grains.position[k]).collect()
}

/// Whether polyhedral grains with these centers go with a wall: it is a plane, a mesh, or a closed round wall around them, which is convex, so that only
/// vertices touch it. The surface of a round wall may not run, because a grain may touch it at places with different normals.
fn goes_with(wall: &Wall, centers: &[Vec3]) -> bool {
    let runs = wall.motion.surface.runs();
    match &wall.shape {
        WallShape::Plane { .. } | WallShape::Mesh(_) => true,
        WallShape::Round(frusta) => !runs && encloses(frusta, centers),
        WallShape::Sphere { center, radius } => {
            let from_center = |at: &Vec3| vector(*at).minus(&vector(*center)).length();
            !runs && centers.iter().all(|at| from_center(at) < *radius)
        }
    }
}

/// Whether a mantle with a disk at each open end has these places inside.
fn encloses(frusta: &[Frustum], places: &[Vec3]) -> bool {
    let is_mantle = |frustum: &&Frustum| frustum.height != 0.0;
    let mut mantles = frusta.iter().filter(is_mantle);
    let (Some(mantle), None) = (mantles.next(), mantles.next()) else {
        return false;
    };
    let open_ends = mantle.radii.iter().filter(|radius| **radius > 0.0).count();
    let (axis, [near, far]) = (vector(mantle.axis), mantle.radii);
    let is_inside = |place: &Vec3| {
        let from_base = vector(*place).minus(&vector(mantle.base));
        let along = from_base.dot(&axis);
        let share = along / mantle.height;
        let aside = from_base.minus(&axis.times(along)).length();
        (0.0..=1.0).contains(&share) && aside < near + (far - near) * share
    };
    frusta.len() == 1 + open_ends && places.iter().all(is_inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_drum_is_around_what_is_inside() {
        let axis = [0.0, 1.0, 0.0];
        let mantle = Frustum {
            base: [0.0, -0.1, 0.0],
            axis,
            height: 0.2,
            radii: [0.3, 0.2],
        };
        let disks = [
            Frustum::disk([0.0, -0.1, 0.0], axis, 0.3),
            Frustum::disk([0.0, 0.1, 0.0], axis, 0.2),
        ];
        let drum = [mantle, disks[0], disks[1]];
        assert!(encloses(&drum, &[[0.24, 0.0, 0.0], [0.0, -0.09, -0.28]]));
        for place in [[0.26, 0.0, 0.0], [0.0, 0.11, 0.0], [0.0, 0.09, 0.22]] {
            assert!(!encloses(&drum, &[[0.0; 3], place]), "{place:?}");
        }
        assert!(!encloses(&drum[..2], &[[0.0; 3]]), "a drum with an open end");
    }

    #[test]
    fn spheres_and_polyhedra_may_be_added_in_any_order() {
        let mut grains = Grains::default();
        grains.push(4, [0.0; 3], [0.0; 3], [0.0; 3], 1e-3, 0, 0);
        grains.push_polyhedron(&PolyhedralGrain {
            id: 2,
            shape: 0,
            radius: 2e-3,
            mass: 1e-5,
            center: [0.0, 0.0, 0.01],
            orientation: [0.0, 1.0, 0.0, 0.0],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            material: 0,
            group: 0,
        });
        grains.push(3, [0.0, 0.0, 0.02], [0.0; 3], [0.0; 3], 1e-3, 0, 0);
        assert_eq!((&grains.shape[..], &grains.radius[..]), (&[0, 1, 0][..], &[1e-3, 2e-3, 1e-3][..]));
        assert_eq!(grains.orientation[1..], [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]);
        assert_eq!(grains.masses.get(&2), Some(&1e-5));
        let shapes = [PolyhedralShape::ball("ball")];
        assert_eq!([0, 1, 2].map(|k| grains.shape_of(k, &shapes).is_some()), [false, true, false]);
        // A table that is taken over keeps shapes.
        let mut copy = Grains::default();
        (0..3).for_each(|k| copy.push_from(&grains, k));
        assert_eq!(copy, grains);
    }
}
