//! Inlets and outlets of fluids: where they come into a world, and where they leave it.

use super::Vec3;
use super::fluid::Fluids;
use crate::refusal::Refusal;
use seixo_sweeps::fluid::WALL;

/// A way in for a fluid: a part of a plane through which it comes with one velocity.
///
/// Behind it stand layers of particles, a spacing apart and as many as the support has spacings. They move on with the velocity of the inlet
/// whatever pushes them; fluid sees them as a wall that moves, with the pressure of the fluid before it (\[Federico 2012\],
/// in which the pressure is given). A layer becomes fluid when its middle passes the plane, and another one appears behind
/// the last. While nothing comes, the layers stand still, and are a wall.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidInlet {
    /// Name as the scene spells it.
    pub name: String,
    /// What comes: index into [`Fluids::kinds`].
    pub kind: u32,
    /// Places in the plane, one for each particle of a layer \[m\].
    pub sites: Vec<Vec3>,
    /// Unit vector across the plane, to where the fluid goes.
    pub normal: Vec3,
    /// Its speed along that \[m/s\].
    pub speed: f64,
    /// Time at which it begins \[s\].
    pub from: f64,
    /// Time at which it ends \[s\]; infinite if it lasts as long as the run.
    pub to: f64,
    /// How many layers come at most.
    pub most_layers: u64,
    /// Whether it is open at the start; what is closed may be opened by [`crate::Change::Inlet`].
    pub is_open: bool,
}

/// A way out for fluids.
///
/// What goes through a part of a plane goes on across it until it is a support and a spacing farther, where it is taken away. Until then fluid sees
/// it as a wall that moves and has the pressure of the outlet; it begins with the velocity that it had, and follows that of the fluid before it, so
/// that there is no gradient \[Lastiwka 2009; Tafuni 2018\].
/// In a box, fluid is taken away at once.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidOutlet {
    /// Name as the scene spells it.
    pub name: String,
    /// Where it is.
    pub opening: Opening,
    /// Pressure behind it \[Pa\].
    pub pressure: f64,
    /// A point at which that is the pressure \[m\]: elsewhere it is hydrostatic, but not below zero. Without one it is the same everywhere.
    pub level: Option<Vec3>,
}

/// The form of an outlet.
#[derive(Clone, Debug, PartialEq)]
pub enum Opening {
    /// A part of a plane around a center \[m\].
    Disc {
        /// Center \[m\].
        center: Vec3,
        /// Unit vector across it, to where the fluid goes.
        normal: Vec3,
        /// Radius \[m\].
        radius: f64,
    },
    /// A part of a plane between two edges at right angles.
    Rectangle {
        /// Center \[m\].
        center: Vec3,
        /// Unit vector across it, to where the fluid goes.
        normal: Vec3,
        /// Unit vectors along the edges.
        along: [Vec3; 2],
        /// Half of the lengths of the edges \[m\].
        half: [f64; 2],
    },
    /// A part of space between two corners.
    Box {
        /// Lower corner \[m\].
        min: Vec3,
        /// Upper corner \[m\].
        max: Vec3,
    },
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl FluidInlet {
    /// Layers that have come when the first of them is this far from where it was at the beginning \[m\].
    pub fn layers_after(&self, way: f64, spacing: f64) -> u64 {
        ((way / spacing + 0.5) as u64).min(self.most_layers)
    }

    /// Particles that it brings until a time \[s\], if it is open from its beginning on.
    pub fn particles_until(&self, time: f64, spacing: f64) -> f64 {
        let way = self.speed * (time.min(self.to) - self.from).max(0.0);
        self.sites.len() as f64 * self.layers_after(way, spacing) as f64
    }

    /// How far a place is past the plane \[m\]; negative before it.
    pub(crate) fn past(&self, place: Vec3) -> f64 {
        let site = self.sites.first().copied().unwrap_or_default();
        dot([0, 1, 2].map(|axis| place[axis] - site[axis]), self.normal)
    }
}

impl Fluids {
    /// Layers of particles in an inlet.
    pub(crate) fn layers_in_inlets(&self) -> u64 {
        (self.support / self.spacing - 1e-9).ceil() as u64
    }
}

impl Opening {
    /// Center of the plane and unit vector across it, to where the fluid goes; none of a box.
    fn plane(&self) -> Option<[Vec3; 2]> {
        match self {
            Opening::Disc { center, normal, .. } | Opening::Rectangle { center, normal, .. } => Some([*center, *normal]),
            Opening::Box { .. } => None,
        }
    }

    /// Unit vector across the plane, to where the fluid goes; none of a box.
    pub fn normal(&self) -> Option<Vec3> {
        self.plane().map(|[_, normal]| normal)
    }

    /// Whether what came this way to a place \[m\], straight, came out of the opening of a plane.
    pub(crate) fn was_passed(&self, place: Vec3, way: Vec3) -> bool {
        self.plane().is_some_and(|[center, normal]| {
            let past = dot([0, 1, 2].map(|axis| place[axis] - center[axis]), normal);
            let across = dot(way, normal);
            let share = past / across;
            let crossing = [0, 1, 2].map(|axis| place[axis] - share * way[axis]);
            past > 0.0 && past <= across && self.past(crossing).is_some()
        })
    }

    /// How far a place is past the plane, of those that are before or behind the opening \[m\]; of a box, zero for what is inside.
    pub fn past(&self, place: Vec3) -> Option<f64> {
        let from = |center: &Vec3| [0, 1, 2].map(|axis| place[axis] - center[axis]);
        match self {
            Opening::Disc { center, normal, radius } => {
                let apart = from(center);
                let past = dot(apart, *normal);
                (dot(apart, apart) - past * past <= radius * radius).then_some(past)
            }
            Opening::Rectangle {
                center,
                normal,
                along,
                half,
            } => {
                let apart = from(center);
                let is_within = (0..2).all(|edge| dot(apart, along[edge]).abs() <= half[edge]);
                is_within.then(|| dot(apart, *normal))
            }
            Opening::Box { min, max } => (0..3).all(|axis| (min[axis]..=max[axis]).contains(&place[axis])).then_some(0.0),
        }
    }
}

/// Refuses inlets and outlets that cannot be.
pub(super) fn check_passages(fluids: &Fluids) -> Result<(), Refusal> {
    let refuse = |what: String| Err(Refusal::Fluid(what));
    let is_unit = |v: Vec3| (dot(v, v) - 1.0).abs() < 1e-9;
    for inlet in &fluids.inlets {
        let FluidInlet { name, kind, speed, .. } = inlet;
        let Some(fluid) = fluids.kinds.get(*kind as usize) else {
            return refuse(format!("inlet {name:?} brings fluid number {kind}, which there is not"));
        };
        let most = 0.1 * fluid.sound_speed;
        if !(speed.is_finite() && *speed > 0.0 && *speed <= most * (1.0 + 1e-9)) {
            return refuse(format!(
                "inlet {name:?} has a speed of {speed} m/s; it must be above zero, and at most {most} m/s, a tenth of the speed of sound"
            ));
        }
        if inlet.sites.is_empty() || !inlet.sites.iter().flatten().all(|x| x.is_finite()) || !is_unit(inlet.normal) {
            return refuse(format!("inlet {name:?} has no places for particles, or no direction"));
        }
        if inlet.from.is_nan() || inlet.from < 0.0 || inlet.to.is_nan() || inlet.to <= inlet.from {
            return refuse(format!(
                "inlet {name:?} would begin at {} s and end at {} s; it must end after it begins",
                inlet.from, inlet.to
            ));
        }
    }
    let places: u64 = fluids.inlets.iter().map(|inlet| inlet.sites.len() as u64).sum();
    let first = fluids.particles.id.iter().max().map_or(0, |id| u64::from(*id) + 1);
    let needed = places.saturating_mul(fluids.layers_in_inlets());
    if first.saturating_add(needed) > u64::from(WALL) {
        return refuse(format!(
            "the first layers of all inlets need {needed} ids from {first} on; ids must be below 2^31, as those above are of walls: give the \
             particles of fluids smaller ids, or use a larger spacing"
        ));
    }
    for outlet in &fluids.outlets {
        let is_directed = outlet.opening.normal().is_none_or(is_unit);
        if !(is_directed && outlet.pressure.is_finite() && outlet.pressure >= 0.0) {
            return refuse(format!(
                "outlet {:?} has no direction, or a pressure of {} Pa, which must be zero or more",
                outlet.name, outlet.pressure
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_tell_what_is_before_them_and_how_far() {
        let disc = Opening::Disc {
            center: [1.0, 0.0, 0.0],
            normal: [1.0, 0.0, 0.0],
            radius: 0.5,
        };
        assert_eq!(disc.past([1.25, 0.3, 0.3]), Some(0.25));
        assert_eq!(disc.past([0.5, 0.0, -0.4]), Some(-0.5));
        assert_eq!(disc.past([1.25, 0.4, 0.4]), None);
        let slot = Opening::Rectangle {
            center: [0.0; 3],
            normal: [0.0, 0.0, -1.0],
            along: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            half: [2.0, 0.1],
        };
        assert_eq!(slot.past([-1.5, 0.05, -3.0]), Some(3.0));
        assert_eq!(slot.past([-1.5, 0.15, -3.0]), None);
        let tub = Opening::Box {
            min: [0.0; 3],
            max: [1.0; 3],
        };
        assert_eq!((tub.past([0.5; 3]), tub.past([0.5, 0.5, 1.5])), (Some(0.0), None));
    }

    #[test]
    fn what_came_out_of_an_opening_is_known_wherever_it_is() {
        let slot = Opening::Rectangle {
            center: [0.0, 0.0, 1.0],
            normal: [0.0, 0.0, -1.0],
            along: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            half: [2.0, 0.1],
        };
        // Downward by 2 and sideways by 0.4: through the plane at y = 0.05, far beyond it, and at y = 0.15.
        let way = [0.0, 0.4, -2.0];
        assert!(slot.was_passed([0.0, 0.25, 0.0], way) && slot.was_passed([1.9, 0.4, -0.95], way));
        assert!(!slot.was_passed([0.0, 0.35, 0.0], way), "beside it");
        assert!(!slot.was_passed([0.0, 0.25, 1.1], way), "not there yet");
        assert!(!slot.was_passed([0.0, 0.05, -1.5], way), "behind it for long");
        assert!(!slot.was_passed([0.0, 0.05, 0.5], [0.0, 0.0, 2.0]) && !slot.was_passed([0.0, 0.05, 0.5], [0.0; 3]));
    }

    #[test]
    fn a_layer_has_come_when_its_middle_is_past_the_plane() {
        let mut inlet = FluidInlet {
            name: "tap".to_owned(),
            kind: 0,
            sites: vec![[0.0; 3]; 7],
            normal: [0.0, 0.0, 1.0],
            speed: 2.0,
            from: 1.0,
            to: f64::INFINITY,
            most_layers: u64::MAX,
            is_open: true,
        };
        // Layers 0.1 m thick: the first is in after 0.05 m, or 0.025 s, the second after 0.15 m.
        assert_eq!(
            [0.0, 0.049, 0.051, 0.149, 0.151].map(|way| inlet.layers_after(way, 0.1)),
            [0, 0, 1, 1, 2]
        );
        assert_eq!([0.5, 1.0, 1.076].map(|time| inlet.particles_until(time, 0.1)), [0.0, 0.0, 14.0]);
        (inlet.to, inlet.most_layers) = (2.0, 15);
        assert_eq!(inlet.particles_until(9.0, 0.1), 105.0);
        assert_eq!(inlet.past([5.0, 5.0, -0.25]), -0.25);
    }
}
