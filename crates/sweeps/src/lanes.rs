//! The contact sweep for processors with vector units.
//!
//! Pairs that touch are collected into lanes, the laws run over all lanes at once, and the results go back in the order of the list.
//! Each pair is computed once per part: same bits on any number of threads and with any width of the vector unit.

#![allow(
    unsafe_code,
    reason = "functions compiled for processor features are called where the features are present"
)]

use crate::contact::Tally;
use crate::pair::{Outcome, Pair, depth_of, rub_together};
use crate::sides::{OPEN, SHEARED, Sides, nearest_image};
use crate::views::{RECORD, coefficients};
use seixo_laws::contact::{COEFFICIENTS, Coefficients, Memory};
use seixo_laws::{Real, Vector3, larger, smaller};

/// Pairs resolved at once.
const LANES: usize = 64;

/// How many entries of the list ahead a partner's place is asked for.
const AHEAD: usize = 16;

/// One number per lane.
type Lane<R> = [R; LANES];

/// What is read of all grains.
pub struct GrainsView<'a, R: Real> {
    /// Centers and radii.
    pub position: &'a [R],
    /// Velocities and masses.
    pub velocity: &'a [R],
    /// Angular velocities.
    pub spin: &'a [R],
    /// Materials.
    pub material: &'a [u32],
    /// Number of materials.
    pub materials: u32,
    /// Rows of coefficients, one per pair of materials.
    pub table: &'a [R],
    /// Whether all grains are of the first grain's material.
    pub is_uniform: bool,
    /// Periodic sides.
    pub sides: &'a Sides<R, R>,
}

/// The rows of a part in the list of pairs.
pub struct PartRows<'a> {
    /// First grain of the part.
    pub first: usize,
    /// The grain after its last.
    pub end: usize,
    /// First entry of every grain's row, and one more.
    pub row: &'a [u32],
    /// Partners of all rows.
    pub neighbors: &'a [u32],
}

/// What a part writes; slot 0 belongs to its first grain or entry.
pub struct PartOut<'a, R> {
    /// Records of history of the part's entries.
    pub history: &'a mut [R],
    /// Ticks at which the part's entries last touched: what an entry remembers counts only if that was the tick before this one.
    pub touched: &'a mut [u32],
    /// Forces and numbers of touches.
    pub force: &'a mut [R],
    /// Torques.
    pub torque: &'a mut [R],
}

/// Time step, its count, and limits.
#[derive(Clone, Copy)]
pub struct Limits<R> {
    /// Time step \[s\].
    pub dt: R,
    /// Overlap that is too deep, as a share of the smaller radius \[-\].
    pub overlap: R,
    /// Count of this evaluation of contacts.
    pub tick: u32,
}

/// Pairs side by side: what goes in, what comes out, and where it belongs.
struct Lanes<R> {
    grain: [u32; LANES],
    partner: [u32; LANES],
    entry: [u32; LANES],
    apart: [Lane<R>; 3],
    velocity: [Lane<R>; 3],
    spin_i: [Lane<R>; 3],
    spin_j: [Lane<R>; 3],
    memory: [Lane<R>; 4],
    radius: [Lane<R>; 2],
    mass: [Lane<R>; 2],
    coefficients: [Lane<R>; 7],
    force: [Lane<R>; 3],
    turn_i: [Lane<R>; 3],
    turn_j: [Lane<R>; 3],
    /// 1 for a pair that stands in one row, ½ for one that stands in two, 0 for an empty lane.
    share: Lane<R>,
    /// Velocity of the partner's image over the partner's, where sides slide.
    slide: [Lane<R>; 3],
    /// Sums over all pairs that passed through each lane.
    power: [Lane<R>; 4],
    excess: Lane<R>,
    filled: usize,
}

impl<R: Real> Lanes<R> {
    /// Lanes that hold harmless numbers.
    fn new() -> Self {
        let one = [R::new(1.0); LANES];
        Lanes {
            grain: [0; LANES],
            partner: [0; LANES],
            entry: [0; LANES],
            apart: [one; 3],
            velocity: [one; 3],
            spin_i: [one; 3],
            spin_j: [one; 3],
            memory: [one; 4],
            radius: [one; 2],
            mass: [one; 2],
            coefficients: [one; 7],
            force: [one; 3],
            turn_i: [one; 3],
            turn_j: [one; 3],
            share: [R::new(0.0); LANES],
            slide: [[R::new(0.0); LANES]; 3],
            power: [[R::new(0.0); LANES]; 4],
            excess: [R::new(-1.0); LANES],
            filled: 0,
        }
    }

    #[inline(always)]
    fn vector(of: &[Lane<R>], lane: usize) -> Vector3<R> {
        Vector3 {
            x: of[0][lane],
            y: of[1][lane],
            z: of[2][lane],
        }
    }

    #[inline(always)]
    fn coefficients_of(&self, lane: usize) -> Coefficients<R> {
        let c = &self.coefficients;
        Coefficients {
            normal_stiffness: c[0][lane],
            normal_damping: c[1][lane],
            tangential_stiffness: c[2][lane],
            tangential_damping: c[3][lane],
            friction: c[4][lane],
            normal_law: c[5][lane],
            tangential_law: c[6][lane],
        }
    }

    /// Reads the pairs of the filled lanes.
    #[inline(always)]
    fn fetch<const SIDES: u32>(&mut self, grains: &GrainsView<R>, rows: &PartRows, out: &mut PartOut<R>, tick: u32) {
        let nothing = [R::new(0.0); RECORD];
        for lane in 0..self.filled {
            let (i, j, entry) = (self.grain[lane] as usize, self.partner[lane] as usize, self.entry[lane] as usize);
            let (x_i, x_j) = (record(grains.position, i), record(grains.position, j));
            let (v_i, v_j) = (record(grains.velocity, i), record(grains.velocity, j));
            let (w_i, w_j) = (record(grains.spin, i), record(grains.spin, j));
            let is_new = out.touched[entry].wrapping_add(1) != tick;
            out.touched[entry] = tick;
            let stored = if is_new { &nothing } else { record(out.history, entry) };
            let (apart, passed) = apart::<R, SIDES>(x_i, x_j, grains.sides);
            let slide = if SIDES == SHEARED {
                array(&grains.sides.slide.times(passed))
            } else {
                [R::new(0.0); 3]
            };
            for axis in 0..3 {
                self.apart[axis][lane] = apart[axis];
                self.velocity[axis][lane] = v_i[axis] - v_j[axis] - slide[axis];
                if SIDES == SHEARED {
                    self.slide[axis][lane] = slide[axis];
                }
                self.spin_i[axis][lane] = w_i[axis];
                self.spin_j[axis][lane] = w_j[axis];
                self.memory[axis][lane] = stored[axis];
            }
            self.memory[3][lane] = stored[3];
            // A pair across parts stands in two rows, and each books half of its work.
            self.share[lane] = if j >= rows.first && j < rows.end {
                R::new(1.0)
            } else {
                R::new(0.5)
            };
            self.radius[0][lane] = x_i[3];
            self.radius[1][lane] = x_j[3];
            self.mass[0][lane] = v_i[3];
            self.mass[1][lane] = v_j[3];
        }
        if !grains.is_uniform {
            for lane in 0..self.filled {
                let (i, j) = (self.grain[lane] as usize, self.partner[lane] as usize);
                let row = (grains.material[i] * grains.materials + grains.material[j]) as usize * COEFFICIENTS;
                let numbers = &grains.table[row..row + COEFFICIENTS];
                for (slot, number) in self.coefficients.iter_mut().zip(numbers) {
                    slot[lane] = *number;
                }
            }
        }
    }

    /// Runs the laws over all lanes, with the widest vector units of this processor. Wider units change no bit: every lane rounds as a
    /// scalar does, and no multiplication is fused with an addition.
    fn resolve<const SIDES: u32>(&mut self, limits: Limits<R>, uniform: Option<&Coefficients<R>>) {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
            fn widest<R: Real, const SIDES: u32>(lanes: &mut Lanes<R>, limits: Limits<R>, uniform: Option<&Coefficients<R>>) {
                lanes.resolve_lanes::<SIDES>(limits, uniform);
            }
            #[target_feature(enable = "avx2")]
            fn wide<R: Real, const SIDES: u32>(lanes: &mut Lanes<R>, limits: Limits<R>, uniform: Option<&Coefficients<R>>) {
                lanes.resolve_lanes::<SIDES>(limits, uniform);
            }
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl") {
                // SAFETY: the processor has the features that the function is compiled for.
                return unsafe { widest::<R, SIDES>(self, limits, uniform) };
            }
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has the feature that the function is compiled for.
                return unsafe { wide::<R, SIDES>(self, limits, uniform) };
            }
        }
        self.resolve_lanes::<SIDES>(limits, uniform);
    }

    #[inline(always)]
    fn resolve_lanes<const SIDES: u32>(&mut self, limits: Limits<R>, uniform: Option<&Coefficients<R>>) {
        if let Some(coefficients) = uniform {
            for lane in 0..LANES {
                self.resolve_lane::<SIDES>(lane, limits, coefficients);
            }
        } else {
            for lane in 0..LANES {
                self.resolve_lane::<SIDES>(lane, limits, &self.coefficients_of(lane));
            }
        }
    }

    #[inline(always)]
    fn resolve_lane<const SIDES: u32>(&mut self, lane: usize, limits: Limits<R>, coefficients: &Coefficients<R>) {
        let apart = Self::vector(&self.apart, lane);
        let pair = Pair {
            apart,
            depth: depth_of::<R>(&apart, self.radius[0][lane] + self.radius[1][lane]),
            velocity: Self::vector(&self.velocity, lane),
            radius_i: self.radius[0][lane],
            radius_j: self.radius[1][lane],
            mass_i: self.mass[0][lane],
            mass_j: self.mass[1][lane],
        };
        let memory = Memory {
            force: Self::vector(&self.memory, lane),
            contact_radius: self.memory[3][lane],
        };
        let (spin_i, spin_j) = (Self::vector(&self.spin_i, lane), Self::vector(&self.spin_j, lane));
        let outcome: Outcome<R> = rub_together::<R>(&pair, &spin_i, &spin_j, &memory, coefficients, limits.dt);
        let (turn_i, turn_j) = (outcome.bend.times(outcome.arm_i), outcome.bend.times(outcome.arm_j));
        self.force[0][lane] = outcome.force.x;
        self.force[1][lane] = outcome.force.y;
        self.force[2][lane] = outcome.force.z;
        self.turn_i[0][lane] = turn_i.x;
        self.turn_i[1][lane] = turn_i.y;
        self.turn_i[2][lane] = turn_i.z;
        self.turn_j[0][lane] = turn_j.x;
        self.turn_j[1][lane] = turn_j.y;
        self.turn_j[2][lane] = turn_j.z;
        self.memory[0][lane] = outcome.memory.force.x;
        self.memory[1][lane] = outcome.memory.force.y;
        self.memory[2][lane] = outcome.memory.force.z;
        self.memory[3][lane] = outcome.memory.contact_radius;
        let share = self.share[lane];
        self.power[0][lane] += share * outcome.normal_power;
        self.power[1][lane] += share * outcome.tangential_power;
        self.power[2][lane] += share * outcome.damping_power;
        if SIDES == SHEARED {
            self.power[3][lane] += share * outcome.force.dot(&Self::vector(&self.slide, lane));
        }
        let smallest = smaller::<R>(pair.radius_i, pair.radius_j);
        let excess = outcome.overlap - limits.overlap * smallest;
        if share > R::new(0.0) {
            self.excess[lane] = larger::<R>(excess, self.excess[lane]);
        }
    }

    /// Adds the results of the filled lanes to their grains, in order.
    #[inline(always)]
    fn give_back(&mut self, rows: &PartRows, out: &mut PartOut<R>) {
        for lane in 0..self.filled {
            let i = (self.grain[lane] as usize - rows.first) * RECORD;
            let j = self.partner[lane] as usize;
            let k = self.entry[lane] as usize * RECORD;
            let is_inside = j >= rows.first && j < rows.end;
            let history = &mut out.history[k..k + RECORD];
            for (number, memory) in history.iter_mut().zip(&self.memory) {
                *number = memory[lane];
            }
            let force = &mut out.force[i..i + RECORD];
            let torque = &mut out.torque[i..i + RECORD];
            for axis in 0..3 {
                force[axis] += self.force[axis][lane];
                torque[axis] += self.turn_i[axis][lane];
            }
            force[3] += R::new(1.0);
            if is_inside {
                let j = (j - rows.first) * RECORD;
                let force = &mut out.force[j..j + RECORD];
                let torque = &mut out.torque[j..j + RECORD];
                for axis in 0..3 {
                    force[axis] -= self.force[axis][lane];
                    torque[axis] += self.turn_j[axis][lane];
                }
                force[3] += R::new(1.0);
            }
        }
        self.filled = 0;
    }
}

impl<R: Real> Lanes<R> {
    /// Sums over all lanes, in their order.
    fn tally(&self) -> Tally<R> {
        let zero = R::new(0.0);
        let sum = |numbers: &Lane<R>| numbers.iter().fold(zero, |sum, &number| sum + number);
        Tally {
            normal_power: sum(&self.power[0]),
            tangential_power: sum(&self.power[1]),
            damping_power: sum(&self.power[2]),
            wall_power: sum(&self.power[3]),
            excess: self.excess.iter().fold(R::new(-1.0), |most, &excess| larger::<R>(excess, most)),
        }
    }
}

/// Contacts with friction of all grains of a part with the partners in their rows, a pair inside the part once.
#[inline(always)]
pub fn contacts_of_part<R: Real, const SIDES: u32>(
    grains: &GrainsView<R>,
    rows: &PartRows,
    limits: Limits<R>,
    mut out: PartOut<R>,
) -> Tally<R> {
    let zero = R::new(0.0);
    let mut lanes = Lanes::new();
    let first_material = grains.material.first().map_or(0, |&m| (m * grains.materials + m) as usize);
    let one_for_all = coefficients::<R>(grains.table, first_material);
    let uniform = grains.is_uniform.then_some(&one_for_all);
    let base = rows.row[rows.first] as usize;
    for i in rows.first..rows.end {
        let x_i = record(grains.position, i);
        for k in rows.row[i] as usize..rows.row[i + 1] as usize {
            let j = rows.neighbors[k] as usize;
            if let Some(&next) = rows.neighbors.get(k + AHEAD) {
                prefetch(grains.position, next as usize);
            }
            let x_j = record(grains.position, j);
            let (apart, _) = apart::<R, SIDES>(x_i, x_j, grains.sides);
            let reach = x_i[3] + x_j[3];
            let is_touching = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2] < reach * reach;
            // Every pair is written, only one that touches moves on to the next lane: the processor has nothing to guess, and reads ahead.
            lanes.grain[lanes.filled] = i as u32;
            lanes.partner[lanes.filled] = j as u32;
            lanes.entry[lanes.filled] = (k - base) as u32;
            lanes.filled += usize::from(is_touching);
            if is_touching {
                prefetch(grains.velocity, j);
                prefetch(grains.spin, j);
                prefetch(out.history, k - base);
            }
            if lanes.filled == LANES {
                lanes.fetch::<SIDES>(grains, rows, &mut out, limits.tick);
                lanes.resolve::<SIDES>(limits, uniform);
                lanes.give_back(rows, &mut out);
            }
        }
    }
    lanes.fetch::<SIDES>(grains, rows, &mut out, limits.tick);
    lanes.share[lanes.filled..].fill(zero);
    lanes.resolve::<SIDES>(limits, uniform);
    lanes.give_back(rows, &mut out);
    lanes.tally()
}

/// Asks for the record of grain i before it is needed: partners lie scattered in memory, and no processor guesses them.
#[inline(always)]
fn prefetch<R>(numbers: &[R], i: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = numbers.as_ptr().wrapping_add(i * RECORD);
        // SAFETY: a prefetch reads nothing that the program sees, and is allowed at any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (numbers, i);
}

/// The vector from j to i, or to the nearest image where sides are periodic, and how many times it passed sides that slide.
#[inline(always)]
fn apart<R: Real, const SIDES: u32>(x_i: &[R; RECORD], x_j: &[R; RECORD], sides: &Sides<R, R>) -> ([R; 3], R) {
    let apart = [x_i[0] - x_j[0], x_i[1] - x_j[1], x_i[2] - x_j[2]];
    if SIDES == OPEN {
        return (apart, R::new(0.0));
    }
    let [x, y, z] = apart;
    let image = nearest_image::<R, R>(&Vector3 { x, y, z }, sides, SIDES);
    (array(&image.apart), image.passed)
}

/// The numbers of a vector.
#[inline(always)]
fn array<R: Real>(v: &Vector3<R>) -> [R; 3] {
    [v.x, v.y, v.z]
}

/// The record of grain i.
#[inline(always)]
pub(crate) fn record<R: Real>(numbers: &[R], i: usize) -> &[R; RECORD] {
    let (records, _) = numbers.as_chunks::<RECORD>();
    &records[i]
}
