//! Lines of the profile, one for each kind of pass.

/// Passes of a step, as the profile has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pass {
    HeatConduction,
    FilmExchange,
    Integration,
    WallMotion,
    NeighborLists,
    Contacts,
    WallContacts,
    Bonds,
    Fluids,
    EnergyLedger,
    Checks,
}

/// Names of the passes, in the same order.
pub(crate) const PASSES_OF_CPU: [&str; 11] = [
    "heat conduction",
    "film exchange",
    "integration",
    "wall motion",
    "neighbor lists",
    "contacts",
    "wall contacts",
    "bonds",
    "fluids",
    "energy ledger",
    "checks",
];
