//! The time step that bonds allow.

use super::plan::{Found, Standing};
use crate::assemble::mass_of_sphere;
use crate::world::{Bonded, Bonds, World};
use seixo_laws::bond::{BondLaw, Span, beam};
use seixo_laws::motion::inertia;
use std::collections::HashMap;

/// Share of the stable limit of undamped bonds, 2/ω, above which steps are refused: bounds of ω by rows are not sharp.
const LIMIT_OF_PERIOD: f64 = 0.9;

/// Share of space that equal spheres fill at most \[-\].
const DENSEST: f64 = 0.74;

/// How close grains may be when they are bonded later, over the distance at which they touch \[-\].
const CLOSEST: f64 = 0.9;

/// Sums of a grain's row over its bonds: of springs and of dashpots, each of motion and of turning.
type Row = [[f64; 2]; 2];

/// How stiff a bond is.
struct Springs {
    /// Along the axis \[N/m\].
    axial: f64,
    /// Across it \[N/m\].
    shear: f64,
    /// What couples motion across with turning \[N\].
    lever: f64,
    /// Against turns \[N m\].
    turning: f64,
    /// Of turns against each other \[N m\].
    couple: f64,
    damping_ratio: f64,
    /// \[m\].
    length: f64,
}

impl Springs {
    /// Those of a bond of this length and size of its cross-section \[m\].
    fn of(bonds: &Bonds, length: f64, size: f64) -> Springs {
        let glue = bonds.glue();
        let span = Span {
            length,
            per_length: 1.0 / length,
            arm: 0.5 * length,
            size,
            strength: 1.0,
        };
        let (axial, shear, lever, turning, couple) = if bonds.law == BondLaw::Point {
            let stiffness = glue.axial * size * size / length;
            (
                stiffness,
                stiffness,
                0.5 * length * stiffness,
                0.25 * length * length * stiffness,
                0.0,
            )
        } else {
            let beam = beam::stiffness(&span, &glue);
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
            damping_ratio: glue.damping_ratio,
            length,
        }
    }

    /// Adds the bond to the row of a grain of this mass \[kg\] and radius \[m\], where the other has those `far` away.
    fn add_to(&self, row: &mut Row, [mass, radius]: [f64; 2], [far, far_radius]: [f64; 2]) {
        let length = self.length;
        let (moment, far_moment) = (inertia(mass, radius), inertia(far, far_radius));
        let k = self.axial.max(self.shear);
        let effective = mass * far / (mass + far);
        let effective_moment = moment * far_moment / (moment + far_moment);
        let drag = 2.0 * self.damping_ratio * (self.axial * effective).sqrt();
        let turning_drag = 2.0 * self.damping_ratio * (self.couple.max(0.0) * effective_moment).sqrt();
        let of_drag = [drag, 0.5 * drag * length, 0.25 * drag * length * length + turning_drag];
        for (row, [along, lever, about]) in row.iter_mut().zip([[k, self.lever, self.turning], of_drag]) {
            row[0] += along / mass + along / (mass * far).sqrt() + lever / (mass * moment).sqrt() + lever / (mass * far_moment).sqrt();
            row[1] +=
                about / moment + about / (moment * far_moment).sqrt() + lever / (moment * mass).sqrt() + lever / (moment * far).sqrt();
        }
    }
}

/// The limit that a grain with this row sets \[s\].
fn limit_of(row: &Row) -> f64 {
    let [of_springs, of_dashpots] = row.map(|[of_motion, of_turning]| of_motion.max(of_turning));
    let pulse = of_springs.sqrt();
    let share = of_dashpots / pulse;
    LIMIT_OF_PERIOD * 2.0 / pulse * ((1.0 + share * share).sqrt() - share)
}

/// The stable limit of a time step that these bonds, of some of `all` kinds, set \[s\], and what sets it.
///
/// ω² is below the largest sum of a row of √M⁻¹ K √M⁻¹ (Gershgorin): every bond of a grain adds its stiffness along and across, and what couples
/// these with turns. Dashpots are added up in the same way, and lower the limit as that of an oscillator whose velocity is read half a step
/// ahead, by √(1 + g²) − g with their sum over ω.
pub(crate) fn limit_of_bonds(all: &[Bonds], standing: &Standing, found: &[Found]) -> Option<(f64, String)> {
    let mut rows: Vec<Row> = vec![[[0.0; 2]; 2]; standing.id.len()];
    for one in found {
        let springs = Springs::of(&all[one.kind], one.length, one.size);
        let [i, j] = one.pair;
        for (own, far) in [(i, j), (j, i)] {
            let [own_numbers, far_numbers] = [own, far].map(|place| [standing.mass[place], standing.radius(place)]);
            springs.add_to(&mut rows[own], own_numbers, far_numbers);
        }
    }
    let limit = |one: &Found| limit_of(&rows[one.pair[0]]).min(limit_of(&rows[one.pair[1]]));
    let stiffest = found.iter().min_by(|a, b| limit(a).total_cmp(&limit(b)))?;
    let [a, b] = stiffest.pair.map(|i| standing.id[i]);
    let name = &all[stiffest.kind].name;
    let cause = format!("the bonds {name} at grains {a} and {b}, {:.3e} m long", stiffest.length);
    Some((limit(stiffest), cause))
}

/// What bonds that are made later will most likely allow \[s\]: it cannot be known before their grains are where they will be. As if around the
/// smallest grain there were as many like it as fit, in the densest packing, into a sphere that holds those within the tolerance – or as many as
/// the pairs give a grain –, and all a little closer than touching.
pub(crate) fn likely_limit(world: &World) -> Option<f64> {
    let grains = &world.grains;
    let limits = world.later.bonds.iter().filter_map(|&kind| world.bonds.get(kind)).map(|bonds| {
        let all = 0..grains.len();
        let (count, members): (f64, Vec<usize>) = match &bonds.between {
            Bonded::Near { groups, tolerance } => {
                let count = DENSEST * (3.0 + 2.0 * tolerance).powi(3) - 1.0;
                (count, all.filter(|&i| groups.contains(&grains.group[i])).collect())
            }
            Bonded::Pairs(pairs) => {
                let mut times: HashMap<u32, usize> = HashMap::new();
                pairs.as_flattened().iter().for_each(|&id| *times.entry(id).or_default() += 1);
                let count = times.values().copied().max().unwrap_or(0) as f64;
                (count, all.filter(|&i| times.contains_key(&grains.id[i])).collect())
            }
        };
        // Grains that come later may be of any group.
        let mut smallest = vec![f64::INFINITY; world.materials.len()];
        let now = members.iter().map(|&i| (grains.material[i], grains.radius[i]));
        let later = world.later.grains.iter().map(|kind| (kind.material, kind.radius[0]));
        for (material, radius) in now.chain(later) {
            let slot = &mut smallest[material as usize];
            *slot = slot.min(radius);
        }
        let of_smallest = smallest.iter().zip(&world.materials).filter(|(radius, _)| radius.is_finite());
        let limits = of_smallest.map(|(&radius, material)| {
            let springs = Springs::of(bonds, CLOSEST * 2.0 * radius, bonds.size_between(radius, radius));
            let own = [mass_of_sphere(radius, material.density), radius];
            let mut row: Row = [[0.0; 2]; 2];
            springs.add_to(&mut row, own, own);
            limit_of(&row.map(|sums| sums.map(|sum| count * sum)))
        });
        limits.fold(f64::INFINITY, f64::min)
    });
    limits.reduce(f64::min)
}
