//! Probes of fluids.

use super::outputs::Sample;
use seixo_analysis::{Plane, RigidMotion};
use seixo_engine::PeriodicCell;
use seixo_engine::state::FluidSnapshot;
use seixo_engine::world::{Fluid, World};
use seixo_scene::FluidProbe;

/// Search steps per spacing for the free surface: finer than the layers of particles, so that the search skips none.
const STEPS_A_SPACING: f64 = 4.0;
/// Number of bisections of the last step: to 4e-6 spacings, below the resolution of the smoothing.
const HALVINGS: u32 = 16;
/// Filled fraction at a free surface.
const AT_SURFACE: f64 = 0.5;
/// Half width of the slab for the flow rate through a plane \[spacings\].
const HALF_WIDTH: f64 = 2.0;

/// Constants of the fluids of a world that probes need; empty in a world without fluids.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FluidConstants {
    spacing: f64,
    support: f64,
    /// Axis normal to the plane of a two-dimensional flow.
    across: Option<usize>,
    /// Periodic cell of the fluids; its sides do not slide.
    cell: PeriodicCell,
    /// Particle mass of each fluid \[kg\].
    mass: Vec<f64>,
    /// Rest density of each fluid \[kg/m³\].
    density: Vec<f64>,
    /// Speed of sound of each fluid \[m/s\].
    sound_speed: Vec<f64>,
}

impl FluidConstants {
    /// Returns the constants of a world.
    pub fn of(world: &World) -> FluidConstants {
        let Some(fluids) = &world.fluids else {
            return FluidConstants::default();
        };
        let each = |of: fn(&Fluid) -> f64| -> Vec<f64> { fluids.kinds.iter().map(of).collect() };
        let density = each(|fluid| fluid.density);
        FluidConstants {
            spacing: fluids.spacing,
            support: fluids.support,
            across: fluids.across,
            cell: PeriodicCell::of(world.domain.as_ref(), 0.0),
            mass: density.iter().map(|density| density * fluids.volume()).collect(),
            density,
            sound_speed: each(|fluid| fluid.sound_speed),
        }
    }

    /// Returns the particle mass of each fluid \[kg\].
    pub fn masses(&self) -> &[f64] {
        &self.mass
    }

    /// Returns the periodic cell of the fluids.
    pub fn cell(&self) -> &PeriodicCell {
        &self.cell
    }

    /// Returns a line of a probe, without the time, with this motion of its places.
    pub fn row(&self, what: &FluidProbe, sample: &Sample, carried: &RigidMotion) -> Vec<f64> {
        let seen = |at: &[[f64; 3]]| {
            let points: Vec<_> = at
                .iter()
                .map(|&point| self.cell.inside(self.in_plane(point, sample.fluid())))
                .collect();
            sample.sample_fluid(&points)
        };
        let seen_from = |at: &[[f64; 3]]| {
            let places: Vec<[f64; 3]> = at.iter().map(|&point| carried.place(point)).collect();
            seen(&places)
        };
        match what {
            FluidProbe::Totals => self.totals(sample.fluid()).to_vec(),
            FluidProbe::Pressure { at } => seen_from(at).iter().map(|there| there.pressure).collect(),
            FluidProbe::Velocity { at } => seen_from(at).iter().flat_map(|there| there.velocity).collect(),
            FluidProbe::SurfaceHeight { at } => {
                let share = |place: [f64; 3]| seen(&[place]).iter().map(|there| there.share).sum::<f64>();
                let height = |&[x, y]: &[f64; 2]| {
                    let [foot, up] = [carried.place([x, y, 0.0]), carried.turned([0.0, 0.0, 1.0])];
                    self.surface(foot, up, sample.fluid(), |z| share([0, 1, 2].map(|axis| foot[axis] + z * up[axis])))
                };
                at.iter().map(height).collect()
            }
            FluidProbe::Front { along, fluid } => vec![front(sample.fluid(), *along, *fluid)],
            FluidProbe::FlowRate { point, normal, fluid } => vec![self.flow_rate(sample.fluid(), (*point, *normal), *fluid)],
        }
    }

    /// Moves a point into the plane of a two-dimensional flow.
    fn in_plane(&self, mut point: [f64; 3], fluid: &FluidSnapshot) -> [f64; 3] {
        if let (Some(axis), Some(place)) = (self.across, fluid.position.first()) {
            point[axis] = place[axis];
        }
        point
    }

    /// Returns the columns of [`FluidProbe::Totals`]; extremes are NaN without particles.
    fn totals(&self, fluid: &FluidSnapshot) -> [f64; 9] {
        let (mut mass, mut kinetic, mut fastest, mut mach) = (0.0, 0.0, f64::NAN, f64::NAN);
        let (mut pressure, mut thinnest, mut densest) = (f64::NAN, f64::NAN, f64::NAN);
        for (i, &kind) in fluid.kind.iter().enumerate() {
            let kind = kind as usize;
            let square = dot(fluid.velocity[i], fluid.velocity[i]);
            let (speed, density) = (square.sqrt(), fluid.density[i] / self.density[kind]);
            mass += self.mass[kind];
            kinetic += 0.5 * self.mass[kind] * square;
            (fastest, mach) = (speed.max(fastest), (speed / self.sound_speed[kind]).max(mach));
            pressure = fluid.pressure[i].max(pressure);
            (thinnest, densest) = (density.min(thinnest), density.max(densest));
        }
        let mean = (2.0 * kinetic / mass).sqrt();
        let count = fluid.id.len() as f64;
        [count, mass, kinetic, mean, fastest, mach, pressure, thinnest, densest]
    }

    /// Returns the largest height above a point, along a unit vector, at which the filled fraction `share` is that of a surface; NaN if there is none.
    fn surface(&self, foot: [f64; 3], up: [f64; 3], fluid: &FluidSnapshot, share: impl Fn(f64) -> f64) -> f64 {
        let foot = self.in_plane(foot, fluid);
        let above = |place: &[f64; 3]| dot([0, 1, 2].map(|axis| place[axis] - foot[axis]), up);
        let is_near = |place: &&[f64; 3]| {
            let height = above(place);
            let apart = [0, 1, 2].map(|axis| place[axis] - foot[axis] - height * up[axis]);
            let [x, y, z] = self.cell.nearest(apart).of(apart);
            x.hypot(y).hypot(z) < self.support
        };
        let heights = fluid.position.iter().filter(is_near).map(above);
        let [low, high] = heights.fold([f64::NAN; 2], |[low, high], z| [z.min(low), z.max(high)]);
        if low.is_nan() {
            return f64::NAN;
        }
        let step = self.spacing / STEPS_A_SPACING;
        let steps = (high - low + 2.0 * self.support) / step;
        // The search starts above all particles and goes down.
        let found = (0..=steps as u64)
            .map(|k| high + self.support - step * k as f64)
            .find(|&z| share(z) >= AT_SURFACE);
        let Some(mut inside) = found else { return f64::NAN };
        let mut outside = inside + step;
        for _ in 0..HALVINGS {
            let middle = 0.5 * (inside + outside);
            if share(middle) >= AT_SURFACE {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    }

    /// Volume flow rate through a plane: Σ V v·n w(d). A particle at distance d has the weight w = (1 − |d|/2Δ)/2Δ within two spacings Δ on either
    /// side. The sum is the mean of v·n over the slab, times its area. Weights of successive particles at a distance of Δ add up to 1/Δ for any
    /// position of the plane, so the rate does not jump when particles pass. Periodic images of the plane count as well.
    fn flow_rate(&self, fluid: &FluidSnapshot, (point, normal): ([f64; 3], [f64; 3]), which: Option<u32>) -> f64 {
        let half = HALF_WIDTH * self.spacing;
        let plane = Plane::in_cell(point, normal, &self.cell);
        let of_particle = |i: usize| {
            let volume = self.mass[fluid.kind[i] as usize] / fluid.density[i];
            let mut flux = 0.0;
            for height in plane.near(plane.height(fluid.position[i]), half) {
                flux += volume * dot(fluid.velocity[i], normal) * (1.0 - height.abs() / half).max(0.0) / half;
            }
            flux
        };
        members(fluid, which).map(of_particle).sum()
    }
}

/// Returns the particles of a fluid, or of all fluids.
fn members(fluid: &FluidSnapshot, which: Option<u32>) -> impl Iterator<Item = usize> {
    (0..fluid.id.len()).filter(move |&i| which.is_none_or(|kind| fluid.kind[i] == kind))
}

/// Returns the largest coordinate along a unit vector of the particles of a fluid, or of all fluids; NaN without particles.
fn front(fluid: &FluidSnapshot, along: [f64; 3], which: Option<u32>) -> f64 {
    members(fluid, which)
        .map(|i| dot(fluid.position[i], along))
        .fold(f64::NAN, f64::max)
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_engine::world::{Domain, LeavingPolicy};

    const SPACING: f64 = 0.1;
    const UP: [f64; 3] = [0.0, 0.0, 1.0];

    fn known() -> FluidConstants {
        FluidConstants {
            spacing: SPACING,
            support: 0.3,
            across: None,
            cell: PeriodicCell::open(),
            mass: vec![1.0, 0.8],
            density: vec![1000.0, 800.0],
            sound_speed: vec![20.0, 40.0],
        }
    }

    /// A moving block of 8 × 2 × 3 particles on a lattice; two fluids alternate along x.
    fn block(velocity: [f64; 3]) -> FluidSnapshot {
        let sites = (0..48u32).map(|i| [i % 8, i / 8 % 2, i / 16]);
        let position: Vec<[f64; 3]> = sites.map(|site| site.map(|k| SPACING * (f64::from(k) + 0.5))).collect();
        let kind: Vec<u32> = (0..48).map(|i| i % 2).collect();
        FluidSnapshot {
            id: (0..48).collect(),
            velocity: vec![velocity; position.len()],
            density: kind.iter().map(|&kind| if kind == 0 { 1010.0 } else { 792.0 }).collect(),
            pressure: position.iter().map(|place| 100.0 * place[2]).collect(),
            kind,
            position,
        }
    }

    #[test]
    fn a_block_that_moves_carries_its_area_times_its_speed_through_any_plane() {
        let mut fluid = block([2.0, 0.0, 0.5]);
        // All particles are of the first fluid and at rest density: each has the volume of a cube of the spacing.
        fluid.kind.fill(0);
        fluid.density.fill(1000.0);
        for x in [0.3, 0.34, 0.4, 0.47] {
            let rate = known().flow_rate(&fluid, ([x, 9.0, 9.0], [1.0, 0.0, 0.0]), None);
            assert!((rate - 2.0 * 0.2 * 0.3).abs() < 1e-12, "{x} {rate}");
        }
        let back = known().flow_rate(&fluid, ([0.4, 0.0, 0.0], [-1.0, 0.0, 0.0]), Some(0));
        assert!((back + 0.12).abs() < 1e-12, "{back}");
        assert_eq!(known().flow_rate(&fluid, ([0.4, 0.0, 0.0], [-1.0, 0.0, 0.0]), Some(1)), 0.0);
        assert_eq!(known().flow_rate(&fluid, ([4.0, 0.0, 0.0], [1.0, 0.0, 0.0]), None), 0.0);
    }

    #[test]
    fn what_flows_through_a_periodic_side_flows_through_every_plane() {
        let mut fluid = block([2.0, 0.0, 0.5]);
        fluid.kind.fill(0);
        fluid.density.fill(1000.0);
        // The cell is as long as the block, so the block is infinite.
        let domain = Domain {
            periodic: [true, true, false],
            ..Domain::open([0.0; 3], [0.8, 0.2, 1.0], LeavingPolicy::Error)
        };
        let known = FluidConstants {
            cell: PeriodicCell::of(Some(&domain), 0.0),
            ..known()
        };
        for x in [0.0, 0.04, 0.4, 0.77, 0.8, -5.3] {
            let rate = known.flow_rate(&fluid, ([x, 9.0, 9.0], [1.0, 0.0, 0.0]), None);
            assert!((rate - 2.0 * 0.2 * 0.3).abs() < 1e-12, "{x} {rate}");
        }
        // A point near the particles across the periodic side.
        assert!((known.surface([-0.2, 0.35, 0.0], UP, &fluid, |z| 0.81 - z) - 0.31).abs() < 1e-6);
    }

    #[test]
    fn totals_count_weigh_and_find_extremes() {
        let mut fluid = block([0.0, 3.0, 4.0]);
        fluid.velocity[1] = [0.0, 0.0, 8.0];
        let [count, mass, kinetic, mean, fastest, mach, pressure, thinnest, densest] = known().totals(&fluid);
        assert!(count == 48.0 && (mass - 24.0 * 1.8).abs() < 1e-12);
        let expected = 0.5 * 25.0 * (mass - 0.8) + 0.5 * 64.0 * 0.8;
        assert!((kinetic - expected).abs() < 1e-11 && (mean - (2.0 * expected / mass).sqrt()).abs() < 1e-12);
        // The fastest particle is of the second fluid, whose speed of sound is twice as large.
        assert!(fastest == 8.0 && mach == 0.25);
        assert!((pressure - 25.0).abs() < 1e-12 && thinnest == 0.99 && densest == 1.01);
        let [count, mass, kinetic, rest @ ..] = known().totals(&FluidSnapshot::default());
        assert_eq!([count, mass, kinetic], [0.0; 3]);
        assert!(rest.iter().all(|number| number.is_nan()));
    }

    #[test]
    fn a_front_is_where_the_farthest_particle_of_its_fluid_is() {
        let fluid = block([0.0; 3]);
        assert!((front(&fluid, [1.0, 0.0, 0.0], None) - 0.75).abs() < 1e-15);
        assert!((front(&fluid, [1.0, 0.0, 0.0], Some(0)) - 0.65).abs() < 1e-15);
        assert!((front(&fluid, [-1.0, 0.0, 0.0], None) + 0.05).abs() < 1e-15);
        assert!(front(&fluid, [1.0, 0.0, 0.0], Some(2)).is_nan());
    }

    #[test]
    fn a_surface_is_the_highest_place_that_is_half_fluid() {
        let fluid = block([0.0; 3]);
        // A gap below the surface at 0.31 m: the highest surface counts.
        let share = |z: f64| if z < 0.2 { 0.1 } else { 0.5 + (0.31 - z) };
        let height = known().surface([0.4, 0.1, 0.0], UP, &fluid, share);
        assert!((height - 0.31).abs() < 1e-6, "{height}");
        assert!(
            known().surface([0.4, 0.1, 0.0], UP, &fluid, |_| 0.4).is_nan(),
            "spray is no surface"
        );
        assert!(known().surface([5.0, 0.1, 0.0], UP, &fluid, |_| 1.0).is_nan(), "nothing is near");
        // Along x, and counted from the foot.
        let side = known().surface([-0.2, 0.1, 0.15], [1.0, 0.0, 0.0], &fluid, |x| 0.5 + (1.01 - x));
        assert!((side - 1.01).abs() < 1e-6, "{side}");
        // In a plane flow the coordinate normal to the plane does not matter.
        let flat = FluidConstants {
            across: Some(1),
            ..known()
        };
        assert!((flat.surface([0.4, 77.0, 0.0], UP, &fluid, share) - 0.31).abs() < 1e-6);
        assert_eq!(flat.in_plane([1.0, 2.0, 3.0], &fluid), [1.0, fluid.position[0][1], 3.0]);
    }
}
