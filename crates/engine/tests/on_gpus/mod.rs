//! Settings of worlds whole and divided among domains on a GPU.

use seixo_engine::world::{DeviceChoice, Precision, Settings};

/// On a GPU, among so many domains; undivided with the sums that divisions ask for.
pub fn among(domains: usize, precision: Precision) -> Settings {
    Settings {
        domains,
        divisible: true,
        threads: 2,
        device: DeviceChoice::Gpu(None),
        precision: Some(precision),
        ..Settings::default()
    }
}
