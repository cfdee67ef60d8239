//! Rows of neighbors as GPUs read them best: interleaved in tiles of 32 grains, so that neighboring units read neighboring words.
//!
//! Entry s of grain i stands at `first[i / 32] + 32 s + i % 32`; every grain lists all its neighbors. The highest bit of an entry tells that
//! the pair touched at the last step, and only then what it remembers counts: entries that do not touch cost neither a read nor a reset.

use crate::entries::{first_entry, history_at};
use crate::pair::{Outcome, Pair, depth_of, push_apart, rub_together, stick_together};
use crate::sides::{Image, Sides, nearest_image};
use crate::views::{Record, coefficients, last, supplement, xyz};
use cubecl::prelude::*;
use seixo_laws::contact::{Coefficients, Imprint, Memory};
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector, smaller};

/// Grains per tile.
pub const TILE: usize = 32;
/// The part of an entry that is the neighbor's place.
pub const PLACE: u32 = 0x7fff_ffff;
/// The bit of an entry that says that the pair touched at the last step.
pub const TOUCHED: u32 = 0x8000_0000;

/// What kind of contacts a scene has: kernels are compiled for just these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Whether grains rub and turn; else they only press.
    pub frictional: bool,
    /// Whether all grains are of one material.
    pub uniform: bool,
    /// Codes of the normal and the tangential law, where all contacts follow the same.
    pub laws: Option<(i64, i64)>,
    /// Which sides are periodic: [`crate::sides::OPEN`], [`crate::sides::PERIODIC`] or [`crate::sides::SHEARED`].
    pub sides: u32,
    /// Whether contacts are compound, see [`seixo_laws::contact::compound`].
    pub compound: bool,
    /// Numbers that a pair remembers: 3; 4 where a law asks for the contact radius; 10 where contacts are compound.
    pub numbers: usize,
    /// Whether smooth neighbors are met one by one, too: what compilers fuse must not depend on which of two a neighbor is.
    pub one_by_one: bool,
}

/// A grain as its contacts see it.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Grain<C: Real, R: Real> {
    /// Center \[m\].
    pub position: Vector3<C>,
    /// Radius \[m\].
    pub reach: C,
    /// The same, as laws read it.
    pub radius: R,
    /// Velocity \[m/s\].
    pub velocity: Vector3<R>,
    /// Mass \[kg\].
    pub mass: R,
    /// Angular velocity \[rad/s\].
    pub spin: Vector3<R>,
}

/// A grain from its records of position, velocity and spin.
#[cube]
#[inline(always)]
pub fn grain_of<C: Coordinate<R>, R: Real>(here: Record<C>, moving: Record<R>, turning: Record<R>) -> Grain<C, R> {
    Grain::<C, R> {
        position: xyz::<C>(here),
        reach: last::<C>(here),
        radius: C::near(last::<C>(here)),
        velocity: xyz::<R>(moving),
        mass: last::<R>(moving),
        spin: xyz::<R>(turning),
    }
}

/// What the contacts of a grain do to it.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Load<R: Real> {
    /// Force \[N\].
    pub force: Vector3<R>,
    /// Torque \[N m\].
    pub torque: Vector3<R>,
    /// Number of touches.
    pub touches: R,
    /// The grain's half of the power that normal damping takes \[W\].
    pub normal_power: R,
    /// Its half of the power that tangential forces take \[W\].
    pub tangential_power: R,
    /// The part of it that damping takes \[W\].
    pub damping_power: R,
    /// Its half of the power that sides put in which slide \[W\].
    pub side_power: R,
    /// How far the deepest overlap is above the limit \[m\]; negative below it.
    pub excess: R,
}

/// No load.
#[cube]
#[inline(always)]
pub fn no_load<R: Real>() -> Load<R> {
    Load::<R> {
        force: Vector3::<R>::zero(),
        torque: Vector3::<R>::zero(),
        touches: R::new(0.0),
        normal_power: R::new(0.0),
        tangential_power: R::new(0.0),
        damping_power: R::new(0.0),
        side_power: R::new(0.0),
        excess: R::new(-1.0),
    }
}

/// Contacts of grain i with the `count` neighbors of its row, history included.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn contacts_of<C: Coordinate<R>, R: Real>(
    i: usize,
    grain: &Grain<C, R>,
    count: u32,
    tile_first: &[u32],
    list: &mut [u32],
    history: &mut [R],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    material: &[u32],
    materials: u32,
    table: &[R],
    sides: &Sides<C, R>,
    dt: R,
    overlap_limit: R,
    #[comptime] kind: Kind,
) -> Load<R> {
    let mut all = no_load::<R>();
    let first = first_entry(i, tile_first);
    let own_row = material[if_uniform(i, kind.uniform)] * materials;
    let own = coefficients::<R>(table, (own_row + material[if_uniform(i, kind.uniform)]) as usize);
    let mut entry = first;
    let mut remembered = history_at(first, 0usize, kind.numbers);
    let mut word = list[first];
    if comptime!(kind.frictional || kind.one_by_one) {
        for _s in 0..count {
            // The next word is on its way while this neighbor is computed; behind the last there is room to read.
            let next = list[entry + 32usize];
            let neighbor = fetch::<C, R>(word, remembered, history, position, velocity, spin, kind);
            let pair = of_pair::<R>(&own, table, own_row, material, neighbor.place as usize, kind);
            if kind.compound {
                let row = (own_row + material[if_uniform(neighbor.place as usize, kind.uniform)]) as usize;
                resolve_compound::<C, R>(
                    grain,
                    &neighbor,
                    &pair,
                    table,
                    row,
                    entry,
                    remembered,
                    list,
                    history,
                    sides,
                    dt,
                    overlap_limit,
                    &mut all,
                    kind,
                );
            } else if kind.frictional {
                resolve::<C, R>(
                    grain,
                    &neighbor,
                    &pair,
                    entry,
                    remembered,
                    list,
                    history,
                    sides,
                    dt,
                    overlap_limit,
                    &mut all,
                    kind,
                );
            } else {
                push_on::<C, R>(grain, &neighbor, &pair, sides, overlap_limit, &mut all, kind.sides);
            }
            word = next;
            entry += 32usize;
            remembered += 32usize * kind.numbers;
        }
    } else {
        // Two at a time: reads of the one do not wait for the other, and smooth grains leave registers for both.
        let mut s = 0u32;
        while s < count {
            let is_second = s + 1u32 < count;
            let mut second = list[entry + 32usize];
            if !is_second {
                second = word;
            }
            let next = list[entry + 64usize];
            let one = fetch::<C, R>(word, remembered, history, position, velocity, spin, kind);
            let other = fetch::<C, R>(second, remembered, history, position, velocity, spin, kind);
            let pair = of_pair::<R>(&own, table, own_row, material, one.place as usize, kind);
            push_on::<C, R>(grain, &one, &pair, sides, overlap_limit, &mut all, kind.sides);
            if is_second {
                let pair = of_pair::<R>(&own, table, own_row, material, other.place as usize, kind);
                push_on::<C, R>(grain, &other, &pair, sides, overlap_limit, &mut all, kind.sides);
            }
            word = next;
            entry += 64usize;
            s += 2u32;
        }
    }
    all
}

/// A neighbor as its entry in the list finds it.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Neighbor<C: Real, R: Real> {
    /// Its place.
    pub place: u32,
    /// 1 where the two touched at the last step, else 0.
    pub touched: u32,
    /// Center \[m\].
    pub position: Vector3<C>,
    /// Radius \[m\].
    pub reach: C,
    /// Velocity \[m/s\].
    pub velocity: Vector3<R>,
    /// Mass \[kg\].
    pub mass: R,
    /// Angular velocity \[rad/s\].
    pub spin: Vector3<R>,
    /// What the contact remembers.
    pub memory: Memory<R>,
}

/// Reads all that a contact may need, without waiting to see whether it touches; memories only of those that did.
#[cube]
#[inline(always)]
pub(crate) fn fetch<C: Real, R: Real>(
    word: u32,
    remembered: usize,
    history: &mut [R],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    #[comptime] kind: Kind,
) -> Neighbor<C, R> {
    let place = word & 0x7fff_ffffu32;
    let touched = word >> 31u32;
    let there = position[place as usize];
    let moving = velocity[place as usize];
    let mut turning = Vector3::<R>::zero();
    let mut force = Vector3::<R>::zero();
    let mut contact_radius = R::new(0.0);
    if kind.frictional {
        turning = xyz::<R>(spin[place as usize]);
        if touched == 1u32 {
            force.x = history[remembered];
            force.y = history[remembered + 32usize];
            force.z = history[remembered + 64usize];
            if kind.numbers != 3usize {
                contact_radius = history[remembered + 96usize];
            }
        }
    }
    Neighbor::<C, R> {
        place,
        touched,
        position: xyz::<C>(there),
        reach: last::<C>(there),
        velocity: xyz::<R>(moving),
        mass: last::<R>(moving),
        spin: turning,
        memory: Memory::<R> { force, contact_radius },
    }
}

/// Adds what a neighbor does to a grain, and writes what their contact remembers.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(crate) fn resolve<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    neighbor: &Neighbor<C, R>,
    coefficients: &Coefficients<R>,
    entry: usize,
    remembered: usize,
    list: &mut [u32],
    history: &mut [R],
    sides: &Sides<C, R>,
    dt: R,
    overlap_limit: R,
    all: &mut Load<R>,
    #[comptime] kind: Kind,
) {
    let image = nearest_image::<C, R>(&grain.position.minus(&neighbor.position), sides, kind.sides);
    let depth = depth_of::<C>(&image.apart, grain.reach + neighbor.reach);
    if depth > C::new(0.0) {
        let pair = pair_of::<C, R>(grain, neighbor, &image, depth, sides, kind.sides);
        let allowed = overlap_limit * smaller::<R>(grain.radius, pair.radius_j);
        let outcome = rub_together::<R>(&pair, &grain.spin, &neighbor.spin, &neighbor.memory, coefficients, dt);
        if neighbor.touched == 0u32 {
            list[entry] = neighbor.place | 0x8000_0000u32;
        }
        history[remembered] = outcome.memory.force.x;
        history[remembered + 32usize] = outcome.memory.force.y;
        history[remembered + 64usize] = outcome.memory.force.z;
        if kind.numbers == 4usize {
            history[remembered + 96usize] = outcome.memory.contact_radius;
        }
        take::<R>(&outcome, allowed, all);
        slip::<C, R>(&outcome, &image, sides, all, kind.sides);
        all.touches += R::new(1.0);
    } else if neighbor.touched == 1u32 {
        list[entry] = neighbor.place;
    }
}

/// Adds a contact's force, torque and power to those of a grain.
#[cube]
#[inline(always)]
fn take<R: Real>(outcome: &Outcome<R>, allowed: R, all: &mut Load<R>) {
    let half = R::new(0.5);
    // Each of the two grains books half of the contact's work.
    all.normal_power += half * outcome.normal_power;
    all.tangential_power += half * outcome.tangential_power;
    all.damping_power += half * outcome.damping_power;
    all.force = all.force.plus(&outcome.force);
    all.torque = all.torque.plus(&outcome.bend.times(outcome.arm_i));
    all.excess = larger::<R>(all.excess, outcome.overlap - allowed);
}

/// Books half of the power that sides put in which slide: the force on the grain at the velocity of its neighbor's image over its neighbor's.
#[cube]
#[inline(always)]
fn slip<C: Coordinate<R>, R: Real>(outcome: &Outcome<R>, image: &Image<C>, sides: &Sides<C, R>, all: &mut Load<R>, #[comptime] kind: u32) {
    if comptime!(kind == 2) {
        all.side_power += R::new(0.5) * C::near(image.passed) * outcome.force.dot(&sides.slide);
    }
}

/// As [`resolve()`], where contacts are compound: also of a neighbor that held the grain a step ago.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn resolve_compound<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    neighbor: &Neighbor<C, R>,
    coefficients: &Coefficients<R>,
    table: &[R],
    row: usize,
    entry: usize,
    remembered: usize,
    list: &mut [u32],
    history: &mut [R],
    sides: &Sides<C, R>,
    dt: R,
    overlap_limit: R,
    all: &mut Load<R>,
    #[comptime] kind: Kind,
) {
    let zero = R::new(0.0);
    let image = nearest_image::<C, R>(&grain.position.minus(&neighbor.position), sides, kind.sides);
    let depth = depth_of::<C>(&image.apart, grain.reach + neighbor.reach);
    if depth > C::new(0.0) || neighbor.touched == 1u32 {
        let pair = pair_of::<C, R>(grain, neighbor, &image, depth, sides, kind.sides);
        let allowed = overlap_limit * smaller::<R>(grain.radius, pair.radius_j);
        let mut imprint = Imprint::<R> {
            rolling: Vector3::<R>::zero(),
            twisting: zero,
            largest_overlap: zero,
            holds: zero,
        };
        if neighbor.touched == 1u32 {
            imprint.rolling.x = history[remembered + 128usize];
            imprint.rolling.y = history[remembered + 160usize];
            imprint.rolling.z = history[remembered + 192usize];
            imprint.twisting = history[remembered + 224usize];
            imprint.largest_overlap = history[remembered + 256usize];
            imprint.holds = history[remembered + 288usize];
        }
        let result = stick_together::<R>(
            &pair,
            &grain.spin,
            &neighbor.spin,
            &neighbor.memory,
            &imprint,
            coefficients,
            &supplement::<R>(table, row),
            dt,
        );
        if result.imprint.holds > zero {
            list[entry] = neighbor.place | 0x8000_0000u32;
            history[remembered] = result.outcome.memory.force.x;
            history[remembered + 32usize] = result.outcome.memory.force.y;
            history[remembered + 64usize] = result.outcome.memory.force.z;
            history[remembered + 96usize] = result.outcome.memory.contact_radius;
            history[remembered + 128usize] = result.imprint.rolling.x;
            history[remembered + 160usize] = result.imprint.rolling.y;
            history[remembered + 192usize] = result.imprint.rolling.z;
            history[remembered + 224usize] = result.imprint.twisting;
            history[remembered + 256usize] = result.imprint.largest_overlap;
            history[remembered + 288usize] = result.imprint.holds;
            all.touches += R::new(1.0);
        } else {
            list[entry] = neighbor.place;
        }
        take::<R>(&result.outcome, allowed, all);
        slip::<C, R>(&result.outcome, &image, sides, all, kind.sides);
        all.torque = all.torque.plus(&result.couple);
    }
}

/// Adds what a smooth neighbor does to a grain.
#[cube]
#[inline(always)]
pub fn push_on<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    neighbor: &Neighbor<C, R>,
    coefficients: &Coefficients<R>,
    sides: &Sides<C, R>,
    overlap_limit: R,
    all: &mut Load<R>,
    #[comptime] kind: u32,
) {
    let image = nearest_image::<C, R>(&grain.position.minus(&neighbor.position), sides, kind);
    let depth = depth_of::<C>(&image.apart, grain.reach + neighbor.reach);
    if depth > C::new(0.0) {
        let pair = pair_of::<C, R>(grain, neighbor, &image, depth, sides, kind);
        let outcome = push_apart::<R>(&pair, coefficients);
        slip::<C, R>(&outcome, &image, sides, all, kind);
        let allowed = overlap_limit * smaller::<R>(grain.radius, pair.radius_j);
        all.normal_power += R::new(0.5) * outcome.normal_power;
        all.force = all.force.plus(&outcome.force);
        all.excess = larger::<R>(all.excess, outcome.overlap - allowed);
        all.touches += R::new(1.0);
    }
}

/// A grain and a neighbor that touches it.
#[cube]
#[inline(always)]
pub(crate) fn pair_of<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    neighbor: &Neighbor<C, R>,
    image: &Image<C>,
    depth: C,
    sides: &Sides<C, R>,
    #[comptime] kind: u32,
) -> Pair<R> {
    let mut velocity = grain.velocity.minus(&neighbor.velocity);
    if comptime!(kind == 2) {
        velocity = velocity.minus(&sides.slide.times(C::near(image.passed)));
    }
    Pair::<R> {
        apart: near_vector::<C, R>(&image.apart),
        depth: C::near(depth),
        velocity,
        radius_i: grain.radius,
        radius_j: C::near(neighbor.reach),
        mass_i: grain.mass,
        mass_j: neighbor.mass,
    }
}

/// Place 0 where all grains are of one material, so that one read serves all.
#[cube]
#[inline(always)]
pub fn if_uniform(i: usize, #[comptime] uniform: bool) -> usize {
    let mut place = i;
    if uniform {
        place = 0usize;
    }
    place
}

/// The coefficients of a pair: the grain's own where all are of one material. Laws that the kernel is compiled for are constants, so
/// nothing is left of the others.
#[cube]
#[inline(always)]
pub fn of_pair<R: Real>(
    own: &Coefficients<R>,
    table: &[R],
    own_row: u32,
    material: &[u32],
    j: usize,
    #[comptime] kind: Kind,
) -> Coefficients<R> {
    let mut pair = Coefficients::<R> {
        normal_stiffness: own.normal_stiffness,
        normal_damping: own.normal_damping,
        tangential_stiffness: own.tangential_stiffness,
        tangential_damping: own.tangential_damping,
        friction: own.friction,
        normal_law: own.normal_law,
        tangential_law: own.tangential_law,
    };
    if !kind.uniform {
        pair = coefficients::<R>(table, (own_row + material[j]) as usize);
    }
    if comptime!(kind.laws.is_some()) {
        pair.normal_law = R::from_int(comptime!(kind.laws.unwrap_or_default().0));
        pair.tangential_law = R::from_int(comptime!(kind.laws.unwrap_or_default().1));
    }
    pair
}
