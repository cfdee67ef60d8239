//! The sweep over fluids for processors with vector units: pairs are collected into lanes, the laws run over all lanes at once, and the results go
//! back in the order of the rows. A pair inside a part is computed once, a pair across parts by both, with exactly opposite results.

use crate::fluid::{MEDIUM, WALL, medium_at, parcel};
use crate::lanes::{InLanes, on_widest, prefetch};
use crate::sides::{OPEN, Sides, nearest_image};
use crate::views::{RECORD, load};
use seixo_laws::Vector3;
use seixo_laws::fluid::{Medium, Parcel, Smoother, Smoothing, between_media, exchange};

/// Pairs resolved at once.
const LANES: usize = 16;

/// How many pairs ahead the records of a partner are asked for.
const AHEAD: usize = 16;

/// Records that go in: where i and j are, how they flow, and what viscosity sees.
const IN: usize = 6;

/// One record per lane, as it lies in memory.
type Records = [[f64; RECORD]; LANES];

/// The same, a lane for every number.
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

/// Pairs side by side. With `STICKY`, viscosity sees velocities of its own; with `MIXED`, there are several fluids.
struct Lanes<'a, const SPLINE: bool, const STICKY: bool, const MIXED: bool> {
    view: &'a FlowView<'a>,
    came: [Records; IN],
    numbers: [Numbers; IN],
    medium: Medium<f64>,
    media: [Medium<f64>; LANES],
    /// 1 for a pair inside the part, ½ for one across its border, 0 for a lane without a pair.
    share: [f64; LANES],
    going: [Numbers; 2],
    went: [Records; 2],
    /// Viscous, diffusive and walls' powers of all pairs that ever passed through each lane.
    powers: [[f64; LANES]; 3],
}

impl<const SPLINE: bool, const STICKY: bool, const MIXED: bool> Lanes<'_, SPLINE, STICKY, MIXED> {
    #[inline(always)]
    fn vector(&self, record: usize, lane: usize) -> Vector3<f64> {
        let [x, y, z, _] = &self.numbers[record];
        Vector3 {
            x: x[lane],
            y: y[lane],
            z: z[lane],
        }
    }

    #[inline(always)]
    fn last(&self, record: usize, lane: usize) -> f64 {
        self.numbers[record][RECORD - 1][lane]
    }

    #[inline(always)]
    fn parcel(&self, end: usize, lane: usize) -> Parcel<f64> {
        let velocity = self.vector(2 + end, lane);
        let drag = if STICKY { self.vector(4 + end, lane) } else { velocity };
        parcel(self.last(end, lane), &velocity, &drag, self.last(2 + end, lane))
    }

    #[inline(always)]
    fn resolve_lane(&mut self, lane: usize) {
        let apart = self.vector(0, lane).minus(&self.vector(1, lane));
        let (i, j) = (self.parcel(0, lane), self.parcel(1, lane));
        let in_fluid = [0, 1].map(|end| if self.last(end, lane) > 0.0 { 1.0 } else { 0.0 });
        let mut medium = if MIXED { self.media[lane] } else { self.medium };
        medium.diffusion *= in_fluid[0] * in_fluid[1];
        let smoothing = if SPLINE { Smoothing::CubicSpline } else { Smoothing::Wendland };
        let view = self.view;
        let passed = exchange(&apart, apart.dot(&apart), &i, &j, &medium, &view.gravity, &view.smoother, smoothing);
        let force = passed.force;
        let stored = i.volume * j.volume * passed.swelling;
        let gained =
            in_fluid[0] * (force.dot(&i.velocity) + stored * i.pressure) - in_fluid[1] * (force.dot(&j.velocity) - stored * j.pressure);
        // Between two particles of fluid, what they gain is what viscosity takes.
        let powers = [passed.viscous_power, passed.diffusive_power, gained + passed.viscous_power];
        for (sum, power) in self.powers.iter_mut().zip(powers) {
            sum[lane] += self.share[lane] * power;
        }
        self.going[0][0][lane] = force.x;
        self.going[0][1][lane] = force.y;
        self.going[0][2][lane] = force.z;
        self.going[0][3][lane] = j.volume * (passed.swelling + passed.diffusion);
        self.going[1][3][lane] = i.volume * (passed.swelling - passed.diffusion);
    }
}

impl<const SPLINE: bool, const STICKY: bool, const MIXED: bool> InLanes for Lanes<'_, SPLINE, STICKY, MIXED> {
    #[inline(always)]
    fn resolve(&mut self) {
        let fields = if STICKY { IN } else { IN - 2 };
        for (records, lanes) in self.came.iter().zip(&mut self.numbers).take(fields) {
            for lane in 0..LANES {
                for number in 0..RECORD {
                    lanes[number][lane] = records[lane][number];
                }
            }
        }
        for lane in 0..LANES {
            self.resolve_lane(lane);
        }
        for (records, lanes) in self.went.iter_mut().zip(&self.going) {
            for lane in 0..LANES {
                records[lane] = [lanes[0][lane], lanes[1][lane], lanes[2][lane], lanes[3][lane]];
            }
        }
    }
}

impl<const SPLINE: bool, const STICKY: bool, const MIXED: bool> Lanes<'_, SPLINE, STICKY, MIXED> {
    /// Reads the pair of i and j into a lane.
    #[inline(always)]
    fn put<const SIDES: u32>(&mut self, lane: usize, i: usize, j: usize) {
        let view = self.view;
        let fields = [view.position, view.flow, view.drag];
        for (field, numbers) in fields.into_iter().enumerate().take(if STICKY { 3 } else { 2 }) {
            let (numbers, _) = numbers.as_chunks::<RECORD>();
            self.came[2 * field][lane] = numbers[i];
            self.came[2 * field + 1][lane] = numbers[j];
        }
        if SIDES != OPEN {
            let apart = load::<f64>(view.position, i * RECORD).minus(&load(view.position, j * RECORD));
            let Vector3 { x, y, z } = nearest_image::<f64, f64>(&apart, view.sides, SIDES).apart;
            let volumes = [i, j].map(|end| view.position[end * RECORD + 3]);
            self.came[0][lane] = [x, y, z, volumes[0]];
            self.came[1][lane] = [0.0, 0.0, 0.0, volumes[1]];
        }
        if MIXED {
            let of = |end: usize| match view.kind[end] {
                wall if wall & WALL != 0 => None,
                kind => Some(medium_at::<f64>(view.media, kind as usize)),
            };
            self.media[lane] = match (of(i), of(j)) {
                (Some(a), Some(b)) if view.kind[i] != view.kind[j] => between_media(&a, &b),
                (Some(medium), _) | (None, Some(medium)) => medium,
                (None, None) => self.medium,
            };
        }
    }

    /// Adds the results to the rates of the part's particles, in order.
    #[inline(always)]
    fn give_back(&self, pairs: &[(u32, u32)], rows: &FlowRows, rate: &mut [[f64; RECORD]]) {
        let (mut own, mut sum) = (usize::MAX, [0.0; RECORD]);
        for (lane, &(i, j)) in pairs.iter().enumerate() {
            let (i, j) = (i as usize, j as usize);
            if i != own {
                if own != usize::MAX {
                    rate[own - rows.first] = sum;
                }
                (own, sum) = (i, rate[i - rows.first]);
            }
            let one = self.went[0][lane];
            sum = [sum[0] + one[0], sum[1] + one[1], sum[2] + one[2], sum[3] + one[3]];
            if j >= rows.first && j < rows.end {
                let of_j = &mut rate[j - rows.first];
                *of_j = [
                    of_j[0] - one[0],
                    of_j[1] - one[1],
                    of_j[2] - one[2],
                    of_j[3] + self.went[1][lane][3],
                ];
            }
        }
        if own != usize::MAX {
            rate[own - rows.first] = sum;
        }
    }
}

/// Forces and rates of all particles of a part, written to `rate`, whose slot 0 is that of its first. With `SPLINE`, the cubic spline smooths.
pub fn flow_of_part<const SIDES: u32, const SPLINE: bool, const STICKY: bool, const MIXED: bool>(
    view: &FlowView,
    rows: &FlowRows,
    rate: &mut [f64],
) -> FlowTally {
    debug_assert_eq!(view.media.len() % MEDIUM, 0);
    let harmless = [[1.0; RECORD]; LANES];
    let medium = medium_at::<f64>(view.media, 0);
    let mut lanes = Lanes::<SPLINE, STICKY, MIXED> {
        view,
        came: [harmless; IN],
        numbers: [[[1.0; LANES]; RECORD]; IN],
        medium,
        media: [medium; LANES],
        share: [0.0; LANES],
        going: [[[0.0; LANES]; RECORD]; 2],
        went: [harmless; 2],
        powers: [[0.0; LANES]; 3],
    };
    let (rate, _) = rate.as_chunks_mut::<RECORD>();
    rate.fill([0.0; RECORD]);
    let end = rows.row[rows.end] as usize;
    let mut pairs = [(0, 0); LANES];
    let mut filled = 0;
    for i in rows.first..rows.end {
        for k in rows.row[i] as usize..rows.row[i + 1] as usize {
            let later = rows.neighbors[(k + AHEAD).min(end - 1)] as usize;
            prefetch(view.position, later);
            prefetch(view.flow, later);
            let j = rows.neighbors[k] as usize;
            lanes.put::<SIDES>(filled, i, j);
            lanes.share[filled] = if j >= rows.first && j < rows.end { 1.0 } else { 0.5 };
            pairs[filled] = (i as u32, j as u32);
            filled += 1;
            if filled == LANES {
                on_widest(&mut lanes);
                lanes.give_back(&pairs, rows, rate);
                filled = 0;
            }
        }
    }
    if filled > 0 {
        lanes.share[filled..].fill(0.0);
        on_widest(&mut lanes);
        lanes.give_back(&pairs[..filled], rows, rate);
    }
    let [viscous, diffusive, wall] = lanes.powers.map(|lanes| lanes.iter().sum());
    FlowTally { viscous, diffusive, wall }
}
