//! The sweep over fluids for processors with vector units: the partners of a particle are collected into lanes, and the laws run over all lanes at
//! once. A pair inside a part is computed once, a pair across parts by both. Sums go over lanes, then over entries, always in the same order.

use crate::fluid::{MEDIUM, WALL, medium_at, parcel};
use crate::lanes::{InLanes, on_widest, prefetch};
use crate::sides::{OPEN, Sides, nearest_image};
use crate::views::{RECORD, load};
use seixo_laws::Vector3;
use seixo_laws::fluid::{Medium, Parcel, Smoother, Smoothing, between_media, exchange};

/// Partners looked at at once.
const LANES: usize = 8;

/// How many pairs ahead the records of a partner are asked for.
const AHEAD: usize = 16;

/// Records of a partner: where it is, how it flows, and what viscosity sees.
const IN: usize = 3;

/// A coordinate that is beyond all supports of any place: that of lanes without a partner.
const NOWHERE: f64 = 1e30;

/// One record per lane, as it lies in memory.
type Records = [[f64; RECORD]; LANES];

/// A number per lane.
type Lane = [f64; LANES];

/// Records, a lane for every number.
type Numbers = [[f64; LANES]; RECORD];

/// What is read of all particles.
pub struct FlowView<'a> {
    /// Places and volumes.
    pub position: &'a [f64],
    /// Velocities and pressures.
    pub flow: &'a [f64],
    /// Velocities that viscosity sees; empty where they are those of the flow.
    pub drag: &'a [f64],
    /// Fluids, or walls.
    pub kind: &'a [u32],
    /// Rows of coefficients, one per fluid, see [`MEDIUM`].
    pub media: &'a [f64],
    /// Gravitational acceleration \[m/s²\].
    pub gravity: Vector3<f64>,
    /// What scales the smoothing function.
    pub smoother: Smoother<f64>,
    /// Periodic sides.
    pub sides: &'a Sides<f64, f64>,
}

/// The rows of a part.
pub struct FlowRows<'a> {
    /// First particle of the part.
    pub first: usize,
    /// The one after its last.
    pub end: usize,
    /// First entry of every row, and one more.
    pub row: &'a [u32],
    /// Partners of all rows.
    pub neighbors: &'a [u32],
}

/// Powers \[W\], summed over pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowTally {
    /// Taken from the motion by viscosity.
    pub viscous: f64,
    /// Taken from what pressure stores by the diffusion of density.
    pub diffusive: f64,
    /// Given by walls.
    pub wall: f64,
}

impl FlowTally {
    /// The sum of both.
    pub fn plus(self, other: &FlowTally) -> FlowTally {
        FlowTally {
            viscous: self.viscous + other.viscous,
            diffusive: self.diffusive + other.diffusive,
            wall: self.wall + other.wall,
        }
    }

    /// The product with a number.
    pub fn times(self, factor: f64) -> FlowTally {
        FlowTally {
            viscous: factor * self.viscous,
            diffusive: factor * self.diffusive,
            wall: factor * self.wall,
        }
    }
}

/// A part at work. With `SPLINE`, the cubic spline smooths; with `STICKY`, viscosity sees velocities of its own; with `MIXED`, there are several
/// fluids.
struct Part<'a, const SIDES: u32, const SPLINE: bool, const STICKY: bool, const MIXED: bool> {
    view: &'a FlowView<'a>,
    rows: &'a FlowRows<'a>,
    rate: &'a mut [[f64; RECORD]],
    tally: FlowTally,
}

/// A particle whose row is looked at.
struct Own {
    place: Vector3<f64>,
    parcel: Parcel<f64>,
    /// 1 for fluid, 0 for a wall.
    in_fluid: f64,
}

/// What comes of some partners, added up over a row.
struct Sums {
    /// Force and swelling of the particle.
    rate: Numbers,
    /// Viscous, diffusive and walls' powers.
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

/// 1 for a particle of fluid, 0 for one of a wall, by its volume.
#[inline(always)]
fn is_in_fluid(volume: f64) -> f64 {
    if volume > 0.0 { 1.0 } else { 0.0 }
}

impl<const SIDES: u32, const SPLINE: bool, const STICKY: bool, const MIXED: bool> Part<'_, SIDES, SPLINE, STICKY, MIXED> {
    #[inline(always)]
    fn own(&self, i: usize) -> Own {
        let view = self.view;
        let at = i * RECORD;
        let velocity = load(view.flow, at);
        let drag = if STICKY { load(view.drag, at) } else { velocity };
        Own {
            place: load(view.position, at),
            parcel: parcel(view.position[at + 3], &velocity, &drag, view.flow[at + 3]),
            in_fluid: is_in_fluid(view.position[at + 3]),
        }
    }

    /// What fluid lies between particles i and j; of two walls it does not matter.
    fn medium_between(&self, i: usize, j: usize) -> Medium<f64> {
        let view = self.view;
        let of = |kind: u32| medium_at::<f64>(view.media, kind as usize);
        match [i, j].map(|end| Some(view.kind[end]).filter(|kind| kind & WALL == 0)) {
            [Some(a), Some(b)] if a != b => between_media(&of(a), &of(b)),
            [Some(kind), _] | [None, Some(kind)] => of(kind),
            [None, None] => of(0),
        }
    }

    /// Reads the records of some partners; lanes without one hold a particle far away.
    #[inline(always)]
    fn fetch(&self, i: usize, partners: &[u32], came: &mut [Records; IN]) {
        let view = self.view;
        let fields = [view.position, view.flow, view.drag];
        for (field, numbers) in fields.into_iter().enumerate().take(if STICKY { IN } else { IN - 1 }) {
            let (numbers, _) = numbers.as_chunks::<RECORD>();
            for (slot, &j) in came[field].iter_mut().zip(partners) {
                *slot = numbers[j as usize];
            }
        }
        if SIDES != OPEN {
            let here: Vector3<f64> = load(view.position, i * RECORD);
            for slot in came[0].iter_mut().take(partners.len()) {
                let apart = here.minus(&load(&slot[..], 0));
                let image = here.minus(&nearest_image::<f64, f64>(&apart, view.sides, SIDES).apart);
                slot[..3].copy_from_slice(&[image.x, image.y, image.z]);
            }
        }
        for slot in came[0].iter_mut().skip(partners.len()) {
            *slot = [NOWHERE, NOWHERE, NOWHERE, 1.0];
        }
    }

    /// Runs the laws over some partners of a particle; returns what each of these gets: the force on it taken backward, and its swelling.
    #[inline(always)]
    fn resolve(&self, own: &Own, came: &[Records; IN], media: &[Medium<f64>; LANES], share: &Lane, sums: &mut Sums) -> Records {
        let mut numbers = [[[0.0; LANES]; RECORD]; IN];
        for (records, lanes) in came.iter().zip(&mut numbers).take(if STICKY { IN } else { IN - 1 }) {
            for lane in 0..LANES {
                for number in 0..RECORD {
                    lanes[number][lane] = records[lane][number];
                }
            }
        }
        let (gravity, smoother) = (self.view.gravity, self.view.smoother);
        let smoothing = if SPLINE { Smoothing::CubicSpline } else { Smoothing::Wendland };
        let mut going = [[0.0; LANES]; RECORD];
        for lane in 0..LANES {
            let apart = own.place.minus(&vector(&numbers[0], lane));
            let velocity = vector(&numbers[1], lane);
            let drag = if STICKY { vector(&numbers[2], lane) } else { velocity };
            let volume = numbers[0][3][lane];
            let in_fluid = is_in_fluid(volume);
            let (i, j) = (&own.parcel, parcel(volume, &velocity, &drag, numbers[1][3][lane]));
            let mut medium = media[if MIXED { lane } else { 0 }];
            medium.diffusion *= own.in_fluid * in_fluid;
            let passed = exchange(&apart, apart.dot(&apart), i, &j, &medium, &gravity, &smoother, smoothing);
            let force = passed.force;
            let stored = i.volume * j.volume * passed.swelling;
            // Between two particles of fluid, what they gain is what viscosity takes.
            let gained =
                own.in_fluid * (force.dot(&i.velocity) + stored * i.pressure) - in_fluid * (force.dot(&j.velocity) - stored * j.pressure);
            sums.powers[0][lane] += share[lane] * passed.viscous_power;
            sums.powers[1][lane] += share[lane] * passed.diffusive_power;
            sums.powers[2][lane] += share[lane] * (gained + passed.viscous_power);
            sums.rate[0][lane] += force.x;
            sums.rate[1][lane] += force.y;
            sums.rate[2][lane] += force.z;
            sums.rate[3][lane] += j.volume * (passed.swelling + passed.diffusion);
            going[0][lane] = force.x;
            going[1][lane] = force.y;
            going[2][lane] = force.z;
            going[3][lane] = i.volume * (passed.swelling - passed.diffusion);
        }
        let mut went = [[0.0; RECORD]; LANES];
        for lane in 0..LANES {
            went[lane] = [going[0][lane], going[1][lane], going[2][lane], going[3][lane]];
        }
        went
    }
}

impl<const SIDES: u32, const SPLINE: bool, const STICKY: bool, const MIXED: bool> InLanes for Part<'_, SIDES, SPLINE, STICKY, MIXED> {
    #[inline(always)]
    fn resolve(&mut self) {
        let (view, rows) = (self.view, self.rows);
        let end = rows.row[rows.end] as usize;
        let mut came = [[[0.0; RECORD]; LANES]; IN];
        let mut media = [medium_at::<f64>(view.media, 0); LANES];
        let mut powers = [[0.0; LANES]; 3];
        for i in rows.first..rows.end {
            let row = rows.row[i] as usize..rows.row[i + 1] as usize;
            if row.is_empty() {
                continue;
            }
            let own = self.own(i);
            let mut sums = Sums {
                rate: [[0.0; LANES]; RECORD],
                powers,
            };
            for first in row.clone().step_by(LANES) {
                let partners = &rows.neighbors[first..row.end.min(first + LANES)];
                for later in first + AHEAD..(first + AHEAD + LANES).min(end) {
                    let later = rows.neighbors[later] as usize;
                    prefetch(view.position, later);
                    prefetch(view.flow, later);
                }
                self.fetch(i, partners, &mut came);
                let mut share = [0.0; LANES];
                for (share, &j) in share.iter_mut().zip(partners) {
                    *share = if (j as usize).wrapping_sub(rows.first) < self.rate.len() { 1.0 } else { 0.5 };
                }
                if MIXED {
                    for (medium, &j) in media.iter_mut().zip(partners) {
                        *medium = self.medium_between(i, j as usize);
                    }
                }
                let went = Part::resolve(self, &own, &came, &media, &share, &mut sums);
                for (one, &j) in went.iter().zip(partners) {
                    // One that is of another part gets its own from its own row.
                    if let Some(of_j) = self.rate.get_mut((j as usize).wrapping_sub(rows.first)) {
                        *of_j = [of_j[0] - one[0], of_j[1] - one[1], of_j[2] - one[2], of_j[3] + one[3]];
                    }
                }
            }
            let of_i = &mut self.rate[i - rows.first];
            for (sum, lanes) in of_i.iter_mut().zip(&sums.rate) {
                *sum += lanes.iter().sum::<f64>();
            }
            powers = sums.powers;
        }
        let [viscous, diffusive, wall] = powers.map(|lanes| lanes.iter().sum());
        self.tally = FlowTally { viscous, diffusive, wall };
    }
}

/// Forces and rates of all particles of a part, written to `rate`, whose slot 0 is that of its first. With `SPLINE`, the cubic spline smooths.
pub fn flow_of_part<const SIDES: u32, const SPLINE: bool, const STICKY: bool, const MIXED: bool>(
    view: &FlowView,
    rows: &FlowRows,
    rate: &mut [f64],
) -> FlowTally {
    debug_assert_eq!(view.media.len() % MEDIUM, 0);
    let (rate, _) = rate.as_chunks_mut::<RECORD>();
    rate.fill([0.0; RECORD]);
    let mut part = Part::<SIDES, SPLINE, STICKY, MIXED> {
        view,
        rows,
        rate,
        tally: FlowTally::default(),
    };
    on_widest(&mut part);
    part.tally
}
