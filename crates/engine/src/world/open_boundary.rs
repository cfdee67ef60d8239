//! Inlets and outlets of fluids.

use super::Vec3;
use super::fluid::Fluids;
use crate::refusal::WorldError;
use seixo_sweeps::fluid::WALL;

/// An inlet of fluid: a part of a plane through which fluid enters with a uniform velocity.
///
/// Behind the plane are layers of particles, one spacing apart and as many as the support has spacings. They move with the velocity of the inlet,
/// independent of forces. The fluid interacts with them as with a moving wall that has the pressure of the fluid in front of it
/// (\[Federico 2012\], in which the pressure is given). A layer becomes fluid when its center passes the plane, and a new layer appears behind
/// the last one. While the inlet is inactive, the layers are at rest and act as a wall.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidInlet {
    /// Name in the scene.
    pub name: String,
    /// Fluid that enters: index into [`Fluids::kinds`].
    pub kind: u32,
    /// Positions in the plane, one for each particle of a layer \[m\].
    pub sites: Vec<Vec3>,
    /// Unit normal of the plane, in the direction of the flow.
    pub normal: Vec3,
    /// Speed along the normal \[m/s\].
    pub speed: f64,
    /// Time at which it starts \[s\].
    pub from: f64,
    /// Time at which it ends \[s\]; infinite if it lasts as long as the run.
    pub to: f64,
    /// Largest number of layers that enter.
    pub max_layers: u64,
    /// Whether it is open at the start; [`crate::SurroundingsChange::Inlet`] opens a closed one.
    pub is_open: bool,
}

/// An outlet of fluids.
///
/// Particles that pass a part of a plane continue across it until they are a support and a spacing behind it, where they are removed. Until then the
/// fluid interacts with them as with a moving wall at the pressure of the outlet. Each starts with its own velocity, which then follows that of the
/// fluid in front of it, so that there is no gradient \[Lastiwka 2009; Tafuni 2018\]. In a box, fluid is removed at once.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidOutlet {
    /// Name in the scene.
    pub name: String,
    /// Shape and position.
    pub opening: OutletForm,
    /// Pressure behind it \[Pa\].
    pub pressure: f64,
    /// A point at which this pressure applies \[m\]: elsewhere it is hydrostatic, but not below zero. Without a point it is uniform.
    pub level: Option<Vec3>,
}

/// Shape of an outlet.
#[derive(Clone, Debug, PartialEq)]
pub enum OutletForm {
    /// A disk in a plane.
    Disc {
        /// Center \[m\].
        center: Vec3,
        /// Unit normal, in the direction of the flow.
        normal: Vec3,
        /// Radius \[m\].
        radius: f64,
    },
    /// A rectangle in a plane.
    Rectangle {
        /// Center \[m\].
        center: Vec3,
        /// Unit normal, in the direction of the flow.
        normal: Vec3,
        /// Unit vectors along the edges.
        along: [Vec3; 2],
        /// Half lengths of the edges \[m\].
        half: [f64; 2],
    },
    /// An axis-aligned box.
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
    /// Number of layers that have entered when the first one has moved by this distance from its initial position \[m\].
    pub fn layers_after(&self, way: f64, spacing: f64) -> u64 {
        ((way / spacing + 0.5) as u64).min(self.max_layers)
    }

    /// Number of particles that it brings until a time \[s\], if it is open from the start.
    pub fn particles_until(&self, time: f64, spacing: f64) -> f64 {
        let way = self.speed * (time.min(self.to) - self.from).max(0.0);
        self.sites.len() as f64 * self.layers_after(way, spacing) as f64
    }

    /// Distance of a position behind the plane \[m\]; negative in front of it.
    pub(crate) fn past(&self, place: Vec3) -> f64 {
        let site = self.sites.first().copied().unwrap_or_default();
        dot([0, 1, 2].map(|axis| place[axis] - site[axis]), self.normal)
    }
}

impl Fluids {
    /// Number of particle layers in an inlet.
    pub(crate) fn layers_in_inlets(&self) -> u64 {
        (self.support / self.spacing - 1e-9).ceil() as u64
    }
}

impl OutletForm {
    /// Center and unit normal of the plane, in the direction of the flow; `None` for a box.
    fn plane(&self) -> Option<[Vec3; 2]> {
        match self {
            OutletForm::Disc { center, normal, .. } | OutletForm::Rectangle { center, normal, .. } => Some([*center, *normal]),
            OutletForm::Box { .. } => None,
        }
    }

    /// Unit normal of the plane, in the direction of the flow; `None` for a box.
    pub fn normal(&self) -> Option<Vec3> {
        self.plane().map(|[_, normal]| normal)
    }

    /// Whether the straight displacement `way` to a position \[m\] passed through the opening in the plane.
    pub(crate) fn was_passed(&self, place: Vec3, way: Vec3) -> bool {
        self.plane().is_some_and(|[center, normal]| {
            let past = dot([0, 1, 2].map(|axis| place[axis] - center[axis]), normal);
            let across = dot(way, normal);
            let share = past / across;
            let crossing = [0, 1, 2].map(|axis| place[axis] - share * way[axis]);
            past > 0.0 && past <= across && self.past(crossing).is_some()
        })
    }

    /// Distance behind the plane of a position in front of or behind the opening \[m\]; for a box, zero inside it.
    pub fn past(&self, place: Vec3) -> Option<f64> {
        let from = |center: &Vec3| [0, 1, 2].map(|axis| place[axis] - center[axis]);
        match self {
            OutletForm::Disc { center, normal, radius } => {
                let apart = from(center);
                let past = dot(apart, *normal);
                (dot(apart, apart) - past * past <= radius * radius).then_some(past)
            }
            OutletForm::Rectangle {
                center,
                normal,
                along,
                half,
            } => {
                let apart = from(center);
                let is_within = (0..2).all(|edge| dot(apart, along[edge]).abs() <= half[edge]);
                is_within.then(|| dot(apart, *normal))
            }
            OutletForm::Box { min, max } => (0..3).all(|axis| (min[axis]..=max[axis]).contains(&place[axis])).then_some(0.0),
        }
    }
}

/// Rejects inlets and outlets that are not possible.
pub(super) fn check_open_boundaries(fluids: &Fluids) -> Result<(), WorldError> {
    let refuse = |what: String| Err(WorldError::Fluid(what));
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
    fn openings_report_what_is_before_them_and_how_far() {
        let disc = OutletForm::Disc {
            center: [1.0, 0.0, 0.0],
            normal: [1.0, 0.0, 0.0],
            radius: 0.5,
        };
        assert_eq!(disc.past([1.25, 0.3, 0.3]), Some(0.25));
        assert_eq!(disc.past([0.5, 0.0, -0.4]), Some(-0.5));
        assert_eq!(disc.past([1.25, 0.4, 0.4]), None);
        let slot = OutletForm::Rectangle {
            center: [0.0; 3],
            normal: [0.0, 0.0, -1.0],
            along: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            half: [2.0, 0.1],
        };
        assert_eq!(slot.past([-1.5, 0.05, -3.0]), Some(3.0));
        assert_eq!(slot.past([-1.5, 0.15, -3.0]), None);
        let tub = OutletForm::Box {
            min: [0.0; 3],
            max: [1.0; 3],
        };
        assert_eq!((tub.past([0.5; 3]), tub.past([0.5, 0.5, 1.5])), (Some(0.0), None));
    }

    #[test]
    fn what_came_out_of_an_opening_is_known_wherever_it_is() {
        let slot = OutletForm::Rectangle {
            center: [0.0, 0.0, 1.0],
            normal: [0.0, 0.0, -1.0],
            along: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            half: [2.0, 0.1],
        };
        // Down by 2 and sideways by 0.4: through the plane at y = 0.05, far behind it, and at y = 0.15.
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
            max_layers: u64::MAX,
            is_open: true,
        };
        // Layers 0.1 m thick: the first has entered after 0.05 m, or 0.025 s, the second after 0.15 m.
        assert_eq!(
            [0.0, 0.049, 0.051, 0.149, 0.151].map(|way| inlet.layers_after(way, 0.1)),
            [0, 0, 1, 1, 2]
        );
        assert_eq!([0.5, 1.0, 1.076].map(|time| inlet.particles_until(time, 0.1)), [0.0, 0.0, 14.0]);
        (inlet.to, inlet.max_layers) = (2.0, 15);
        assert_eq!(inlet.particles_until(9.0, 0.1), 105.0);
        assert_eq!(inlet.past([5.0, 5.0, -0.25]), -0.25);
    }
}
