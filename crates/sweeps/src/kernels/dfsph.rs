//! Incompressible fluids: the passes of their step. The host launches them one by one, depending on the convergence of the pressures.

use super::{raise, store_sum};
use crate::bodies::FREE;
use crate::dfsph::{density_error_of, density_rate_of, pressure_acceleration_of, pressure_corrected, viscous_force_of};
use crate::entries::{TILE, first_entry};
use crate::fluid::{FluidKernelConfig, advanced, going, kicked, kind_of, mass_at};
use crate::layout::{Record, four_numbers, last, load, record, xyz};
use crate::motion::StepParameters;
use cubecl::prelude::*;
use seixo_laws::fluid::{Smoother, dfsph};
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector};

/// Viscous forces on every particle, stored in `rate`. With gravity they give the velocities of fluid particles before the pressure correction,
/// stored in `half_velocity` and, for neighbors, in `moving`.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn viscous_forces<R: Real, C: Coordinate<R>>(
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
    stepping: &StepParameters<C, R>,
    n: u32,
    #[comptime] plan: FluidKernelConfig,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let force = viscous_force_of::<C, R>(
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
            TILE,
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

/// Sums the densities of fluid particles, which move with `moving`, and initializes their pressures. `solving` gets the pressures of the step before,
/// the source, and the pressure step. `thermal` holds the density error, the pressure that corrects densities, the one that keeps the flow
/// divergence-free, and the energy dissipated by viscosity. `in_full` is the smoothing function in the precision of coordinates.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn density_errors<R: Real, C: Coordinate<R>>(
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
    stepping: &StepParameters<C, R>,
    relaxation: R,
    share: R,
    n: u32,
    #[comptime] plan: FluidKernelConfig,
    #[comptime] corrects: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        if position[i * 4usize + 3usize] > C::new(0.0) {
            let found = density_error_of::<C, R>(
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
                TILE,
                plan,
            );
            let heat = thermal[i];
            let mut warm = C::near(heat.extract(2usize));
            if comptime!(corrects) {
                warm = C::near(heat.extract(1usize));
            }
            let source = dfsph::source::<R>(found.excess, found.density_rate, stepping.dt, share, corrects);
            let step = dfsph::step_of_pressure::<R>(found.stiffness, relaxation, stepping.dt);
            solving[i] = four_numbers::<R>(warm, warm, source, step);
            let excess = C::wide(larger::<R>(found.excess, R::new(0.0)));
            thermal[i] = four_numbers::<C>(excess, heat.extract(1usize), heat.extract(2usize), last::<C>(heat));
        }
    }
}

/// Pressure accelerations of fluid particles by the extrapolated pressures, stored in `moving` with these pressures.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn pressure_accelerations<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    kind: &[u32],
    media: &[R],
    position: &[C],
    solving: &[R],
    moving: &mut [Record<R>],
    smoother: &Smoother<R>,
    stepping: &StepParameters<C, R>,
    n: u32,
    #[comptime] plan: FluidKernelConfig,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let volume = C::near(position[i * 4usize + 3usize]);
        if volume > R::new(0.0) {
            let sum = pressure_acceleration_of::<C, R>(
                i,
                first_entry(i, tile_first),
                count[i],
                list,
                position,
                solving,
                smoother,
                &stepping.sides,
                0usize,
                TILE,
                plan,
            );
            let mass = mass_at::<R>(media, kind_of(kind, i, plan.mixed));
            let acceleration = sum.times(-(volume / mass));
            moving[i] = record::<R>(&acceleration, solving[i * 4usize]);
        }
    }
}

/// One iteration for the pressures of fluid particles. Each block stores its remaining density error, and the correlation of the last two changes.
/// With `keeps`, `errors` gets these of each particle.
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
    errors: &mut [Record<R>],
    smoother: &Smoother<R>,
    stepping: &StepParameters<C, R>,
    carry: R,
    n: u32,
    #[comptime] plan: FluidKernelConfig,
    #[comptime] keeps: bool,
) {
    let i = ABSOLUTE_POS;
    let mut left = Record::<R>::new(R::new(0.0));
    if i < n as usize {
        if position[i * 4usize + 3usize] > C::new(0.0) {
            let density_rate = density_rate_of::<C, R>(
                i,
                first_entry(i, tile_first),
                count[i],
                list,
                position,
                moving,
                smoother,
                &stepping.sides,
                TILE,
                plan,
            );
            let own = solving[i];
            let next = dfsph::corrected::<R>(
                own.extract(0usize),
                own.extract(1usize),
                own.extract(2usize),
                last::<R>(own),
                density_rate,
                stepping.dt,
                carry,
            );
            solving[i] = four_numbers::<R>(next.ahead, next.pressure, own.extract(2usize), last::<R>(own));
            left.insert(0usize, next.error);
            left.insert(1usize, next.overshoot);
        }
        if comptime!(keeps) {
            errors[i] = left;
        }
    }
    store_sum::<C, R>(power, left);
}

/// Applies the final pressures to every particle, with their accelerations in `moving`: fluid gets a new velocity, and walls get their force in
/// `rate`. The energy taken by forces is added to the last numbers of `half_velocity` and `thermal`; for wall particles it is the energy supplied by
/// moving walls.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn push_by_pressure<R: Real, C: Coordinate<R>>(
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
    stepping: &StepParameters<C, R>,
    n: u32,
    #[comptime] plan: FluidKernelConfig,
    #[comptime] corrects: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let sum = pressure_acceleration_of::<C, R>(
            i,
            first_entry(i, tile_first),
            count[i],
            list,
            position,
            moving,
            smoother,
            &stepping.sides,
            3usize,
            TILE,
            plan,
        );
        let volume = C::near(position[i * 4usize + 3usize]);
        let half = half_velocity[i];
        let heat = thermal[i];
        let coupled = rate[i];
        // Viscous forces belong to the correction of densities only, as they acted just before it.
        let mut viscous_force = Vector3::<R>::zero();
        if comptime!(corrects) {
            viscous_force = xyz::<R>(coupled);
        }
        if volume > R::new(0.0) {
            let before = xyz::<R>(flow[i]);
            let mass = mass_at::<R>(media, kind_of(kind, i, plan.mixed));
            let now = pressure_corrected::<C, R>(&sum, &viscous_force, &before, &xyz::<C>(half), volume, mass, stepping.dt);
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
            rate[i] = record::<R>(&xyz::<R>(coupled).plus(&now.force), R::new(0.0));
        } else {
            let force = sum.times(volume);
            rate[i] = record::<R>(&xyz::<R>(coupled).plus(&force), R::new(0.0));
            if comptime!(plan.moving) {
                let surface = load::<R>(walls, i * 4usize).times(stepping.dt);
                let way = going::<R>(&surface, walls[i * 4usize + 3usize]);
                let viscous = -viscous_force.dot(&surface);
                let projected = -force.dot(&way);
                thermal[i] = record::<C>(&xyz::<C>(heat), last::<C>(heat) + C::wide(viscous));
                half_velocity[i] = record::<C>(&xyz::<C>(half), last::<C>(half) + C::wide(projected));
            }
        }
    }
}

/// Moves fluid particles by their velocities. If the world is `decomposition_invariant`, `owned` marks ghosts, see [`crate::bodies`]: they stay.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn drift_on<R: Real, C: Coordinate<R>>(
    owned: &[u32],
    position: &mut [Record<C>],
    half_velocity: &[Record<C>],
    reference: &[Record<C>],
    flags: &mut [u32],
    stepping: &StepParameters<C, R>,
    n: u32,
    #[comptime] decomposition_invariant: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let here = position[i];
        let volume = last::<C>(here);
        let mut moves = volume > C::new(0.0);
        if comptime!(decomposition_invariant) {
            moves = moves && owned[i] == FREE;
        }
        if moves {
            let now = advanced::<C, R>(&xyz::<C>(here), &xyz::<C>(half_velocity[i]), &xyz::<C>(reference[i]), stepping);
            position[i] = record::<C>(&now.position, volume);
            raise(flags, 0u32, now.flags);
        }
    }
}
