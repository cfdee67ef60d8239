//! Servos of divisible worlds: after each step on the GPU, the host takes them to the next one. Loads are sums of whole numbers there, the same in any
//! order, and so among any number of domains; a GPU, which sums them up in the order of its list, would not find the same.

use super::{Number, OnGpu, doubles, numbers};
use crate::simulation::Simulation;
use seixo_device::gpu::{Arrived, Copies, GpuError, Ticket};
use seixo_laws::Coordinate;
use seixo_sweeps::views::TOUCH;

/// Touches of grains and walls on their way to the host, and elements that are touched.
pub(super) struct Touches<C> {
    list: Ticket<u32>,
    touches: Ticket<C>,
}

/// Whether the host takes servos to the next step.
pub(super) fn are_led_by_host(host: &Simulation) -> bool {
    host.settings.divisible && host.walls.has_servos()
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Asks for what walls bear, where the host must know.
    pub(super) fn ask_for_touches(&self, host: &Simulation, copies: &mut Copies) -> Option<Touches<C>> {
        let near = self.walls.as_ref().filter(|_| are_led_by_host(host))?;
        Some(Touches {
            list: copies.add(&near.list, 0..near.entries),
            touches: copies.add(&near.touches, 0..near.entries * TOUCH),
        })
    }

    /// Tells the host what walls bear.
    pub(super) fn show_touches(host: &mut Simulation, arrived: &Arrived, fetched: Option<Touches<C>>) {
        if let Some(Touches { list, touches }) = fetched {
            (host.walls.list, host.walls.touches) = (arrived.take(list), doubles(&arrived.take(touches)));
        }
    }

    /// Takes the servos to where the host stands now, by the loads of the step before.
    pub(super) fn lead_servos(&self, host: &mut Simulation) {
        let Some(near) = self.walls.as_ref().filter(|_| are_led_by_host(host)) else {
            return;
        };
        let now = host.time();
        host.walls.control(now, host.stepping.dt);
        self.gpu.write(&near.servos, &numbers::<C>(host.walls.servos.iter().copied()));
    }

    /// As the two before, in a world that is whole.
    pub(super) fn fetch_and_lead(&self, host: &mut Simulation) -> Result<(), GpuError> {
        let mut copies = self.gpu.copies();
        let touches = self.ask_for_touches(host, &mut copies);
        if touches.is_some() {
            let arrived = copies.wait()?;
            Self::show_touches(host, &arrived, touches);
            self.lead_servos(host);
        }
        Ok(())
    }
}
