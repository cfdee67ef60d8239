//! What is possible in a scene, but probably not meant.

use crate::{
    Scene,
    stage::{StageAction, StageItem},
};
use seixo_engine::world::{Domain, SurfaceMotion, Vec3, Wall, WallMotion, WallShape, World};

/// Length of a mesh in diameters of the largest grain above which its unit is in doubt: vessels of hundreds of grains are usual, and a part in millimeters
/// that is taken for meters has a thousand times as many.
const MANY_DIAMETERS: f64 = 2000.0;
/// Smallest component of two unit normals along each other for which planes are parallel.
const PARALLEL: f64 = 1.0 - 1e-9;

impl Scene {
    /// Notes about what is possible, but probably not meant: no gravity, meshes or angles whose unit is in doubt, walls that no grain can reach.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts: Vec<String> = self.doubt_of_gravity().into_iter().collect();
        doubts.extend(self.doubts_of_units());
        let angles = self.source.large_angles_without_unit().into_iter();
        doubts.extend(angles.map(|(path, angle)| {
            format!(
                "{path} = {angle} is in radians, as it has no unit, and more than a full turn. If degrees are meant, write angle = \"{angle} deg\""
            )
        }));
        doubts.extend(self.doubts_of_walls());
        doubts
    }

    fn has_grains(&self) -> bool {
        !self.world.grains.is_empty() || !self.world.later.grains.is_empty()
    }

    fn doubt_of_gravity(&self) -> Option<String> {
        let mut actions = self.plan.stages.iter().flat_map(|stage| &stage.actions);
        let is_set_later = actions.any(|action| matches!(action, StageAction::Gravity(_)));
        let is_given = self.source.has(&["world", "gravity"]);
        (self.world.gravity == [0.0; 3] && !is_given && !is_set_later).then(|| {
            "world.gravity is left out: nothing falls. Write gravity = [0, 0, \"-9.81 m/s^2\"], or gravity = [0, 0, 0] if there is none"
                .to_owned()
        })
    }

    /// Meshes of thousands of grains: most are drawn in millimeters.
    fn doubts_of_units(&self) -> Vec<String> {
        let world = &self.world;
        let spacing = world.fluids.as_ref().map_or(0.0, |fluids| fluids.spacing);
        let diameter = spacing.max(2.0 * largest_radius(world));
        let is_drawn_in_meters = |path: &[&str], mesh: &str| {
            let has = |key: &str| {
                let mut whole = path.to_vec();
                whole.push(key);
                self.source.has(&whole)
            };
            has(mesh) && !has("unit") && !has("scale")
        };
        let doubt = |path: String, [low, high]: [Vec3; 2]| {
            let longest = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
            let diameters = longest / diameter;
            (diameter > 0.0 && diameters > MANY_DIAMETERS && diameters.is_finite()).then(|| {
                format!(
                    "{path}: its mesh is {longest:.3} m long, {diameters:.0} diameters of the largest grain. If it is drawn in millimeters, add unit = \"mm\""
                )
            })
        };
        let walls = world.walls.iter().filter(|wall| is_drawn_in_meters(&["wall", &wall.name], "mesh"));
        let mut doubts: Vec<String> = walls
            .filter_map(|wall| doubt(format!("wall.{}", wall.name), wall.shape.bounds()))
            .collect();
        let grains = &world.grains;
        for (group, name) in world.groups.iter().enumerate() {
            if !is_drawn_in_meters(&["grains", name, "fill", "region", "mesh"], "file") {
                continue;
            }
            let of_group = grains.position.iter().zip(&grains.group).filter(|(_, of)| **of as usize == group);
            let bounds = of_group.fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[low, high], (at, _)| {
                [[0, 1, 2].map(|k| low[k].min(at[k])), [0, 1, 2].map(|k| high[k].max(at[k]))]
            });
            doubts.extend(doubt(format!("grains.{name}.fill.region"), bounds));
        }
        doubts
    }

    /// Walls that no grain can reach: outside of the domain, or behind a plane. Fluids may reach more, as they flow over the rim of a box.
    fn doubts_of_walls(&self) -> Vec<String> {
        let world = &self.world;
        if world.fluids.is_some() || !self.has_grains() {
            return Vec::new();
        }
        let radius = largest_radius(world);
        let rests = |index: usize, wall: &Wall| {
            let motion = WallMotion {
                until: None,
                surface: SurfaceMotion::default(),
                ..wall.motion.clone()
            };
            motion == WallMotion::default() && !world.later.motions.iter().any(|(moved, _)| *moved == index)
        };
        let resting: Vec<(usize, &Wall)> = world.walls.iter().enumerate().filter(|(index, wall)| rests(*index, wall)).collect();
        let mut doubts = Vec::new();
        for (_, wall) in &resting {
            if let Some(domain) = world.domain.filter(|domain| is_outside(&wall.shape, domain, radius)) {
                let [low, high] = [domain.min, domain.max];
                doubts.push(format!(
                    "wall.{}: no grain can reach it, as it is outside of world.domain, from {low:?} to {high:?} m; move it, or enlarge the domain",
                    wall.name
                ));
                continue;
            }
            let mut planes = resting.iter().filter(|(index, _)| self.is_permanent(*index));
            if let Some((_, plane)) = planes.find(|(_, plane)| is_behind(&wall.shape, &plane.shape, radius)) {
                doubts.push(format!(
                    "wall.{}: no grain can reach it, as it is behind wall.{}, which has its grains on the side to which its normal points; move one of the \
                     two",
                    wall.name, plane.name
                ));
            }
        }
        doubts
    }

    /// Whether a wall is present during the whole run.
    fn is_permanent(&self, wall: usize) -> bool {
        let mut actions = self.plan.stages.iter().flat_map(|stage| &stage.actions);
        let is_removed = actions.any(|action| matches!(action, StageAction::Remove(StageItem::Walls(walls)) if walls.contains(&wall)));
        !is_removed && !self.world.later.walls.contains(&wall)
    }
}

/// Radius of the largest grain, now or later \[m\]; 0 without grains.
fn largest_radius(world: &World) -> f64 {
    let later = world.later.grains.iter().map(|kind| kind.radius[1]);
    world.grains.radius.iter().copied().chain(later).fold(0.0, f64::max)
}

/// Height of a point above a plane \[m\].
fn height(at: &Vec3, point: &Vec3, normal: &Vec3) -> f64 {
    (0..3).map(|axis| (at[axis] - point[axis]) * normal[axis]).sum()
}

/// Whether a wall is farther than a radius from all centers of grains in a domain.
fn is_outside(shape: &WallShape, domain: &Domain, radius: f64) -> bool {
    if let WallShape::Plane { point, normal } = shape {
        let corners = (0..8).map(|corner| {
            [0, 1, 2].map(|axis| {
                if (corner >> axis) & 1 == 0 {
                    domain.min[axis]
                } else {
                    domain.max[axis]
                }
            })
        });
        return corners.map(|corner| height(&corner, point, normal)).fold(f64::INFINITY, f64::min) > radius;
    }
    let [low, high] = shape.bounds();
    // The images of a wall are beyond periodic sides.
    let mut open = (0..3).filter(|axis| !domain.periodic[*axis]);
    open.any(|axis| low[axis] > domain.max[axis] + radius || high[axis] < domain.min[axis] - radius)
}

/// Whether a wall is behind another one, which is a plane, by more than a radius everywhere.
fn is_behind(shape: &WallShape, plane: &WallShape, radius: f64) -> bool {
    let WallShape::Plane { point, normal } = plane else { return false };
    if let WallShape::Plane {
        point: own_point,
        normal: own_normal,
    } = shape
    {
        let along: f64 = (0..3).map(|axis| normal[axis] * own_normal[axis]).sum();
        return along > PARALLEL && height(own_point, point, normal) < -radius;
    }
    let triangles = shape.triangles();
    !triangles.is_empty() && triangles.iter().flatten().all(|corner| height(corner, point, normal) < -radius)
}
