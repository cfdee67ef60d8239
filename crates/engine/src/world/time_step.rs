//! A time step and its limits.

/// A time step and its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeStep {
    /// Current time step \[s\].
    pub value: f64,
    /// Time step with "auto" \[s\].
    pub auto: f64,
    /// Stability limit \[s\]; larger steps are rejected.
    pub limit: f64,
    /// Cause of the limit.
    pub cause: String,
}
