//! Servos of decomposition-invariant runs: after each step on the GPU, the host advances them. Their loads are sums of whole numbers, which are the
//! same in any order and for any number of subdomains. A GPU sums in the order of its list, and would find other values.

use super::{GpuGrains, Number, doubles, numbers};
use crate::populations::Populations;
use seixo_device::gpu::{Arrived, Copies, Ticket};
use seixo_laws::Coordinate;
use seixo_sweeps::layout::WALL_CONTACT;

/// Downloads of wall contacts and of their elements that are in progress.
pub(super) struct WallContactReadback<C> {
    list: Ticket<u32>,
    wall_contacts: Ticket<C>,
}

/// Whether the host advances the servos.
pub(super) fn servos_run_on_host(host: &Populations) -> bool {
    host.context.settings.decomposition_invariant && host.walls.has_servos()
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Requests the download of wall contacts, if the host needs them.
    pub(super) fn request_wall_contacts(&self, host: &Populations, copies: &mut Copies) -> Option<WallContactReadback<C>> {
        let near = self.walls.as_ref().filter(|_| servos_run_on_host(host))?;
        Some(WallContactReadback {
            list: copies.add(&near.list, 0..near.entries),
            wall_contacts: copies.add(&near.wall_contacts, 0..near.entries * WALL_CONTACT),
        })
    }

    /// Stores the downloaded wall contacts on the host.
    pub(super) fn receive_wall_contacts(host: &mut Populations, arrived: &Arrived, fetched: Option<WallContactReadback<C>>) {
        if let Some(WallContactReadback { list, wall_contacts }) = fetched {
            (host.walls.list, host.walls.wall_contacts) = (arrived.take(list), doubles(&arrived.take(wall_contacts)));
            if host.walls.servos_need_positions() {
                // The contacts are those of the step before, and so are the walls.
                let before = (host.context.steps - 1) as f64 * host.context.stepping.dt;
                host.walls.place(before, false);
            }
        }
    }

    /// As [`super::GpuBackend::advance_servos`].
    pub(super) fn advance_servos_of(&self, host: &mut Populations) {
        let Some(near) = self.walls.as_ref().filter(|_| servos_run_on_host(host)) else {
            return;
        };
        let now = host.context.time();
        host.walls.control(now, host.context.stepping.dt);
        self.gpu.write(&near.servos, &numbers::<C>(host.walls.servos.iter().copied()));
    }

    /// As [`super::GpuBackend::send_servos`].
    pub(super) fn send_servos_of(&self, host: &Populations) {
        if let Some(near) = &self.walls {
            self.gpu.write(&near.servos, &numbers::<C>(host.walls.servos.iter().copied()));
        }
    }

    /// Requests the servos that a GPU advanced, if it does that.
    pub(super) fn request_servos(&self, host: &Populations, copies: &mut Copies) -> Option<Ticket<C>> {
        let near = self
            .walls
            .as_ref()
            .filter(|_| host.walls.has_servos() && !servos_run_on_host(host))?;
        Some(copies.add(&near.servos, 0..near.servos.len()))
    }
}
