//! Longest time step for bonds.

use super::plan::{BondCandidate, BondPositions};
use crate::world::{Bonded, Bonds, LightestSphere, World, lightest_spheres};
use seixo_laws::bond::{BondGeometry, BondLaw, BondParameters, beam, point};
use seixo_laws::motion::inertia;
use std::collections::HashMap;

/// Share of the stable limit of undamped bonds, 2/ω, above which steps are rejected: the bounds of ω by row sums are not sharp.
const LIMIT_OF_PERIOD: f64 = 0.9;

/// Largest share of space that equal spheres fill \[-\].
const DENSEST: f64 = 0.74;

/// Smallest assumed distance of grains in bonds made later, over the sum of their radii \[-\].
const CLOSEST: f64 = 0.9;

/// Row sums of a grain over its bonds: of springs and of dashpots, each for translation and rotation.
type Row = [[f64; 2]; 2];

/// Stiffness of a bond.
struct Springs {
    /// Axial stiffness \[N/m\].
    axial: f64,
    /// Shear stiffness \[N/m\].
    shear: f64,
    /// Coupling of transverse displacement and rotation \[N\].
    lever: f64,
    /// Rotational stiffness \[N m\].
    turning: f64,
    /// Coupling of the rotations of both grains \[N m\].
    couple: f64,
    bond_parameters: BondParameters<f64>,
    /// Largest distance of its middle from the center of a grain \[m\].
    reach: f64,
}

/// A grain at an end of a bond.
#[derive(Clone, Copy)]
struct Held {
    /// Mass \[kg\].
    mass: f64,
    /// Smallest moment of inertia \[kg m²\].
    moment: f64,
    /// Moment of inertia that dashpots take for it \[kg m²\].
    damped: f64,
}

impl Held {
    /// A sphere.
    fn sphere(mass: f64, radius: f64) -> Held {
        let moment = inertia(mass, radius);
        Held {
            mass,
            moment,
            damped: moment,
        }
    }
}

impl Springs {
    /// Stiffness of a bond of this length and size of its cross-section \[m\], and with this stiffness \[N/m\] if it has one of its own.
    fn of(bonds: &Bonds, length: f64, size: f64, stiffness: Option<f64>) -> Springs {
        let bond_parameters = bonds.parameters_of_pair(stiffness);
        let span = BondGeometry {
            length,
            per_length: 1.0 / length,
            arm: 0.5 * length,
            size,
            strength: 1.0,
        };
        let (axial, shear, lever, turning, couple) = if bonds.law == BondLaw::Point {
            let stiffness = point::stiffness(size, 1.0 / length, &bond_parameters);
            (
                stiffness,
                stiffness,
                0.5 * length * stiffness,
                0.25 * length * length * stiffness,
                0.0,
            )
        } else {
            let beam = beam::stiffness(&span, &bond_parameters);
            let swing = 2.0 * beam.swing;
            (
                beam.axial,
                swing / (length * length),
                swing / length,
                swing.max(beam.twist) + beam.couple.abs(),
                beam.couple,
            )
        };
        Springs {
            axial,
            shear,
            lever,
            turning,
            couple,
            bond_parameters,
            reach: 0.5 * length,
        }
    }

    /// The same, attached so far from the centers of its grains \[m\].
    fn attached(self, arm: f64) -> Springs {
        let k = self.axial.max(self.shear);
        Springs {
            lever: self.lever + k * arm,
            turning: self.turning + 2.0 * self.lever * arm + k * arm * arm,
            reach: self.reach + arm,
            ..self
        }
    }

    /// Adds the bond to the row of one of its grains; `other` is the other one.
    fn add_to(&self, row: &mut Row, own: Held, other: Held) {
        let Held { mass, moment, damped } = own;
        let (far, far_moment) = (other.mass, other.moment);
        let k = self.axial.max(self.shear);
        let effective = mass * far / (mass + far);
        let effective_moment = damped * other.damped / (damped + other.damped);
        let drag = point::drag(self.axial, effective, &self.bond_parameters);
        let turning_drag = 2.0 * self.bond_parameters.damping_ratio * (self.couple.max(0.0) * effective_moment).sqrt();
        let of_drag = [drag, drag * self.reach, drag * self.reach * self.reach + turning_drag];
        for (row, [along, lever, about]) in row.iter_mut().zip([[k, self.lever, self.turning], of_drag]) {
            row[0] += along / mass + along / (mass * far).sqrt() + lever / (mass * moment).sqrt() + lever / (mass * far_moment).sqrt();
            row[1] +=
                about / moment + about / (moment * far_moment).sqrt() + lever / (moment * mass).sqrt() + lever / (moment * far).sqrt();
        }
    }
}

/// ω of a grain with this row \[1/s\], and g, the sum of its dashpots over ω \[-\].
fn pulse_and_share(row: &Row) -> [f64; 2] {
    let [of_springs, of_dashpots] = row.map(|[of_motion, of_turning]| of_motion.max(of_turning));
    let pulse = of_springs.sqrt();
    [pulse, of_dashpots / pulse]
}

/// Limit of the time step for a grain with this row \[s\].
fn limit_of(row: &Row) -> f64 {
    let [pulse, share] = pulse_and_share(row);
    let root = (1.0 + share * share).sqrt();
    // √(1 + g²) − g; the difference of two large numbers would be zero.
    let left = if share > 1.0 { 1.0 / (root + share) } else { root - share };
    LIMIT_OF_PERIOD * 2.0 / pulse * left
}

/// Stable limit of the time step for these bonds, of some of `all` kinds \[s\], and its cause.
///
/// ω² is below the largest row sum of √M⁻¹ K √M⁻¹ (Gershgorin). Each bond of a grain adds its axial and shear stiffness and the coupling of
/// these with rotations. Dashpots are summed in the same way. They lower the limit like that of an oscillator whose velocity is read half a step
/// ahead, by √(1 + g²) − g with their sum over ω.
pub(crate) fn limit_of_bonds(all: &[Bonds], state: &BondPositions, found: &[BondCandidate]) -> Option<(f64, String)> {
    let mut rows: Vec<Row> = vec![[[0.0; 2]; 2]; state.id.len()];
    for one in found {
        let springs = Springs::of(&all[one.kind], one.length, one.size, one.stiffness);
        let arms = one
            .attachment
            .map_or([0.0; 2], |attachment| attachment.arms.map(|arm| arm.length()));
        let springs = springs.attached(arms[0].max(arms[1]));
        let held = |end: usize| {
            let place = one.pair[end];
            let mass = state.mass[place];
            let radius = one.attachment.map_or(state.radius(place), |attachment| attachment.radii[end]);
            Held {
                mass,
                moment: state.moment(place),
                damped: inertia(mass, radius),
            }
        };
        for (own, far) in [(0, 1), (1, 0)] {
            springs.add_to(&mut rows[one.pair[own]], held(own), held(far));
        }
    }
    let limit = |one: &BondCandidate| limit_of(&rows[one.pair[0]]).min(limit_of(&rows[one.pair[1]]));
    let stiffest = found.iter().min_by(|a, b| limit(a).total_cmp(&limit(b)))?;
    let [a, b] = stiffest.pair.map(|i| state.id[i]);
    let name = &all[stiffest.kind].name;
    let mut cause = format!("the bonds {name} at grains {a} and {b}, {:.3e} m long", stiffest.length);
    let most_damped = stiffest.pair.map(|i| pulse_and_share(&rows[i])[1]);
    if most_damped.iter().any(|share| *share > 1.0) {
        cause += ", whose damping outweighs their stiffness (a smaller one allows longer steps)";
    }
    Some((limit(stiffest), cause))
}

/// Probable limit of the time step for bonds that are made later \[s\]. The exact one depends on unknown positions of their grains.
///
/// It assumes that the smallest grain is bonded to as many equal ones as fit, in the densest packing, into a sphere of the tolerance, or to as many
/// as the pairs give a grain. All are slightly closer than in contact.
pub(crate) fn likely_limit(world: &World) -> Option<f64> {
    let grains = &world.grains;
    let limits = world.later.bonds.iter().filter_map(|&kind| world.bonds.get(kind)).map(|bonds| {
        let all = 0..grains.len();
        let (count, is_member): (f64, Vec<bool>) = match &bonds.between {
            Bonded::Near { groups, tolerance } => {
                let count = DENSEST * (3.0 + 2.0 * tolerance).powi(3) - 1.0;
                (count, all.map(|i| groups.contains(&grains.group[i])).collect())
            }
            Bonded::Pairs(pairs) => {
                let mut times: HashMap<u32, usize> = HashMap::new();
                pairs.as_flattened().iter().for_each(|&id| *times.entry(id).or_default() += 1);
                let count = times.values().copied().max().unwrap_or(0) as f64;
                (count, all.map(|i| times.contains_key(&grains.id[i])).collect())
            }
        };
        // Grains that are added later may be of any group.
        let spheres = lightest_spheres(world, |i| is_member[i]);
        let stiffest = bonds.of_pairs.stiffness.iter().copied().reduce(f64::max);
        let limits = spheres.iter().map(|&LightestSphere { radius, mass, .. }| {
            let springs = Springs::of(bonds, CLOSEST * 2.0 * radius, bonds.size_between(radius, radius), stiffest);
            let own = Held::sphere(mass, radius);
            let mut row: Row = [[0.0; 2]; 2];
            springs.add_to(&mut row, own, own);
            limit_of(&row.map(|sums| sums.map(|sum| count * sum)))
        });
        limits.fold(f64::INFINITY, f64::min)
    });
    limits.reduce(f64::min)
}
