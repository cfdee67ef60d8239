//! Which grains can be fixed, released or loaded, and the body that fixed grains form.

use crate::bodies::Bodies;
use crate::events::SurroundingsChange;
use crate::fields::Fields;
use crate::scalars::GrainScalar;
use crate::world::{Load, SurfaceMotion, TimeFunction, VectorOfTime, WallMotion};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::LOAD;
use seixo_sweeps::gear::{ORIENTATION_DERIVATIVES, POSITION_DERIVATIVES};
use seixo_sweeps::layout::{RECORD, load};

impl Bodies {
    /// Makes a body of these free grains, with the axes of space. Products of inertia do not matter, as torques do not rotate the body.
    pub(crate) fn gather(&mut self, grains: &[usize], lowest_id: u32, fields: &mut Fields) {
        let of_grain = |i: usize| {
            let place = load::<f64>(&fields.position, i * RECORD);
            (place, fields.position[i * RECORD + 3], fields.velocity[i * RECORD + 3])
        };
        // The share of a grain in the mass that is shown: by mass among polyhedral grains, and by volume among spheres.
        let has_shapes = grains.iter().any(|&i| fields.shape.get(i).is_some_and(|&shape| shape > 0));
        let weigh = |radius: f64, own: f64| if has_shapes { own } else { radius.powi(3) };
        let (mut mass, mut weights, mut weighted) = (0.0, 0.0, Vector3::<f64>::zero());
        for &i in grains {
            let (place, radius, own) = of_grain(i);
            mass += own;
            weights += weigh(radius, own);
            weighted = weighted.plus(&place.times(own));
        }
        let center = weighted.times(1.0 / mass);
        let mut moments = [0.0; 3];
        for &i in grains {
            let (place, radius, own) = of_grain(i);
            let arm = place.minus(&center);
            let (x, y, z, of_sphere) = (arm.x * arm.x, arm.y * arm.y, arm.z * arm.z, 0.4 * radius * radius);
            for (moment, across) in moments.iter_mut().zip([y + z, z + x, x + y]) {
                *moment += own * (across + of_sphere);
            }
            self.offset.extend([arm.x, arm.y, arm.z, weigh(radius, own) / weights]);
        }
        if !fields.orientation.is_empty() {
            // Members of existing bodies are aligned with their bodies, unless they have an orientation of their own.
            if self.own_orientation.is_empty() {
                self.own_orientation.extend(self.body_of.iter().flat_map(|_| [1.0, 0.0, 0.0, 0.0]));
            }
            for &i in grains {
                self.own_orientation.extend_from_slice(&fields.orientation[i * RECORD..][..RECORD]);
            }
        }
        let b = self.id.len() as u32;
        for &i in grains {
            fields.member[i] = self.body_of.len() as u32;
            self.body_of.push(b);
            self.place.push(i as u32);
        }
        self.row.push(self.body_of.len() as u32);
        let highest = self.id.iter().max().copied();
        self.id.push(highest.map_or(lowest_id, |highest| lowest_id.max(highest + 1)));
        self.center.extend([center.x, center.y, center.z, mass]);
        self.moments.extend([moments[0], moments[1], moments[2], 0.0]);
        self.orientation.extend([1.0, 0.0, 0.0, 0.0]);
        for column in [&mut self.half_velocity, &mut self.momentum, &mut self.velocity, &mut self.spin] {
            column.extend([0.0; RECORD]);
        }
        if !self.load.is_empty() {
            self.load.extend([0.0; LOAD]);
        }
        if !self.position_derivatives.is_empty() {
            self.position_derivatives.extend([0.0; POSITION_DERIVATIVES]);
            self.orientation_derivatives.extend([0.0; ORIENTATION_DERIVATIVES]);
        }
    }
}

/// Conditions that decide whether the grains of a group can be fixed, released, loaded or disabled, in a simulation or in a planned one.
pub(crate) struct ConstraintContext {
    /// A scalar that grains carry, and that spreads through contacts.
    pub scalar: Option<GrainScalar>,
    /// Whether periodic sides are sheared.
    pub slides: bool,
    /// Whether rigid bodies without prescribed motion carry some of them.
    pub are_carried: bool,
    /// Whether some of these bodies interact with fluids, with or without prescribed motion.
    pub couple_to_fluid: bool,
    /// Whether the world has polyhedral grains, in this group or others.
    pub has_polyhedra: bool,
}

impl ConstraintContext {
    /// Reason for which grains cannot be fixed, released or loaded like this.
    pub fn flaw_of(&self, change: &SurroundingsChange) -> Option<String> {
        match change {
            SurroundingsChange::Hold { motion, .. } => self.flaw_of_holding(motion),
            SurroundingsChange::Free { .. } if self.couple_to_fluid => Some(
                "grains that displace a fluid cannot be set free, as each would go its own way and the fluid into it; let them move from the start, or hold them for good"
                    .to_owned(),
            ),
            SurroundingsChange::Load(Load { force, torque, .. }) if !has_finite_constants([force, torque]) => {
                Some("a number of their load is not finite".to_owned())
            }
            _ => None,
        }
    }

    /// Reason for which grains cannot be disabled.
    pub fn flaw_of_disabling(&self) -> Option<String> {
        let reported = |what: &str| Some(what.to_owned());
        if self.couple_to_fluid {
            return reported("grains that displace a fluid cannot be disabled, as the fluid would have to fill their place; remove them");
        }
        if self.has_polyhedra {
            return reported("no group can be disabled in a world with polyhedral grains yet; remove the grains");
        }
        if self.are_carried {
            return reported("clumps, and bodies on joints, cannot be disabled; remove them, or use spheres");
        }
        None
    }

    fn flaw_of_holding(&self, motion: &WallMotion) -> Option<String> {
        let reported = |what: &str| Some(what.to_owned());
        if let Some(scalar) = self.scalar {
            let amount = scalar.amount();
            return Some(format!(
                "grains with {amount} cannot be held; leave {} out, or use a wall",
                scalar.name()
            ));
        }
        if self.slides {
            return reported("grains cannot be held between sides that move; let the sides stand, or use a wall");
        }
        if motion.servo.is_some() || motion.surface != SurfaceMotion::default() {
            return reported("servos and surfaces that run are for walls");
        }
        if let Some(flaw) = motion.flaw() {
            return Some(flaw);
        }
        if self.are_carried && self.couple_to_fluid {
            return reported("grains coupled to fluids cannot be fixed while they move; fix them from the start, or use a wall");
        }
        if self.are_carried {
            return reported(
                "clumps, and bodies on joints, cannot be held while they move; hold them from the start, or use spheres or a wall",
            );
        }
        None
    }
}

/// Whether the components of these vectors that do not depend on time are finite.
fn has_finite_constants(vectors: [&VectorOfTime; 2]) -> bool {
    let mut components = vectors.into_iter().flat_map(|vector| &vector.0);
    components.all(|component| !matches!(component, TimeFunction::Constant(value) if !value.is_finite()))
}
