//! Rigid bodies made of grains: of spheres, or of one polyhedral grain.

use super::joint::start_of;
use super::{Domain, Grains, Joint, Vec3, WallMotion};
use crate::refusal::WorldError;
use crate::world::array;
use crate::world::speed_limit::{BELOW_SPEED_LIMIT, SPEED_LIMIT, speed_of};
use seixo_laws::{Quaternion, Vector3};
use std::collections::HashMap;

/// A rigid body that carries grains. They move with it, and their contact forces act on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Unique id.
    pub id: u32,
    /// Mass \[kg\].
    pub mass: f64,
    /// Principal moments of inertia about the center of mass \[kg m²\].
    pub moments: Vec3,
    /// Center of mass \[m\].
    pub center: Vec3,
    /// Unit quaternion w x y z that turns the frame of its principal axes into the frame of space.
    pub orientation: [f64; 4],
    /// Velocity of the center of mass \[m/s\]. With prescribed motion it follows from the motion. On a hinge or a ball joint it follows from the
    /// angular velocity: leave it zero there.
    pub velocity: Vec3,
    /// Angular velocity \[rad/s\]; with prescribed motion it follows from the motion.
    pub angular_velocity: Vec3,
    /// Prescribed motion, independent of forces; `None` for a body that moves freely. Center and orientation are those at time zero;
    /// the axis and all other values are as for walls.
    pub motion: Option<WallMotion>,
    /// Joint to space; `None` for a body without a joint or with prescribed motion. Center and orientation are those at time zero.
    pub joint: Option<Joint>,
    /// Ids of the grains that it carries, and their positions relative to its center, in the frame of its principal axes \[m\].
    pub carries: Vec<(u32, Vec3)>,
}

/// A sphere of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Id of its grain.
    pub id: u32,
    /// Position relative to the center of mass, in the frame of the principal axes \[m\].
    pub offset: Vec3,
    /// Radius \[m\].
    pub radius: f64,
}

impl Body {
    /// First value that is not valid, with its name and the condition; `None` if all are valid.
    fn flaw(&self) -> Option<(&'static str, f64, &'static str)> {
        let vectors = [
            ("velocity", self.velocity),
            ("angular velocity", self.angular_velocity),
            ("center", self.center),
        ];
        for (what, vector) in vectors {
            if let Some(&value) = vector.iter().find(|x| x.is_nan() || x.abs() >= 1e15) {
                return Some((what, value, "finite, below 1e15"));
            }
        }
        let speed = speed_of(&self.velocity);
        if speed >= SPEED_LIMIT {
            return Some(("velocity", speed, BELOW_SPEED_LIMIT));
        }
        if !(self.mass.is_finite() && self.mass > 0.0) {
            return Some(("mass", self.mass, "positive"));
        }
        let [x, y, z] = self.moments;
        if let Some(&moment) = self.moments.iter().find(|moment| !(moment.is_finite() && **moment > 0.0)) {
            return Some(("principal moment of inertia", moment, "positive"));
        }
        let largest = x.max(y).max(z);
        if 2.0 * largest > (x + y + z) * (1.0 + 1e-9) {
            return Some(("largest principal moment of inertia", largest, "at most the sum of the two others"));
        }
        let length = self.orientation.iter().map(|c| c * c).sum::<f64>().sqrt();
        if length.is_nan() || (length - 1.0).abs() > 1e-6 {
            return Some(("length of the orientation quaternion", length, "one"));
        }
        if let Some(motion) = &self.motion {
            if let Some(servo) = &motion.servo {
                return Some(("target of a servo", servo.target.value(), "left out: a body moves as prescribed"));
            }
            let surface = [motion.surface.velocity, motion.surface.angular_velocity];
            if let Some(&value) = surface.as_flattened().iter().find(|x| **x != 0.0) {
                return Some(("motion of its surface", value, "zero: surfaces run on walls only"));
            }
        }
        if self.carries.is_empty() {
            return Some(("number of grains", 0.0, "at least one"));
        }
        None
    }

    /// Its orientation, in the type that the laws use.
    pub(crate) fn quaternion(&self) -> Quaternion<f64> {
        let [w, x, y, z] = self.orientation;
        Quaternion { w, x, y, z }.normalized()
    }

    /// Position in space of a point of its frame \[m\].
    pub fn place(&self, offset: Vec3) -> Vec3 {
        let [x, y, z] = offset;
        let arm = self.quaternion().to_space(&Vector3 { x, y, z });
        [self.center[0] + arm.x, self.center[1] + arm.y, self.center[2] + arm.z]
    }
}

impl Grains {
    /// Appends a body and its spheres, of one material and group; `body.carries` is derived from the spheres.
    pub fn push_body(&mut self, mut body: Body, spheres: &[Sphere], material: u32, group: u32) {
        body.carries = spheres.iter().map(|sphere| (sphere.id, sphere.offset)).collect();
        let [center_moves, w] = start_of(&body).map(|v| array(&v));
        for sphere in spheres {
            let at = body.place(sphere.offset);
            let arm = [0, 1, 2].map(|k| at[k] - body.center[k]);
            let swing = [
                w[1] * arm[2] - w[2] * arm[1],
                w[2] * arm[0] - w[0] * arm[2],
                w[0] * arm[1] - w[1] * arm[0],
            ];
            let velocity = [0, 1, 2].map(|k| center_moves[k] + swing[k]);
            self.push(sphere.id, at, velocity, w, sphere.radius, material, group);
        }
        self.bodies.push(body);
    }

    /// Indices in the table of bodies, by the ids of the grains that they carry.
    pub(crate) fn carriers(&self) -> HashMap<u32, usize> {
        let members = self.bodies.iter().enumerate();
        members
            .flat_map(|(b, body)| body.carries.iter().map(move |&(id, _)| (id, b)))
            .collect()
    }

    /// Smallest ratio of the effective mass at a sphere of a body to the mass of the sphere alone; at most 1. `density` is that of a material by its
    /// index \[kg/m³\].
    ///
    /// A force through the center of a sphere at o moves it like a mass of at least 1/(1/m + Σ (o² − o_k²)/I_k). A force at its surface moves it like
    /// one of at least 1/(1/m + Σ (d_k + R)²/I_k), with the distances d_k from the principal axes. For a single sphere the latter is m/8.5. A joint
    /// makes a body only harder to move. Polyhedral grains are left out.
    pub(crate) fn lightness(&self, density: impl Fn(usize) -> f64) -> f64 {
        if self.bodies.is_empty() {
            // A map of millions of grains takes gigabytes.
            return 1.0;
        }
        let places: HashMap<u32, usize> = self.id.iter().enumerate().map(|(k, &id)| (id, k)).collect();
        let mut least = 1.0f64;
        // No force moves a body with prescribed motion.
        for body in self.bodies.iter().filter(|body| body.motion.is_none()) {
            for (id, offset) in &body.carries {
                let k = places[id];
                // The time step counts how its shape responds.
                if self.shape.get(k).is_some_and(|&shape| shape > 0) {
                    continue;
                }
                let radius = self.radius[k];
                let alone = self.mass_alone(k, density(self.material[k] as usize));
                let square: f64 = offset.iter().map(|x| x * x).sum();
                let (mut middle, mut surface) = (1.0 / body.mass, 1.0 / body.mass);
                for (moment, along) in body.moments.iter().zip(offset) {
                    let from_axis = (square - along * along).max(0.0);
                    middle += from_axis / moment;
                    surface += (from_axis.sqrt() + radius).powi(2) / moment;
                }
                least = least.min(1.0 / (middle * alone)).min(8.5 / (surface * alone));
            }
        }
        least
    }

    /// Checks bodies.
    ///
    /// # Errors
    /// If a number cannot be simulated, if a grain is missing or carried twice, or if a body cannot be on its joint in this domain.
    pub(crate) fn check_bodies(&self, domain: Option<&Domain>) -> Result<(), WorldError> {
        if self.bodies.is_empty() {
            return Ok(());
        }
        let mut carried: HashMap<u32, u32> = self.id.iter().map(|&id| (id, 0)).collect();
        let mut ids: Vec<u32> = self.bodies.iter().map(|body| body.id).collect();
        ids.sort_unstable();
        let twice = ids.windows(2).find(|pair| pair[0] == pair[1]);
        if let Some(pair) = twice {
            return Err(WorldError::Body {
                id: pair[0],
                what: "id",
                value: f64::from(pair[0]),
                must: "its own",
            });
        }
        for body in &self.bodies {
            let wrong = |(what, value, must)| WorldError::Body {
                id: body.id,
                what,
                value,
                must,
            };
            body.flaw().map_or(Ok(()), |flaw| Err(wrong(flaw)))?;
            let of_motion = body.motion.as_ref().and_then(WallMotion::flaw);
            let of_joint = || body.flaw_of_joint(domain).map(|flaw| flaw.to_string());
            if let Some(what) = of_motion.or_else(of_joint) {
                return Err(WorldError::BodyMotion { id: body.id, what });
            }
            for (id, _) in &body.carries {
                let times = carried
                    .get_mut(id)
                    .ok_or_else(|| wrong(("grain that it carries", f64::from(*id), "one that is there")))?;
                *times += 1;
                if *times > 1 {
                    return Err(wrong(("grain that it carries", f64::from(*id), "carried by no other body")));
                }
            }
        }
        Ok(())
    }
}
