//! Sweep over fluids for processors with vector units. The partners of a particle are gathered into lanes, and the laws run on all lanes at once. A
//! pair inside a part is computed once, a pair across parts by both. Sums go over lanes, then over entries, always in the same order. If all pairs
//! are in both rows, sums go over entries only.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::fluid::{Smoothing, Space};
//! use seixo_sweeps::fluid_lanes::{FlowRows, FlowView, INVISCID, flow_of_part};
//! use seixo_sweeps::periodic::PeriodicBoundaries;
//! // Two particles at rest with a pressure of 7 Pa repel each other with equal forces.
//! let (position, flow) = (&[0.0, 0.0, 0.0, 0.1, 0.5, 0.0, 0.0, 0.1], &[0.0, 0.0, 0.0, 7.0, 0.0, 0.0, 0.0, 7.0]);
//! let (gravity, smoother, sides) = (Vector3::zero(), Smoothing::Wendland.smoother(1.0, Space::Volume), &PeriodicBoundaries::open());
//! let view = FlowView { position, flow, motion: &[], kind: &[0, 0], media: &[0.0; 11], gravity, smoother, sides, is_periodic: false };
//! let rows = FlowRows { first: 0, end: 2, row: &[0, 1, 1], neighbors: &[1], is_once: true };
//! let mut rate = [0.0; 8];
//! flow_of_part::<false, false, false, INVISCID, false>(&view, &rows, &mut rate);
//! assert!(rate[0] < 0.0 && rate[4] == -rate[0]);
//! ```

use crate::fluid::{MEDIUM, WALL, medium_at, parcel};
use crate::layout::{RECORD, load};
use crate::periodic::{PERIODIC, PeriodicBoundaries, nearest_image};
use crate::simd::{InLanes, LANES, Lane, Numbers, Records, SimdLevel, on_best_simd};
use seixo_laws::Vector3;
use seixo_laws::fluid::{FluidParticle, Medium, Separation, Smoother, Smoothing, ViscousForce, between_media, exchange};

/// Groups of lanes that take turns. A processor computes one while it waits for the roots, products and sums of another.
const GROUPS: usize = 8;

/// Artificial viscosity only.
pub const INVISCID: u32 = 0;
/// Viscosity with central forces.
pub const CENTRAL: u32 = 1;
/// Viscosity of Morris.
pub const MORRIS: u32 = 2;

/// The viscous force for which a sweep was compiled.
#[inline(always)]
fn viscous_force(number: u32) -> Option<ViscousForce> {
    match number {
        CENTRAL => Some(ViscousForce::Central),
        MORRIS => Some(ViscousForce::Morris),
        _ => None,
    }
}

/// Records of a partner: position, flow, and motion if walls move.
const IN: usize = 3;

/// Fields of all particles that the sweep reads.
pub struct FlowView<'a> {
    /// Positions and volumes.
    pub position: &'a [f64],
    /// Viscous velocities, and pressures.
    pub flow: &'a [f64],
    /// Surface velocities; empty if walls are at rest and the fluid moves with its viscous velocity.
    pub motion: &'a [f64],
    /// Kinds: numbers of fluids or walls.
    pub kind: &'a [u32],
    /// Rows of coefficients, one per fluid, see [`MEDIUM`].
    pub media: &'a [f64],
    /// Gravitational acceleration \[m/s²\].
    pub gravity: Vector3<f64>,
    /// Scale factors of the smoothing function.
    pub smoother: Smoother<f64>,
    /// Periodic sides.
    pub sides: &'a PeriodicBoundaries<f64, f64>,
    /// Whether there are any.
    pub is_periodic: bool,
}

/// The rows of a part.
pub struct FlowRows<'a> {
    /// First particle of the part.
    pub first: usize,
    /// Particle after the last of the part.
    pub end: usize,
    /// First entry of every row, and the end of the last row.
    pub row: &'a [u32],
    /// Partners of all rows.
    pub neighbors: &'a [u32],
    /// Whether a pair inside the part is in one row only. Otherwise it is in both rows, as pairs across the border of the part are.
    pub is_once: bool,
}

/// Powers \[W\], summed over pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FluidPowerSums {
    /// Power taken from the motion by viscosity \[W\].
    pub viscous: f64,
    /// Power taken from the energy of pressure by density diffusion \[W\]. For incompressible fluids: power taken from the motion by pressures.
    pub diffusive: f64,
    /// Power supplied by walls \[W\].
    pub wall: f64,
}

impl FluidPowerSums {
    /// Sum of two results.
    pub fn plus(self, other: &FluidPowerSums) -> FluidPowerSums {
        FluidPowerSums {
            viscous: self.viscous + other.viscous,
            diffusive: self.diffusive + other.diffusive,
            wall: self.wall + other.wall,
        }
    }

    /// The result times a factor.
    pub fn times(self, factor: f64) -> FluidPowerSums {
        FluidPowerSums {
            viscous: factor * self.viscous,
            diffusive: factor * self.diffusive,
            wall: factor * self.wall,
        }
    }
}

/// State of the sweep over a part. With `SPLINE`, the smoothing function is the cubic spline. With `MOVING`, walls move. With `MIXED`, there are
/// several fluids. With `VISCOUS`, a fluid has viscosity, see [`viscous_force()`]. With `COHESIVE`, the only fluid has surface tension.
struct Part<'a, const SPLINE: bool, const MOVING: bool, const MIXED: bool, const VISCOUS: u32, const COHESIVE: bool> {
    view: &'a FlowView<'a>,
    rows: &'a FlowRows<'a>,
    rate: &'a mut [[f64; RECORD]],
    power_sums: FluidPowerSums,
}

/// The particle that owns the row.
struct Own {
    place: Vector3<f64>,
    parcel: FluidParticle<f64>,
    /// 1 for fluid, 0 for a wall.
    in_fluid: f64,
}

/// What groups of lanes come with, and what acts. No vector crosses the end of a cache line.
#[repr(C, align(64))]
struct Groups {
    /// Records of the partners.
    numbers: [[Numbers; IN]; GROUPS],
    /// Squared distances, and 1/(softened distance).
    distances: [[Lane; 2]; GROUPS],
    /// Negative forces on the partners, and their density rates.
    going: [Numbers; GROUPS],
    partners: [[u32; LANES]; GROUPS],
}

impl Groups {
    fn new() -> Groups {
        Groups {
            numbers: [[[[0.0; LANES]; RECORD]; IN]; GROUPS],
            distances: [[[0.0; LANES]; 2]; GROUPS],
            going: [[[0.0; LANES]; RECORD]; GROUPS],
            partners: [[0; LANES]; GROUPS],
        }
    }
}

/// Sums over a row.
struct Sums {
    /// Force and density rate of the particle.
    rate: Numbers,
    /// Powers of viscosity, of diffusion and of surface tension.
    powers: [Lane; 3],
}

#[inline(always)]
fn vector(numbers: &Numbers, lane: usize) -> Vector3<f64> {
    Vector3 {
        x: numbers[0][lane],
        y: numbers[1][lane],
        z: numbers[2][lane],
    }
}

/// 1 for a fluid particle, 0 for a wall particle, by the sign of its volume.
#[inline(always)]
fn is_in_fluid(volume: f64) -> f64 {
    if volume > 0.0 { 1.0 } else { 0.0 }
}

impl<const SPLINE: bool, const MOVING: bool, const MIXED: bool, const VISCOUS: u32, const COHESIVE: bool>
    Part<'_, SPLINE, MOVING, MIXED, VISCOUS, COHESIVE>
{
    #[inline(always)]
    fn own(&self, i: usize) -> Own {
        let view = self.view;
        let at = i * RECORD;
        let in_fluid = is_in_fluid(view.position[at + 3]);
        let drag: Vector3<f64> = load(view.flow, at);
        let (velocity, runs) = if MOVING {
            (load(view.motion, at), view.motion[at + 3])
        } else {
            (drag.times(in_fluid), 0.0)
        };
        Own {
            place: load(view.position, at),
            parcel: parcel(view.position[at + 3], &velocity, runs, &drag, view.flow[at + 3]),
            in_fluid,
        }
    }

    /// The medium between particles i and j; arbitrary for two wall particles.
    fn medium_between(&self, i: usize, j: usize) -> Medium<f64> {
        let view = self.view;
        let of = |kind: u32| medium_at::<f64>(view.media, kind as usize);
        match [i, j].map(|end| Some(view.kind[end]).filter(|kind| kind & WALL == 0)) {
            [Some(a), Some(b)] if a != b => between_media(&of(a), &of(b)),
            [Some(kind), _] | [None, Some(kind)] => of(kind),
            [None, None] => of(0),
        }
    }

    /// Records of some partners, with the lanes innermost.
    #[inline(always)]
    fn fetch<U: SimdLevel>(&self, unit: U, own: &Own, partners: &[u32; LANES]) -> [Numbers; IN] {
        let view = self.view;
        let (position, flow, motion) = (view.position.as_chunks().0, view.flow.as_chunks().0, view.motion.as_chunks().0);
        let mut places = unit.to_lanes(partners.map(|j| &position[j as usize]));
        if view.is_periodic {
            for lane in 0..LANES {
                let apart = own.place.minus(&vector(&places, lane));
                let image = own.place.minus(&nearest_image::<f64, f64>(&apart, view.sides, PERIODIC).apart);
                (places[0][lane], places[1][lane], places[2][lane]) = (image.x, image.y, image.z);
            }
        }
        let flows = unit.to_lanes(partners.map(|j| &flow[j as usize]));
        let motions = if MOVING {
            unit.to_lanes(partners.map(|j| &motion[j as usize]))
        } else {
            flows
        };
        [places, flows, motions]
    }

    /// Squared distances of a particle to some partners, and 1/(softened distance) of each.
    #[inline(always)]
    fn distances<U: SimdLevel>(&self, unit: U, own: &Own, places: &Numbers) -> [Lane; 2] {
        let (mut square, mut softened) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let apart = own.place.minus(&vector(places, lane));
            square[lane] = apart.dot(&apart);
            softened[lane] = square[lane] + self.view.smoother.softening;
        }
        [square, unit.inverse_roots(&softened)]
    }

    /// Runs the laws for some partners of a particle at these distances. Returns for each partner, in lanes, the negative of its force, and its density
    /// rate.
    #[inline(always)]
    fn resolve(
        &self,
        own: &Own,
        numbers: &[Numbers; IN],
        [square, per_distance]: &[Lane; 2],
        media: &[Medium<f64>; LANES],
        share: &Lane,
        sums: &mut Sums,
    ) -> Numbers {
        let (gravity, smoother) = (self.view.gravity, self.view.smoother);
        let smoothing = if SPLINE { Smoothing::CubicSpline } else { Smoothing::Wendland };
        let mut going = [[0.0; LANES]; RECORD];
        for lane in 0..LANES {
            let apart = Separation {
                vector: own.place.minus(&vector(&numbers[0], lane)),
                square: square[lane],
                per_distance: per_distance[lane],
            };
            let volume = numbers[0][3][lane];
            let in_fluid = is_in_fluid(volume);
            let drag = vector(&numbers[1], lane);
            // Walls at rest have no velocity, whatever their viscous velocity.
            let (velocity, runs) = if MOVING {
                (vector(&numbers[2], lane), numbers[2][3][lane])
            } else {
                (drag.times(in_fluid), 0.0)
            };
            let (i, j) = (&own.parcel, parcel(volume, &velocity, runs, &drag, numbers[1][3][lane]));
            let mut medium = media[if MIXED { lane } else { 0 }];
            let in_fluids = own.in_fluid * in_fluid;
            medium.diffusion *= in_fluids;
            medium.artificial_viscosity *= in_fluids;
            if COHESIVE {
                let held = if in_fluids > 0.0 { 1.0 } else { medium.share_of_wall };
                medium.pull *= held;
                medium.push *= held;
            }
            let passed = exchange(
                &apart,
                i,
                &j,
                &medium,
                &gravity,
                &smoother,
                smoothing,
                viscous_force(VISCOUS),
                COHESIVE,
            );
            let force = passed.force;
            sums.powers[0][lane] += share[lane] * passed.viscous_power;
            sums.powers[1][lane] += share[lane] * passed.diffusive_power;
            if COHESIVE {
                sums.powers[2][lane] += share[lane] * passed.tension_power;
            }
            sums.rate[0][lane] += force.x;
            sums.rate[1][lane] += force.y;
            sums.rate[2][lane] += force.z;
            sums.rate[3][lane] += j.volume * (passed.density_rate + passed.diffusion);
            going[0][lane] = force.x;
            going[1][lane] = force.y;
            going[2][lane] = force.z;
            going[3][lane] = i.volume * (passed.density_rate - passed.diffusion);
        }
        going
    }
}

/// Power that fluid particle i gains at these rates, as kinetic energy and energy of its pressure \[W\]; zero for a wall particle.
#[inline(always)]
fn gain(view: &FlowView, i: usize, rate: &[f64; RECORD]) -> f64 {
    let at = i * RECORD;
    let (volume, pressure) = (view.position[at + 3], view.flow[at + 3]);
    let velocity: Vector3<f64> = load(view.flow, at);
    is_in_fluid(volume) * (load::<f64>(rate, 0).dot(&velocity) + volume * pressure * rate[3])
}

impl<const SPLINE: bool, const MOVING: bool, const MIXED: bool, const VISCOUS: u32, const COHESIVE: bool> InLanes
    for Part<'_, SPLINE, MOVING, MIXED, VISCOUS, COHESIVE>
{
    #[inline(always)]
    fn resolve<U: SimdLevel>(&mut self, unit: U) {
        let (view, rows) = (self.view, self.rows);
        let inside = if rows.is_once { self.rate.len() } else { 0 };
        let mut media = [medium_at::<f64>(view.media, 0); LANES];
        let mut powers = [[0.0; LANES]; 3];
        let slot = |j: u32| (j as usize).wrapping_sub(rows.first);
        let Groups {
            numbers,
            distances,
            going,
            partners,
        } = &mut Groups::new();
        for i in rows.first..rows.end {
            let (row_first, row_end) = (rows.row[i] as usize, rows.row[i + 1] as usize);
            if row_first == row_end {
                continue;
            }
            let own = self.own(i);
            let mut sums = Sums {
                rate: [[0.0; LANES]; RECORD],
                powers,
            };
            for first in (row_first..row_end).step_by(GROUPS * LANES) {
                let groups = (row_end - first).div_ceil(LANES).min(GROUPS);
                for group in 0..groups {
                    let first = first + group * LANES;
                    // Unused lanes hold the particle itself, which has no force on itself.
                    let left = row_end - first;
                    partners[group] = match rows.neighbors[first..].first_chunk::<LANES>() {
                        Some(listed) => std::array::from_fn(|lane| if lane < left { listed[lane] } else { i as u32 }),
                        None => std::array::from_fn(|lane| if lane < left { rows.neighbors[first + lane] } else { i as u32 }),
                    };
                    numbers[group] = self.fetch(unit, &own, &partners[group]);
                }
                for group in 0..groups {
                    distances[group] = self.distances(unit, &own, &numbers[group][0]);
                }
                for group in 0..groups {
                    let share = partners[group].map(|j| if slot(j) < inside { 1.0 } else { 0.5 });
                    if MIXED {
                        media = partners[group].map(|j| self.medium_between(i, j as usize));
                    }
                    going[group] = Part::resolve(self, &own, &numbers[group], &distances[group], &media, &share, &mut sums);
                    if !rows.is_once {
                        // Entry by entry, as distant entries without interaction would otherwise shift the next ones to other lanes.
                        let left = row_end - first - group * LANES;
                        for (sum, lanes) in self.rate[i - rows.first].iter_mut().zip(&mut sums.rate) {
                            *sum = lanes.iter().take(left).fold(*sum, |sum, one| sum + one);
                            *lanes = [0.0; LANES];
                        }
                    }
                }
                if !rows.is_once {
                    continue;
                }
                for (going, partners) in going[..groups].iter().zip(&*partners) {
                    let went: Records = unit.out_of_lanes(going);
                    for (one, &j) in went.iter().zip(partners) {
                        // A particle of another part gets its share from its own row.
                        if let Some(of_j) = self.rate.get_mut(slot(j)) {
                            *of_j = [of_j[0] - one[0], of_j[1] - one[1], of_j[2] - one[2], of_j[3] + one[3]];
                        }
                    }
                }
            }
            let of_i = &mut self.rate[i - rows.first];
            for (sum, lanes) in of_i.iter_mut().zip(&sums.rate) {
                *sum += lanes.iter().sum::<f64>();
            }
            powers = sums.powers;
        }
        let [viscous, diffusive, stored] = powers.map(|lanes| lanes.iter().sum::<f64>());
        let gained: f64 = (rows.first..rows.end).map(|i| gain(view, i, &self.rate[i - rows.first])).sum();
        // Energy gained by the fluid beyond its own dissipation comes from walls.
        let wall = gained + viscous + diffusive + stored;
        self.power_sums = FluidPowerSums { viscous, diffusive, wall };
    }
}

/// Forces and density rates of all particles of a part. Slot 0 of `rate` is that of its first particle. With `SPLINE`, the cubic spline is used.
pub fn flow_of_part<const SPLINE: bool, const MOVING: bool, const MIXED: bool, const VISCOUS: u32, const COHESIVE: bool>(
    view: &FlowView,
    rows: &FlowRows,
    rate: &mut [f64],
) -> FluidPowerSums {
    debug_assert_eq!(view.media.len() % MEDIUM, 0);
    let (rate, _) = rate.as_chunks_mut::<RECORD>();
    rate.fill([0.0; RECORD]);
    let mut part = Part::<SPLINE, MOVING, MIXED, VISCOUS, COHESIVE> {
        view,
        rows,
        rate,
        power_sums: FluidPowerSums::default(),
    };
    on_best_simd(&mut part);
    part.power_sums
}
