//! Columns of the tables of probes: names with units, `[-]` for pure numbers, and nothing for counts.

use super::FluidProbe;
use crate::{Probe, ProbeKind};
use seixo_analysis::SHARES;
use seixo_engine::state::{Ledger, ScalarLedger};

const STRESS: [&str; 20] = [
    "pressure [Pa]",
    "deviatoric [Pa]",
    "contact_xx [Pa]",
    "contact_yy [Pa]",
    "contact_zz [Pa]",
    "contact_xy [Pa]",
    "contact_xz [Pa]",
    "contact_yz [Pa]",
    "kinetic_xx [Pa]",
    "kinetic_yy [Pa]",
    "kinetic_zz [Pa]",
    "kinetic_xy [Pa]",
    "kinetic_xz [Pa]",
    "kinetic_yz [Pa]",
    "sigma_xx [Pa]",
    "sigma_yy [Pa]",
    "sigma_zz [Pa]",
    "sigma_xy [Pa]",
    "sigma_xz [Pa]",
    "sigma_yz [Pa]",
];
const STRAIN: [&str; 7] = [
    "strain_xx [-]",
    "strain_yy [-]",
    "strain_zz [-]",
    "strain_xy [-]",
    "strain_xz [-]",
    "strain_yz [-]",
    "volumetric [-]",
];
const CELL: [&str; 7] = [
    "length_x [m]",
    "length_y [m]",
    "length_z [m]",
    "strain_x [-]",
    "strain_y [-]",
    "strain_z [-]",
    "volume [m^3]",
];
const LOAD: [&str; 12] = [
    "contact_force_x [N]",
    "contact_force_y [N]",
    "contact_force_z [N]",
    "contact_torque_x [N m]",
    "contact_torque_y [N m]",
    "contact_torque_z [N m]",
    "fluid_force_x [N]",
    "fluid_force_y [N]",
    "fluid_force_z [N]",
    "fluid_torque_x [N m]",
    "fluid_torque_y [N m]",
    "fluid_torque_z [N m]",
];
const BODY: [&str; 12] = [
    "x [m]",
    "y [m]",
    "z [m]",
    "roll [rad]",
    "pitch [rad]",
    "yaw [rad]",
    "velocity_x [m/s]",
    "velocity_y [m/s]",
    "velocity_z [m/s]",
    "angular_velocity_x [rad/s]",
    "angular_velocity_y [rad/s]",
    "angular_velocity_z [rad/s]",
];
const FABRIC: [&str; 8] = [
    "anisotropy [-]",
    "fabric_xx [-]",
    "fabric_yy [-]",
    "fabric_zz [-]",
    "fabric_xy [-]",
    "fabric_xz [-]",
    "fabric_yz [-]",
    "contacts",
];
const FRAGMENTS: [&str; 7] = [
    "fragments",
    "single_grains",
    "largest_share [-]",
    "largest_mass [kg]",
    "mean_mass [kg]",
    "d50 [m]",
    "d80 [m]",
];
const RESIDENCE: [&str; 9] = [
    "passed",
    "inside",
    "mean [s]",
    "deviation [s]",
    "p5 [s]",
    "p25 [s]",
    "p50 [s]",
    "p75 [s]",
    "p95 [s]",
];
const FLUID: [&str; 9] = [
    "particles",
    "mass [kg]",
    "kinetic [J]",
    "v_rms [m/s]",
    "v_max [m/s]",
    "mach_max [-]",
    "p_max [Pa]",
    "density_min [-]",
    "density_max [-]",
];

/// Statistics of a column, and whether they are whole numbers if the column has whole numbers.
const STATISTICS: [(&str, bool); 4] = [("mean", false), ("deviation", false), ("lowest", true), ("highest", true)];

impl Probe {
    /// Headers of the columns after the time, as in `force_z [N]`. A header without brackets is that of a whole number. After the values follow their
    /// statistics: the means of all columns, then the standard deviations, the smallest and the largest values.
    pub fn columns(&self) -> Vec<String> {
        let mut values = self.what.columns();
        if self.carrier.is_some() {
            values.extend(self.what.columns_of_places());
        }
        let statistics = STATISTICS.iter().filter(|_| self.average.is_some());
        let of_values = statistics.flat_map(|(name, are_alike)| {
            let header = move |value: &String| {
                let unit = if value.contains('[') || *are_alike { "" } else { " [-]" };
                format!("{name}_{value}{unit}")
            };
            values.iter().map(header)
        });
        let of_values: Vec<String> = of_values.collect();
        [values, of_values].concat()
    }
}

impl ProbeKind {
    /// Headers of the columns of the present positions of its places, which a carrier moves.
    fn columns_of_places(&self) -> Vec<String> {
        if !matches!(self, ProbeKind::Fluid(_)) {
            return ["at_x [m]", "at_y [m]", "at_z [m]"].map(str::to_owned).to_vec();
        }
        let of_gauge = |number: usize| ["x", "y", "z"].map(|axis| format!("{axis}{number} [m]"));
        (1..=self.places().len()).flat_map(of_gauge).collect()
    }

    /// Headers of the columns of its values.
    fn columns(&self) -> Vec<String> {
        let names: &[&str] = match self {
            ProbeKind::Fluid(what) => return what.columns(),
            ProbeKind::ScalarLedger(scalar) => return ScalarLedger::names(*scalar).into(),
            ProbeKind::GroupScalar { scalar, .. } => {
                return ["mean", "lowest", "highest"]
                    .map(|name| format!("{name} [{}]", scalar.unit()))
                    .into();
            }
            ProbeKind::Coordination(_) => {
                let shares = (0..SHARES).map(|k| format!("share_{k} [-]"));
                let before = ["mean [-]", "without_rattlers [-]", "rattlers [-]"].map(str::to_owned);
                return before.into_iter().chain(shares).collect();
            }
            ProbeKind::Body { .. } => return [BODY, LOAD].concat().into_iter().map(str::to_owned).collect(),
            ProbeKind::GroupLoad { .. } => &LOAD,
            ProbeKind::Position { .. } | ProbeKind::GroupCenter { .. } => &["x [m]", "y [m]", "z [m]"],
            ProbeKind::CountThrough { .. } => &["count", "mass [kg]", "mass_flow [kg/s]"],
            ProbeKind::ResidenceTime { .. } => &RESIDENCE,
            ProbeKind::Energy => &Ledger::NAMES,
            ProbeKind::Cell { .. } => &CELL,
            ProbeKind::Bonds => &["bonds_made", "bonds_intact"],
            ProbeKind::Fragments { .. } => &FRAGMENTS,
            ProbeKind::WallForce { .. } | ProbeKind::GroupForce { .. } => &["force_x [N]", "force_y [N]", "force_z [N]"],
            ProbeKind::WallHeat { .. } => &["heat_flow [W]", "heat [J]"],
            ProbeKind::Stress(_) => &STRESS,
            ProbeKind::Strain { .. } => &STRAIN,
            ProbeKind::Fabric(_) => &FABRIC,
            ProbeKind::SolidFraction(_) => &["solid_fraction [-]"],
            ProbeKind::Mixing { .. } => &["lacey_index [-]", "entropy_index [-]", "cells"],
            ProbeKind::AngleOfRepose { axis: None, .. } => &["angle [deg]", "error [deg]", "tip [m]", "radius [m]"],
            ProbeKind::AngleOfRepose { axis: Some(_), .. } => &["angle [deg]", "error [deg]", "height [m]", "width [m]"],
            ProbeKind::DeadZone { .. } => &["dead_share [-]", "mean_speed [m/s]", "limit [m/s]", "filled [-]"],
            ProbeKind::WallTorque { .. } => &["torque_x [N m]", "torque_y [N m]", "torque_z [N m]"],
            ProbeKind::WallPower { .. } => &["power [W]"],
            ProbeKind::WallPosition { .. } => &["x [m]", "y [m]", "z [m]", "angle [rad]"],
            ProbeKind::WornVolume { .. } => &["worn_volume [m^3]"],
        };
        names.iter().map(|&name| name.to_owned()).collect()
    }
}

impl FluidProbe {
    fn columns(&self) -> Vec<String> {
        match self {
            FluidProbe::Totals => FLUID.map(str::to_owned).to_vec(),
            FluidProbe::Pressure { at } => gauges(at, &["p"], "Pa"),
            FluidProbe::Velocity { at } => gauges(at, &["vx", "vy", "vz"], "m/s"),
            FluidProbe::SurfaceHeight { at } => gauges(at, &["height"], "m"),
            FluidProbe::Front { .. } => vec!["front [m]".to_owned()],
            FluidProbe::FlowRate { .. } => vec!["flow_rate [m^3/s]".to_owned()],
        }
    }
}

/// Headers of the columns of gauges: each with its number, and its place in meters, as in `p2 (0.1 0 0.05) [Pa]`.
fn gauges<const N: usize>(at: &[[f64; N]], names: &[&str], unit: &str) -> Vec<String> {
    let place = |place: &[f64; N]| place.map(|coordinate| coordinate.to_string()).join(" ");
    let one = |(number, at): (usize, &[f64; N])| {
        let at = place(at);
        names
            .iter()
            .map(move |name| format!("{name}{} ({at}) [{unit}]", number + 1))
            .collect::<Vec<_>>()
    };
    at.iter().enumerate().flat_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Average, Carrier};

    #[test]
    fn statistics_have_the_unit_of_their_column_and_means_of_counts_are_numbers() {
        let probe = Probe {
            name: "flow".to_owned(),
            every: 1.0,
            average: Some(Average {
                window: 1.0,
                sample_every: 0.1,
            }),
            what: ProbeKind::Mixing {
                groups: vec![0, 1],
                cells: [1; 3],
                bounds: None,
            },
            carrier: None,
        };
        let columns = probe.columns();
        assert_eq!(columns.len(), 15);
        assert_eq!(
            [&columns[0], &columns[3], &columns[5], &columns[8], &columns[11]],
            [
                "lacey_index [-]",
                "mean_lacey_index [-]",
                "mean_cells [-]",
                "deviation_cells [-]",
                "lowest_cells"
            ]
        );
    }

    #[test]
    fn gauges_have_their_number_place_and_unit() {
        let at = vec![[0.1, 0.0, -0.05], [0.2, 1.0, 3.0]];
        assert_eq!(
            ProbeKind::Fluid(FluidProbe::Pressure { at: at.clone() }).columns(),
            ["p1 (0.1 0 -0.05) [Pa]", "p2 (0.2 1 3) [Pa]"]
        );
        let velocity = FluidProbe::Velocity { at }.columns();
        assert_eq!(
            (velocity[1].as_str(), velocity[5].as_str()),
            ("vy1 (0.1 0 -0.05) [m/s]", "vz2 (0.2 1 3) [m/s]")
        );
        // Where they are later follows the values.
        let riding = Probe {
            name: "gauges".to_owned(),
            every: 1.0,
            average: None,
            what: ProbeKind::Fluid(FluidProbe::SurfaceHeight {
                at: vec![[0.1, 0.0], [0.2, 1.0]],
            }),
            carrier: Some(Carrier::Wall(0)),
        };
        assert_eq!(
            riding.columns(),
            [
                "height1 (0.1 0) [m]",
                "height2 (0.2 1) [m]",
                "x1 [m]",
                "y1 [m]",
                "z1 [m]",
                "x2 [m]",
                "y2 [m]",
                "z2 [m]"
            ]
        );
    }
}
