//! Polyhedral grains of a world, and what they do not go with.

use super::{
    Body, DeviceChoice, ForceAssembly, Frustum, Grains, Interaction, Joint, PolyhedralShape, Settings, Vec3, Wall, WallMotion, WallShape,
    World, array, start_of, vector,
};
use crate::refusal::WorldError;
use seixo_sweeps::shape_meshes::{MOST_FEATURES_AT_MESHES, MOST_TRIANGLES};
use std::collections::HashSet;

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
    if let Some((_, what, remedy)) = unsupported(world, settings).into_iter().find(is_refused) {
        return Err(WorldError::WithPolyhedra { what, remedy });
    }
    check_meshes_and_wear(world)?;
    check_round_walls(&world.walls, &polyhedra_of(&world.grains))
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
fn unsupported(world: &World, settings: &Settings) -> [(bool, &'static str, &'static str); 8] {
    let is_on_both = matches!(settings.device, DeviceChoice::Heterogeneous(_));
    let domain = world.domain.as_ref();
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

/// Rejects walls from meshes that polyhedral grains do not go with, shapes that do not go with meshes, and walls that wear.
fn check_meshes_and_wear(world: &World) -> Result<(), WorldError> {
    let has_periodic_sides = world.domain.is_some_and(|domain| domain.periodic.contains(&true));
    let flaw = |wall: &Wall| match &wall.shape {
        _ if wall.specific_wear_rate > 0.0 => {
            Some("wear does not go with polyhedral grains yet; leave specific_wear_rate, or wear_coefficient and hardness, out".to_owned())
        }
        WallShape::Mesh(_) if has_periodic_sides => Some(
            "a mesh does not go with polyhedral grains in a domain with periodic sides yet; use planes, or a domain without periodic sides"
                .to_owned(),
        ),
        WallShape::Mesh(triangles) if triangles.len() > MOST_TRIANGLES => Some(format!(
            "its mesh has {} triangles, and at most {MOST_TRIANGLES} go with polyhedral grains; simplify it, or split it into several walls",
            triangles.len()
        )),
        _ => None,
    };
    let refused = world.walls.iter().find_map(|wall| Some((wall, flaw(wall)?)));
    if let Some((wall, what)) = refused {
        return Err(WorldError::Wall {
            name: wall.name.clone(),
            what,
        });
    }
    let features = |shape: &&PolyhedralShape| shape.vertices.len().max(shape.edges.len());
    let has_mesh = world.walls.iter().any(|wall| matches!(wall.shape, WallShape::Mesh(_)));
    let largest = world.shapes.iter().max_by_key(features).filter(|_| has_mesh);
    match largest.filter(|shape| features(shape) > MOST_FEATURES_AT_MESHES) {
        Some(shape) => Err(WorldError::Shape {
            name: shape.name.clone(),
            what: format!(
                "it has {} vertices or edges, and at most {MOST_FEATURES_AT_MESHES} go with walls from meshes; simplify it, or use planes",
                features(&shape)
            ),
        }),
        None => Ok(()),
    }
}

/// Rejects round walls that polyhedral grains among newcomers do not go with.
pub(crate) fn check_walls_around(walls: &[Wall], newcomers: &Grains) -> Result<(), WorldError> {
    let polyhedra = polyhedra_of(newcomers);
    if polyhedra.is_empty() {
        return Ok(());
    }
    check_round_walls(walls, &polyhedra)
}

/// Ids and centers of polyhedral grains.
fn polyhedra_of(grains: &Grains) -> Vec<(u32, Vec3)> {
    let polyhedral = (0..grains.shape.len()).filter(|&k| grains.shape[k] > 0);
    polyhedral.map(|k| (grains.id[k], grains.position[k])).collect()
}

/// Rejects round walls that polyhedral grains with these ids and centers do not go with.
fn check_round_walls(walls: &[Wall], polyhedra: &[(u32, Vec3)]) -> Result<(), WorldError> {
    let refused = walls.iter().find_map(|wall| Some((wall, flaw_around(wall, polyhedra)?)));
    refused.map_or(Ok(()), |(wall, what)| {
        Err(WorldError::Wall {
            name: wall.name.clone(),
            what,
        })
    })
}

/// Why a round wall does not go with polyhedral grains of these ids and centers, and the remedy. It has to be closed around them: it is convex then, so that
/// only vertices touch it. Its surface may not run, because a grain may touch it at places with different normals.
fn flaw_around(wall: &Wall, polyhedra: &[(u32, Vec3)]) -> Option<String> {
    let outside = match &wall.shape {
        WallShape::Plane { .. } | WallShape::Mesh(_) => return None,
        _ if wall.motion.surface.runs() => {
            return Some(
                "its surface velocity or surface rotation does not go with polyhedral grains, which may touch a round wall at places with different \
                 normals; let the wall itself rotate, or write segments for a cylinder or cone, which make it a mesh"
                    .to_owned(),
            );
        }
        WallShape::Round(frusta) => {
            let Some(mantle) = closed_mantle(frusta) else {
                return Some(
                    "it is open, and polyhedral grains go only with closed round walls around them so far; close both ends of the cylinder or cone with \
                     caps, write segments, which make it a mesh, or use grains that are spheres"
                        .to_owned(),
                );
            };
            polyhedra.iter().find(|(_, center)| !is_inside(mantle, center))
        }
        WallShape::Sphere { center, radius } => {
            let from_center = |at: &Vec3| vector(*at).minus(&vector(*center)).length();
            // The comparison fails for what is not a number, too.
            let is_inside = |at: &Vec3| from_center(at) < *radius;
            polyhedra.iter().find(|(_, at)| !is_inside(at))
        }
    };
    outside.map(|(id, [x, y, z])| {
        format!(
            "polyhedral grain {id} at ({x:.4e}, {y:.4e}, {z:.4e}) m is not inside, and polyhedral grains go only with closed round walls around them so \
             far; move the grain or the wall, or write segments for a cylinder or cone, which make it a mesh"
        )
    })
}

/// The mantle of a round wall that has a disk at each open end.
fn closed_mantle(frusta: &[Frustum]) -> Option<&Frustum> {
    let mut mantles = frusta.iter().filter(|frustum| frustum.height != 0.0);
    let (Some(mantle), None) = (mantles.next(), mantles.next()) else {
        return None;
    };
    let open_ends = mantle.radii.iter().filter(|radius| **radius > 0.0).count();
    (frusta.len() == 1 + open_ends).then_some(mantle)
}

/// Whether a place is inside of a mantle, between its ends.
fn is_inside(mantle: &Frustum, place: &Vec3) -> bool {
    let (axis, [near, far]) = (vector(mantle.axis), mantle.radii);
    let from_base = vector(*place).minus(&vector(mantle.base));
    let along = from_base.dot(&axis);
    let share = along / mantle.height;
    let aside = from_base.minus(&axis.times(along)).length();
    (0.0..=1.0).contains(&share) && aside < near + (far - near) * share
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
        assert_eq!(closed_mantle(&drum), Some(&mantle));
        for place in [[0.24, 0.0, 0.0], [0.0, -0.09, -0.28]] {
            assert!(is_inside(&mantle, &place), "{place:?}");
        }
        for place in [[0.26, 0.0, 0.0], [0.0, 0.11, 0.0], [0.0, 0.09, 0.22]] {
            assert!(!is_inside(&mantle, &place), "{place:?}");
        }
        assert_eq!(closed_mantle(&drum[..2]), None, "a drum with an open end");
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
