//! The energy ledger of a domain, and momenta.

use crate::state::Ledger;
use seixo_laws::Vector3;
use seixo_sweeps::contact::PowerSums;

/// Energies dissipated or transferred since time zero \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Work {
    pub normal_damping: f64,
    /// Work of tangential forces: into springs, by damping, by sliding.
    pub tangential: f64,
    pub tangential_damping: f64,
    pub local_damping: f64,
    pub wall: f64,
    pub left_domain: f64,
    pub inserted: f64,
    pub initial: f64,
}

/// The energy ledger of a domain.
pub(crate) struct EnergyLedger {
    pub work: Work,
    /// Powers at the last step.
    pub last_power_sums: PowerSums<f64>,
    /// Energies summed by the GPU.
    pub on_gpu: Ledger,
    /// Whether these are sums over the subdomains on GPUs that own the grains.
    pub is_of_subdomains: bool,
}

impl Default for EnergyLedger {
    fn default() -> EnergyLedger {
        EnergyLedger {
            work: Work::default(),
            last_power_sums: NO_CONTACT,
            on_gpu: Ledger::default(),
            is_of_subdomains: false,
        }
    }
}

impl Work {
    /// Sum of two.
    pub fn plus(&self, other: &Work) -> Work {
        Work {
            normal_damping: self.normal_damping + other.normal_damping,
            tangential: self.tangential + other.tangential,
            tangential_damping: self.tangential_damping + other.tangential_damping,
            local_damping: self.local_damping + other.local_damping,
            wall: self.wall + other.wall,
            left_domain: self.left_domain + other.left_domain,
            inserted: self.inserted + other.inserted,
            initial: self.initial + other.initial,
        }
    }
}

/// Linear and angular momentum of all grains, except those of bodies with prescribed motion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Σ m v \[kg m/s\].
    pub linear: [f64; 3],
    /// Σ x × m v + I ω about the origin \[kg m²/s\].
    pub angular: [f64; 3],
}

/// Power sums without contacts.
pub(crate) const NO_CONTACT: PowerSums<f64> = PowerSums {
    normal_power: 0.0,
    tangential_power: 0.0,
    damping_power: 0.0,
    wall_power: 0.0,
    excess: -1.0,
    across: Vector3 { x: 0.0, y: 0.0, z: 0.0 },
};

/// Half of the powers of a pair that two domains compute.
pub(crate) fn half_of(both: &PowerSums<f64>) -> PowerSums<f64> {
    PowerSums {
        normal_power: 0.5 * both.normal_power,
        tangential_power: 0.5 * both.tangential_power,
        damping_power: 0.5 * both.damping_power,
        wall_power: 0.5 * both.wall_power,
        excess: both.excess,
        across: both.across.times(0.5),
    }
}

/// Sum of two power sums.
pub(crate) fn sum(mut all: PowerSums<f64>, one: &PowerSums<f64>) -> PowerSums<f64> {
    all.normal_power += one.normal_power;
    all.tangential_power += one.tangential_power;
    all.damping_power += one.damping_power;
    all.wall_power += one.wall_power;
    all.excess = all.excess.max(one.excess);
    all.across = all.across.plus(&one.across);
    all
}
