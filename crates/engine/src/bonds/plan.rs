//! Which pairs a world bonds, and the time step that they allow.

use crate::contact_records::array;
use crate::refusal::Refusal;
use crate::search::{Cells, pairs_within};
use crate::sides::{kind_of, sides_of};
use crate::simulation::vector;
use crate::world::{BondSize, Bonded, Search, Vec3, World};
use seixo_device::Cpu;
use seixo_laws::bond::{BondLaw, Span, beam};
use seixo_laws::motion::inertia;
use seixo_sweeps::sides::nearest_image;
use seixo_sweeps::views::RECORD;
use std::collections::{HashMap, HashSet};

/// A pair that is to be bonded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Index into [`World::bonds`].
    pub kind: usize,
    /// Places in the table of grains.
    pub pair: [usize; 2],
    /// Distance of the centers \[m\].
    pub length: f64,
    /// Size of the cross-section \[m\].
    pub size: f64,
}

/// Share of the stable limit of undamped bonds, 2/ω, above which steps are refused: bounds of ω by rows are not sharp.
const LIMIT_OF_PERIOD: f64 = 0.9;

/// The pairs that a world bonds at time zero, in the order of their kinds and ids.
pub(crate) fn pairs_to_bond(world: &World) -> Result<Vec<Found>, Refusal> {
    let grains = &world.grains;
    let mut found = Vec::new();
    let mut known = HashSet::new();
    for (kind, bonds) in world.bonds.iter().enumerate() {
        let mut pairs = match &bonds.between {
            Bonded::Near { groups, tolerance } => near_pairs(world, groups, *tolerance)?,
            Bonded::Pairs(ids) => {
                let places: HashMap<u32, usize> = grains.id.iter().copied().zip(0..).collect();
                let place = |id: u32| {
                    places.get(&id).copied().ok_or_else(|| Refusal::Bond {
                        name: bonds.name.clone(),
                        what: format!("it bonds grain {id}, which is not there"),
                    })
                };
                ids.iter()
                    .map(|&[a, b]| Ok([place(a)?, place(b)?]))
                    .collect::<Result<_, Refusal>>()?
            }
        };
        let carrier = grains.carriers();
        let is_one_body = |&[i, j]: &[usize; 2]| {
            let body = |k: usize| carrier.get(&grains.id[k]);
            body(i).is_some() && body(i) == body(j)
        };
        match &bonds.between {
            Bonded::Near { .. } => pairs.retain(|pair| !is_one_body(pair)),
            Bonded::Pairs(_) => {
                if let Some([i, j]) = pairs.iter().find(|pair| is_one_body(pair)) {
                    let (a, b) = (grains.id[*i], grains.id[*j]);
                    return Err(Refusal::Bond {
                        name: bonds.name.clone(),
                        what: format!("it bonds grains {a} and {b}, which one rigid body carries"),
                    });
                }
            }
        }
        for pair in &mut pairs {
            pair.sort_unstable_by_key(|&i| grains.id[i]);
        }
        pairs.sort_unstable_by_key(|pair| pair.map(|i| grains.id[i]));
        if matches!(bonds.between, Bonded::Near { .. }) {
            // Across narrow periodic sides a pair is found more than once.
            pairs.dedup();
        }
        if pairs.is_empty() {
            return Err(Refusal::Bond {
                name: bonds.name.clone(),
                what: "no two grains are near enough for it; give a larger tolerance, or grains that touch".into(),
            });
        }
        for pair in pairs {
            let [a, b] = pair.map(|i| grains.id[i]);
            if a == b || !known.insert([a, b]) {
                return Err(Refusal::Bond {
                    name: bonds.name.clone(),
                    what: format!("it bonds grains {a} and {b} that are one, or bonded already"),
                });
            }
            let [i, j] = pair;
            let apart = across(world, i, j);
            let length = apart.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length <= 0.0 {
                return Err(Refusal::Bond {
                    name: bonds.name.clone(),
                    what: format!("it bonds grains {a} and {b}, which are in one place"),
                });
            }
            let size = bonds.size_between(grains.radius[i], grains.radius[j]);
            found.push(Found { kind, pair, length, size });
        }
    }
    Ok(found)
}

/// x_j − x_i, to the nearest image where sides are periodic \[m\].
fn across(world: &World, i: usize, j: usize) -> Vec3 {
    let sides = sides_of(world.domain.as_ref(), 0.0);
    let kind = kind_of(world.domain.as_ref());
    let at = |i: usize| vector(world.grains.position[i]);
    let image = nearest_image::<f64, f64>(&at(j).minus(&at(i)), &sides, kind);
    array(&image.apart)
}

/// Pairs of grains of these groups whose centers are closer than (R_i + R_j)(1 + tolerance).
fn near_pairs(world: &World, groups: &[u32], tolerance: f64) -> Result<Vec<[usize; 2]>, Refusal> {
    let grains = &world.grains;
    let members: Vec<usize> = (0..grains.len()).filter(|&i| groups.contains(&grains.group[i])).collect();
    let largest = members.iter().fold(0.0, |most: f64, &i| most.max(grains.radius[i]));
    let skin = 2.0 * largest * tolerance;
    let position: Vec<f64> = members
        .iter()
        .flat_map(|&i| {
            let [x, y, z] = grains.position[i];
            [x, y, z, grains.radius[i]]
        })
        .collect();
    let mut cells = Cells::new(position.chunks_exact(RECORD).map(|record| record[3]), Search::Auto, skin);
    cells.sides = sides_of(world.domain.as_ref(), 0.0);
    cells.kind = kind_of(world.domain.as_ref());
    let near = pairs_within(&Cpu::new(0)?, cells, &position, skin);
    let is_near = |&[i, j]: &[usize; 2]| {
        let reach = (grains.radius[i] + grains.radius[j]) * (1.0 + tolerance);
        across(world, i, j).iter().map(|x| x * x).sum::<f64>() < reach * reach
    };
    Ok(near.into_iter().map(|(a, b)| [members[a], members[b]]).filter(is_near).collect())
}

/// The stable limit of a time step that these bonds set \[s\], and what sets it.
///
/// ω² is below the largest sum of a row of √M⁻¹ K √M⁻¹ (Gershgorin): every bond of a grain adds its stiffness along and across, and what couples
/// these with turns. Dashpots are added up in the same way, and lower the limit as that of an oscillator whose velocity is read half a step
/// ahead, by √(1 + g²) − g with their sum over ω.
pub(crate) fn limit_of_bonds(world: &World, found: &[Found]) -> Option<(f64, String)> {
    let grains = &world.grains;
    let mass_of = |i: usize| {
        let density = world.materials[grains.material[i] as usize].density;
        4.0 / 3.0 * std::f64::consts::PI * grains.radius[i].powi(3) * density
    };
    // Sums of stiffnesses and of dashpots, each of motion and of turning.
    let mut rows = vec![[[0.0f64; 2]; 2]; grains.len()];
    for one in found {
        let glue = world.bonds[one.kind].glue();
        let span = Span {
            length: one.length,
            arm: 0.5 * one.length,
            size: one.size,
            strength: 1.0,
        };
        let (axial, shear, lever, turning, couple) = if world.bonds[one.kind].law == BondLaw::Point {
            let stiffness = glue.youngs_modulus * glue.area * one.size * one.size / one.length;
            (
                stiffness,
                stiffness,
                0.5 * one.length * stiffness,
                0.25 * one.length * one.length * stiffness,
                0.0,
            )
        } else {
            let beam = beam::stiffness(&span, &glue);
            let swing = 2.0 * beam.swing;
            (
                beam.axial,
                swing / (one.length * one.length),
                swing / one.length,
                swing.max(beam.twist) + beam.couple.abs(),
                beam.couple,
            )
        };
        let [i, j] = one.pair;
        for (own, other) in [(i, j), (j, i)] {
            let (mass, far) = (mass_of(own), mass_of(other));
            let (moment, far_moment) = (inertia(mass, grains.radius[own]), inertia(far, grains.radius[other]));
            let k = axial.max(shear);
            let effective = mass * far / (mass + far);
            let effective_moment = moment * far_moment / (moment + far_moment);
            let drag = 2.0 * glue.damping_ratio * (axial * effective).sqrt();
            let turning_drag = 2.0 * glue.damping_ratio * (couple.max(0.0) * effective_moment).sqrt();
            let of_drag = [drag, 0.5 * drag * one.length, 0.25 * drag * one.length * one.length + turning_drag];
            for (row, [along, lever, about]) in rows[own].iter_mut().zip([[k, lever, turning], of_drag]) {
                row[0] += along / mass + along / (mass * far).sqrt() + lever / (mass * moment).sqrt() + lever / (mass * far_moment).sqrt();
                row[1] +=
                    about / moment + about / (moment * far_moment).sqrt() + lever / (moment * mass).sqrt() + lever / (moment * far).sqrt();
            }
        }
    }
    let limit_of = |i: usize| {
        let [of_springs, of_dashpots] = rows[i].map(|[of_motion, of_turning]| of_motion.max(of_turning));
        let pulse = of_springs.sqrt();
        let share = of_dashpots / pulse;
        LIMIT_OF_PERIOD * 2.0 / pulse * ((1.0 + share * share).sqrt() - share)
    };
    let stiffest = found.iter().min_by(|a, b| {
        let limit = |one: &Found| limit_of(one.pair[0]).min(limit_of(one.pair[1]));
        limit(a).total_cmp(&limit(b))
    })?;
    let [i, j] = stiffest.pair;
    let limit = limit_of(i).min(limit_of(j));
    let cause = format!(
        "the bonds {} at grains {} and {}, {:.3e} m long",
        world.bonds[stiffest.kind].name, grains.id[i], grains.id[j], stiffest.length
    );
    Some((limit, cause))
}

/// Refuses bonds with numbers that cannot be simulated.
pub(crate) fn check_bonds(world: &World) -> Result<(), Refusal> {
    for bonds in &world.bonds {
        let size = match bonds.size {
            BondSize::Share(size) | BondSize::Length(size) => size,
        };
        let flaws = [
            ("youngs_modulus", bonds.youngs_modulus, bonds.youngs_modulus > 0.0),
            (
                "poisson_ratio",
                bonds.poisson_ratio,
                bonds.poisson_ratio > -1.0 && bonds.poisson_ratio <= 0.5,
            ),
            ("size", size, size > 0.0),
            ("damping_ratio", bonds.damping_ratio, bonds.damping_ratio >= 0.0),
            ("tensile_strength", bonds.tensile_strength, bonds.tensile_strength > 0.0),
            ("cohesion", bonds.cohesion, bonds.cohesion > 0.0),
            ("fracture_energy", bonds.fracture_energy, bonds.fracture_energy > 0.0),
            (
                "friction_angle",
                bonds.friction_angle,
                (0.0..std::f64::consts::FRAC_PI_2).contains(&bonds.friction_angle),
            ),
            (
                "weibull_modulus",
                bonds.weibull_modulus.unwrap_or(1.0),
                bonds.weibull_modulus.unwrap_or(1.0) > 0.0,
            ),
        ];
        if let Some((what, value, _)) = flaws.into_iter().find(|(_, _, is_right)| !is_right) {
            return Err(Refusal::Bond {
                name: bonds.name.clone(),
                what: format!("its {what} is {value}, which no bond can have"),
            });
        }
    }
    Ok(())
}
