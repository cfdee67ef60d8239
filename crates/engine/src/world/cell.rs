//! Control of the lengths of a periodic cell.

/// What sets the length of a periodic cell along an axis. Stresses and strain rates are positive in compression.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AxisControl {
    /// The length stays.
    #[default]
    Fixed,
    /// A strain rate \[1/s\]: in a time dt the length shrinks by this rate times dt of its present value, so the sum of the strains is logarithmic.
    Rate(f64),
    /// The mean normal stress of the contacts along this axis \[Pa\]: a servo sets the strain rate.
    Stress(f64),
}

/// Control of the lengths of a domain with periodic sides: of a cell that is compressed or extended as a whole, without walls. Lower sides stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellControl {
    /// What sets the length along x, y and z.
    pub axes: [AxisControl; 3],
    /// Largest strain rate that a servo sets \[1/s\].
    pub rate_limit: f64,
    /// Strain rate per missing stress \[1/(s Pa)\]; `None` for the half of what the stiffest contact could take in a step.
    pub gain: Option<f64>,
    /// Time in which the integral part of the strain rate grows by its proportional part \[s\]; `None` for one from the stiffness of contacts.
    pub integral_time: Option<f64>,
}

impl CellControl {
    /// Largest of the stresses that servos set \[Pa\]; `None` without servos.
    pub(crate) fn largest_stress(&self) -> Option<f64> {
        let stresses = self.axes.iter().filter_map(|axis| match axis {
            AxisControl::Stress(stress) => Some(*stress),
            AxisControl::Fixed | AxisControl::Rate(_) => None,
        });
        stresses.reduce(f64::max)
    }

    /// What is wrong with the control of a domain with these periodic sides, and the remedy, if anything is.
    pub(crate) fn flaw(&self, periodic: [bool; 3]) -> Option<String> {
        for ((name, control), is_periodic) in ["x", "y", "z"].iter().zip(&self.axes).zip(periodic) {
            let is_sound = match control {
                AxisControl::Fixed => continue,
                AxisControl::Rate(rate) => rate.is_finite(),
                AxisControl::Stress(stress) => stress.is_finite() && *stress > 0.0,
            };
            if !is_periodic {
                return Some(format!(
                    "the sides along {name} are open, and only the length between periodic sides can be controlled; make these sides periodic, or leave \
                     {name} out"
                ));
            }
            if !is_sound {
                return Some(format!(
                    "{control:?} along {name} is no strain rate or positive stress; give a finite strain rate, or a stress above zero"
                ));
            }
        }
        let is_positive = |value: &f64| value.is_finite() && *value > 0.0;
        if self.largest_stress().is_some() && !is_positive(&self.rate_limit) {
            return Some(format!(
                "the limit of the strain rate is {} 1/s, and a servo needs one; give a positive number",
                self.rate_limit
            ));
        }
        let given = [("the gain", self.gain), ("the integral time", self.integral_time)];
        let wrong = given
            .into_iter()
            .find_map(|(what, value)| value.filter(|value| !is_positive(value)).map(|value| (what, value)));
        wrong.map(|(what, value)| format!("{what} of its servo is {value}; give a positive number, or leave it out"))
    }
}
