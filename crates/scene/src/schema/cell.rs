//! Keys of the control of a periodic domain's lengths.

use crate::{
    diagnostics::UnlocatedDiagnostic,
    quantity::{Any, Frequency, Positive, Pressure, Quantity, Time},
};
use schemars::JsonSchema;
use seixo_engine::world::{AxisControl, CellControl};
use serde::{Deserialize, Serialize};

/// Control of the lengths between periodic sides: a cell that is compressed or extended as a whole, without walls. Lower sides stand. An axis that is
/// not named keeps its length.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "stress": { "x": "100 kPa", "y": "100 kPa" }, "strain_rate": { "z": "0.1 1/s" }, "rate_limit": "1 1/s" }))]
pub(crate) struct CellControlSection {
    /// Mean normal stresses of the contacts between grains that servos reach and keep, positive in compression.
    pub stress: Option<AxisStresses>,
    /// Strain rates, positive in compression: shares of the present lengths per time.
    pub strain_rate: Option<AxisRates>,
    /// Largest strain rate that a servo sets; needed with a `stress` here or in a stage.
    #[schemars(example = &"1 1/s")]
    pub rate_limit: Option<Quantity<Frequency, Positive>>,
    /// Time in which the integral part of a servo's strain rate grows by a constant proportional part; if left out, a value that follows from the
    /// stiffness of the current contacts. Shorter times follow faster, and swing more.
    #[schemars(example = &"10 ms")]
    pub integral_time: Option<Quantity<Time, Positive>>,
}

/// Stresses along axes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "x": "100 kPa", "y": "100 kPa", "z": "100 kPa" }))]
pub(crate) struct AxisStresses {
    /// Normal stress along x.
    #[schemars(example = &"100 kPa")]
    pub x: Option<Quantity<Pressure, Positive>>,
    /// Normal stress along y.
    #[schemars(example = &"100 kPa")]
    pub y: Option<Quantity<Pressure, Positive>>,
    /// Normal stress along z.
    #[schemars(example = &"100 kPa")]
    pub z: Option<Quantity<Pressure, Positive>>,
}

/// Strain rates along axes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "z": "0.1 1/s" }))]
pub(crate) struct AxisRates {
    /// Strain rate along x.
    #[schemars(example = &"-0.05 1/s")]
    pub x: Option<Quantity<Frequency, Any>>,
    /// Strain rate along y.
    #[schemars(example = &"-0.05 1/s")]
    pub y: Option<Quantity<Frequency, Any>>,
    /// Strain rate along z.
    #[schemars(example = &"0.1 1/s")]
    pub z: Option<Quantity<Frequency, Any>>,
}

/// What a stage sets of a periodic domain whose lengths are controlled. It replaces all that was set before: an axis that is not named keeps its length
/// from this moment on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "stress": { "x": "100 kPa", "y": "100 kPa" }, "strain_rate": { "z": "0.1 1/s" } }))]
pub(crate) struct SetDomain {
    /// Stresses, as in `control` of the domain.
    pub stress: Option<AxisStresses>,
    /// Strain rates, as in `control` of the domain.
    pub strain_rate: Option<AxisRates>,
}

/// What sets the lengths along the axes.
fn axes(stress: Option<&AxisStresses>, rate: Option<&AxisRates>, has_limit: bool) -> Result<[AxisControl; 3], UnlocatedDiagnostic> {
    let stresses = stress.map_or([None; 3], |stress| [stress.x, stress.y, stress.z]);
    let rates = rate.map_or([None; 3], |rate| [rate.x, rate.y, rate.z]);
    let mut axes = [AxisControl::Fixed; 3];
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        axes[axis] = match (stresses[axis], rates[axis]) {
            (None, None) => AxisControl::Fixed,
            (None, Some(rate)) => AxisControl::Rate(rate.si),
            (Some(_), None) if !has_limit => {
                let complaint = UnlocatedDiagnostic::new("a servo needs `rate_limit`, the largest strain rate that it may set");
                return Err(complaint.remedy("add rate_limit = \"1 1/s\" to world.domain.control"));
            }
            (Some(stress), None) => AxisControl::Stress(stress.si),
            (Some(_), Some(_)) => {
                let complaint = UnlocatedDiagnostic::new(format!("{name} has a stress and a strain rate, and one sets the other"));
                return Err(complaint.remedy(format!("keep one of stress.{name} and strain_rate.{name}")));
            }
        };
    }
    Ok(axes)
}

impl CellControlSection {
    /// The control at the start.
    pub fn control(&self) -> Result<CellControl, UnlocatedDiagnostic> {
        Ok(CellControl {
            axes: axes(self.stress.as_ref(), self.strain_rate.as_ref(), self.rate_limit.is_some())?,
            rate_limit: self.rate_limit.map_or(0.0, |limit| limit.si),
            gain: None,
            integral_time: self.integral_time.map(|time| time.si),
        })
    }
}

impl SetDomain {
    /// What sets the lengths from the start of a stage on; `section` is the control of the domain.
    pub fn axes(&self, section: Option<&CellControlSection>) -> Result<[AxisControl; 3], UnlocatedDiagnostic> {
        let Some(section) = section else {
            let complaint = UnlocatedDiagnostic::new("nothing controls the lengths of the domain, so a stage cannot set them");
            return Err(complaint.remedy("add control = { rate_limit = \"1 1/s\" } to world.domain: it keeps the lengths until this stage"));
        };
        axes(self.stress.as_ref(), self.strain_rate.as_ref(), section.rate_limit.is_some())
    }
}
