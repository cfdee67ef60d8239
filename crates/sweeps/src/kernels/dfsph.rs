//! Incompressible fluids: the passes of their step, which the host launches one after another as it sees how far the pressures have come.

use super::{note, raise};
use crate::dfsph::{crowd_of, drag_of, lean_of, pushed, swelling_of};
use crate::entries::first_entry;
use crate::fluid::{FlowPlan, flowed, going, kicked, kind_of, mass_at};
use crate::motion::Stepping;
use crate::views::{Record, four_numbers, last, load, record, xyz};
use cubecl::prelude::*;
use seixo_laws::fluid::{Smoother, dfsph};
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector};

/// What viscosities do to every particle: `rate` gets their force. Gravity and this force bring particles of fluid to their velocities before
/// pressures push, in `half_velocity` and, for neighbors, in `moving`.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn drag<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    kind: &[u32],
    media: &[R],
    position: &[C],
    flow: &[R],
    seen: &[R],
    walls: &[R],
    half_velocity: &mut [Record<C>],
    moving: &mut [Record<R>],
    rate: &mut [Record<R>],
    smoother: &Smoother<R>,
    stepping: &Stepping<C, R>,
    n: u32,
    #[comptime] plan: FlowPlan,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let force = drag_of::<C, R>(
            i,
            first_entry(i, tile_first),
            count[i],
            list,
            position,
            flow,
            seen,
            walls,
            kind,
            media,
            &stepping.gravity,
            smoother,
            &stepping.sides,
            32usize,
            plan,
        );
        rate[i] = record::<R>(&force, R::new(0.0));
        if position[i * 4usize + 3usize] > C::new(0.0) {
            let mass = mass_at::<R>(media, kind_of(kind, i, plan.mixed));
            let half = half_velocity[i];
            let after = kicked::<C, R>(&xyz::<C>(half), &force, mass, stepping);
            half_velocity[i] = record::<C>(&after, last::<C>(half));
            moving[i] = record::<R>(&near_vector::<C, R>(&after), R::new(0.0));
        }
    }
}

/// Sums densities of particles of fluid, which move with `moving`, and sets out for their pressures: `solving` gets the pressures of the step before,
/// the source, and the step of pressure. `thermal` holds the excess of density, the pressure that corrects densities, the one that keeps the flow
/// free of divergence, and what viscosities took. `in_full` is the smoothing function with the digits of coordinates.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn crowd<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    kind: &[u32],
    media: &[R],
    position: &[C],
    moving: &[R],
    walls: &[R],
    thermal: &mut [Record<C>],
    solving: &mut [Record<R>],
    smoother: &Smoother<R>,
    in_full: &Smoother<C>,
    stepping: &Stepping<C, R>,
    relaxation: R,
    n: u32,
    #[comptime] plan: FlowPlan,
    #[comptime] corrects: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        if position[i * 4usize + 3usize] > C::new(0.0) {
            let found = crowd_of::<C, R>(
                i,
                first_entry(i, tile_first),
                count[i],
                list,
                position,
                moving,
                walls,
                kind,
                media,
                smoother,
                in_full,
                &stepping.sides,
                32usize,
                plan,
            );
            let heat = thermal[i];
            let mut warm = C::near(heat.extract(2usize));
            if comptime!(corrects) {
                warm = C::near(heat.extract(1usize));
            }
            let source = dfsph::source::<R>(found.excess, found.swelling, stepping.dt, corrects);
            let step = dfsph::step_of_pressure::<R>(found.stiffness, relaxation, stepping.dt);
            solving[i] = four_numbers::<R>(warm, warm, source, step);
            let excess = C::wide(larger::<R>(found.excess, R::new(0.0)));
            thermal[i] = four_numbers::<C>(excess, heat.extract(1usize), heat.extract(2usize), last::<C>(heat));
        }
    }
}

/// Accelerations of particles of fluid by the pressures that are looked at, into `moving`, with these pressures.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn lean<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    kind: &[u32],
    media: &[R],
    position: &[C],
    solving: &[R],
    moving: &mut [Record<R>],
    smoother: &Smoother<R>,
    stepping: &Stepping<C, R>,
    n: u32,
    #[comptime] plan: FlowPlan,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let volume = C::near(position[i * 4usize + 3usize]);
        if volume > R::new(0.0) {
            let sum = lean_of::<C, R>(
                i,
                first_entry(i, tile_first),
                count[i],
                list,
                position,
                solving,
                smoother,
                &stepping.sides,
                0usize,
                32usize,
                plan,
            );
            let mass = mass_at::<R>(media, kind_of(kind, i, plan.mixed));
            let acceleration = sum.times(-(volume / mass));
            moving[i] = record::<R>(&acceleration, solving[i * 4usize]);
        }
    }
}

/// One iteration for the pressures of particles of fluid; each cube notes the excess that was left, and how far the last two changes go the same way.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn correct<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    position: &[C],
    moving: &[R],
    solving: &mut [Record<R>],
    power: &mut [Record<C>],
    smoother: &Smoother<R>,
    stepping: &Stepping<C, R>,
    carry: R,
    n: u32,
    #[comptime] plan: FlowPlan,
) {
    let i = ABSOLUTE_POS;
    let mut left = Record::<R>::new(R::new(0.0));
    if i < n as usize {
        if position[i * 4usize + 3usize] > C::new(0.0) {
            let swelling = swelling_of::<C, R>(
                i,
                first_entry(i, tile_first),
                count[i],
                list,
                position,
                moving,
                smoother,
                &stepping.sides,
                32usize,
                plan,
            );
            let own = solving[i];
            let next = dfsph::corrected::<R>(
                own.extract(0usize),
                own.extract(1usize),
                own.extract(2usize),
                last::<R>(own),
                swelling,
                stepping.dt,
                carry,
            );
            solving[i] = four_numbers::<R>(next.ahead, next.pressure, own.extract(2usize), last::<R>(own));
            left.insert(0usize, next.error);
            left.insert(1usize, next.turn);
        }
    }
    note::<C, R>(power, left);
}

/// Lets the pressures push every particle whose error was found last, in `moving`: fluid goes on with its velocity, and walls feel it in `rate`. What
/// forces took is added up in the last numbers of `half_velocity` and `thermal`; with walls, it is what walls that move gave.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn push<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    kind: &[u32],
    media: &[R],
    position: &[C],
    moving: &[R],
    walls: &[R],
    half_velocity: &mut [Record<C>],
    thermal: &mut [Record<C>],
    flow: &mut [Record<R>],
    rate: &mut [Record<R>],
    smoother: &Smoother<R>,
    stepping: &Stepping<C, R>,
    n: u32,
    #[comptime] plan: FlowPlan,
    #[comptime] corrects: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let sum = lean_of::<C, R>(
            i,
            first_entry(i, tile_first),
            count[i],
            list,
            position,
            moving,
            smoother,
            &stepping.sides,
            3usize,
            32usize,
            plan,
        );
        let volume = C::near(position[i * 4usize + 3usize]);
        let half = half_velocity[i];
        let heat = thermal[i];
        let felt = rate[i];
        // Viscosities have been at work before densities are corrected, and only then.
        let mut drag = Vector3::<R>::zero();
        if comptime!(corrects) {
            drag = xyz::<R>(felt);
        }
        if volume > R::new(0.0) {
            let before = xyz::<R>(flow[i]);
            let mass = mass_at::<R>(media, kind_of(kind, i, plan.mixed));
            let now = pushed::<C, R>(&sum, &drag, &before, &xyz::<C>(half), volume, mass, stepping.dt);
            let pressure = moving[i * 4usize + 3usize];
            let mut all = pressure;
            let mut onward = Record::<C>::empty();
            onward.insert(0usize, heat.extract(0usize));
            if comptime!(corrects) {
                onward.insert(1usize, C::wide(pressure));
                onward.insert(2usize, heat.extract(2usize));
            } else {
                onward.insert(1usize, heat.extract(1usize));
                onward.insert(2usize, C::wide(pressure));
                all += C::near(heat.extract(1usize));
            }
            onward.insert(3usize, last::<C>(heat) + C::wide(now.viscous));
            thermal[i] = onward;
            half_velocity[i] = record::<C>(&now.kept, last::<C>(half) + C::wide(now.projected));
            flow[i] = record::<R>(&now.velocity, all);
            rate[i] = record::<R>(&xyz::<R>(felt).plus(&now.force), R::new(0.0));
        } else {
            let force = sum.times(volume);
            rate[i] = record::<R>(&xyz::<R>(felt).plus(&force), R::new(0.0));
            if comptime!(plan.moving) {
                let surface = load::<R>(walls, i * 4usize).times(stepping.dt);
                let way = going::<R>(&surface, walls[i * 4usize + 3usize]);
                let viscous = -drag.dot(&surface);
                let projected = -force.dot(&way);
                thermal[i] = record::<C>(&xyz::<C>(heat), last::<C>(heat) + C::wide(viscous));
                half_velocity[i] = record::<C>(&xyz::<C>(half), last::<C>(half) + C::wide(projected));
            }
        }
    }
}

/// Moves particles of fluid with their velocities.
#[cube(launch)]
pub fn drift_on<R: Real, C: Coordinate<R>>(
    position: &mut [Record<C>],
    half_velocity: &[Record<C>],
    reference: &[Record<C>],
    flags: &mut [u32],
    stepping: &Stepping<C, R>,
    n: u32,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let here = position[i];
        let volume = last::<C>(here);
        if volume > C::new(0.0) {
            let now = flowed::<C, R>(&xyz::<C>(here), &xyz::<C>(half_velocity[i]), &xyz::<C>(reference[i]), stepping);
            position[i] = record::<C>(&now.position, volume);
            raise(flags, 0u32, now.flags);
        }
    }
}
