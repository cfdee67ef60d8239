//! The books of one world, whole and divided.

use seixo_engine::Simulation;
use seixo_engine::state::Ledger;
use seixo_engine::world::Precision;

/// That both ledgers are the same but for the rounding of sums, whose parts may be in single precision on a GPU.
#[track_caller]
pub fn assert_same_ledger(whole: &Simulation, divided: &Simulation, what: &str) {
    let (one, other) = (whole.ledger(), divided.ledger());
    let scale = one.initial.abs() + one.kinetic + one.normal_damping + one.viscosity;
    let rounding = if whole.precision() == Precision::F64 { 1e-12 } else { 1e-6 };
    for ((a, b), name) in one.values().iter().zip(other.values()).zip(Ledger::NAMES) {
        assert!((a - b).abs() < rounding * scale, "{what}: {name}: {a} {b}");
    }
}
