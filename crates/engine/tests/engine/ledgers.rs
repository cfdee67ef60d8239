//! The ledgers of one world with and without decomposition.

use seixo_engine::Simulation;
use seixo_engine::state::Ledger;
use seixo_engine::world::Precision;

/// Asserts that both ledgers agree up to rounding of sums, whose parts may be in single precision on a GPU.
#[track_caller]
pub fn assert_same_ledger(whole: &Simulation, decomposed: &Simulation, what: &str) {
    let (one, other) = (whole.ledger(), decomposed.ledger());
    let scale = one.initial.abs() + one.kinetic + one.normal_damping + one.viscosity;
    let rounding = if whole.precision() == Precision::F64 { 1e-12 } else { 1e-6 };
    for ((a, b), name) in one.values().iter().zip(other.values()).zip(Ledger::NAMES) {
        assert!((a - b).abs() < rounding * scale, "{what}: {name}: {a} {b}");
    }
}
