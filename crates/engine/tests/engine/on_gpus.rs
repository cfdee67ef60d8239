//! Settings of worlds with and without decomposition into subdomains on a GPU.

use seixo_engine::world::{DeviceChoice, Precision, Settings};

/// On a GPU, with this number of subdomains; without decomposition, with the same order of sums.
pub fn among(domains: usize, precision: Precision) -> Settings {
    Settings {
        domains,
        decomposition_invariant: true,
        threads: 2,
        device: DeviceChoice::Gpu(None),
        precision: Some(precision),
        ..Settings::default()
    }
}
