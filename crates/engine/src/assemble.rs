//! Conversion of a world to columns and coefficients, and checks of its values.

use crate::bonds::check_bonds;
use crate::cell_control::check_cell;
use crate::fields::{Fields, computed};
use crate::refusal::WorldError;
use crate::scalars::GrainScalar;
use crate::world::speed_limit::{BELOW_SPEED_LIMIT, SPEED_LIMIT, speed_of};
use crate::world::{Domain, Grains, Interaction, Material, Settings, Vec3, World, check_conduction, check_fluids, check_polyhedra};
use seixo_device::Cpu;
use seixo_laws::contact::cohesion::longest_gap;
use seixo_laws::contact::restitution::MIN_RESTITUTION;
use seixo_laws::contact::{COEFFICIENTS, Cohesion, NormalLaw, PairOfMaterials, TangentialLaw, derive};
use seixo_sweeps::layout::{RECORD, extended_coefficients};
use std::ops::RangeInclusive;

/// Largest skin of lists, in diameters of the largest grain or supports of fluids: a grain then has about a hundred neighbors in its list.
const WIDEST_SKIN: f64 = 4.0;
/// Range of radii \[m\]: squares and cubes of masses stay far from the limits of floating-point numbers.
const RADII: RangeInclusive<f64> = 1e-12..=1e12;
/// Range of given masses \[kg\].
const MASSES: RangeInclusive<f64> = 1e-36..=1e36;
/// Range of densities \[kg/m³\] and moduli of elasticity \[Pa\].
const OF_MATERIALS: RangeInclusive<f64> = 1e-20..=1e31;

/// Columns of grains, in the order of their ids; `densities` are those of the materials \[kg/m³\]. Each column is made in one piece, by all threads of
/// the device, as columns that grow take twice the memory.
pub(crate) fn fields_of(device: &Cpu, grains: &Grains, densities: &[f64], frictional: bool) -> Fields {
    let n = grains.len();
    // Most worlds list their grains by ids, and need no order.
    let order: Option<Vec<u32>> = (!grains.id.is_sorted()).then(|| {
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_unstable_by_key(|&k| grains.id[k as usize]);
        order
    });
    let source = |k: usize| order.as_ref().map_or(k, |order| order[k] as usize);
    let words = |values: &[u32]| computed(device, n, |k| values[source(k)]);
    let triples = |values: &[Vec3], n: usize| computed(device, 3 * n, |k| values[source(k / 3)][k % 3]);
    let mass = |k: usize| {
        let density = densities.get(grains.material[k] as usize).copied().unwrap_or(f64::NAN);
        grains.mass_alone(k, density)
    };
    let record = |values: &[Vec3], k: usize, last: &dyn Fn(usize) -> f64| {
        let from = source(k / RECORD);
        values[from].get(k % RECORD).copied().unwrap_or_else(|| last(from))
    };
    let rotating = if frictional { n } else { 0 };
    let mut fields = Fields::default();
    fields.id = words(&grains.id);
    fields.material = words(&grains.material);
    fields.group = words(&grains.group);
    fields.position = computed(device, RECORD * n, |k| record(&grains.position, k, &|from| grains.radius[from]));
    fields.velocity = computed(device, RECORD * n, |k| record(&grains.velocity, k, &mass));
    fields.spin = computed(device, RECORD * rotating, |k| record(&grains.angular_velocity, k, &|_| 0.0));
    fields.half_velocity = triples(&grains.velocity, n);
    fields.half_spin = triples(&grains.angular_velocity, rotating);
    fields.force = vec![0.0; RECORD * n];
    fields.torque = vec![0.0; RECORD * rotating];
    fields.reference = triples(&grains.position, n);
    let shaped = if grains.shape.is_empty() { 0 } else { n };
    fields.shape = computed(device, shaped, |k| grains.shape[source(k)]);
    fields.orientation = computed(device, RECORD * shaped, |k| grains.orientation[source(k / RECORD)][k % RECORD]);
    // It follows from the angular velocity, with the velocities at half steps.
    fields.angular_momentum = vec![0.0; 3 * shaped];
    if grains.scalars.carried_count() > 0 {
        (0..n).for_each(|k| fields.scalars.push_from(&grains.scalars, source(k)));
    }
    fields
}

/// Whether contacts of a world need rotation or contact history; smooth grains have neither.
pub(crate) fn is_frictional(world: &World) -> bool {
    let has_friction = |i: &Interaction| i.tangential != TangentialLaw::None;
    let adds = |i: &Interaction| {
        i.cohesion.is_some() || i.rolling.is_some() || i.twisting.is_some() || !matches!(i.normal, NormalLaw::Linear | NormalLaw::Hertz)
    };
    // Bodies and polyhedral grains rotate in any case, and grains with prescribed motion form a body.
    !world.grains.bodies.is_empty()
        || !world.later.constrained_groups.is_empty()
        || world.later.freezes
        || !world.shapes.is_empty()
        || world.interactions.iter().flatten().any(|i| has_friction(i) || adds(i))
}

/// Largest radius of grains of each material, now and later \[m\]; zero without grains.
pub(crate) fn largest_radii(world: &World) -> Vec<f64> {
    let mut largest = vec![0.0f64; world.materials.len()];
    let now = world.grains.radius.iter().copied().zip(world.grains.material.iter().copied());
    let later = world.later.grains.iter().map(|kind| (kind.radius[1], kind.material));
    for (radius, material) in now.chain(later) {
        largest[material as usize] = largest[material as usize].max(radius);
    }
    largest
}

/// Largest gaps across which grains can attract each other, and walls can attract grains \[m\].
pub(crate) fn longest_gaps(world: &World, table: &[f64]) -> [f64; 2] {
    let materials = world.materials.len();
    let largest = largest_radii(world);
    let mut gaps = [0.0f64; 2];
    for a in (0..materials).filter(|&a| largest[a] > 0.0) {
        let gap = |b: usize, effective_radius: f64| longest_gap(effective_radius, &extended_coefficients(table, a * materials + b));
        for b in (0..materials).filter(|&b| largest[b] > 0.0) {
            gaps[0] = gaps[0].max(gap(b, largest[a] * largest[b] / (largest[a] + largest[b])));
        }
        for wall in &world.walls {
            gaps[1] = gaps[1].max(gap(wall.material as usize, largest[a]));
        }
    }
    gaps
}

/// Table of coefficients with a row per pair of materials, and whether contacts are extended.
pub(crate) fn table_of(world: &World) -> Result<(Vec<f64>, bool), WorldError> {
    let mut table = Vec::new();
    let mut is_extended = false;
    for (a, first) in world.materials.iter().enumerate() {
        for (b, second) in world.materials.iter().enumerate() {
            let Some(interaction) = world.interaction(a as u32, b as u32) else {
                table.extend([0.0; COEFFICIENTS]);
                continue;
            };
            let wrong = |what: &str| WorldError::Interaction {
                a: first.name.clone(),
                b: second.name.clone(),
                what: what.into(),
            };
            let Interaction {
                normal,
                tangential,
                restitution,
                friction,
                ..
            } = *interaction;
            let needs = |law: &str, key: &str, unit: &str| wrong(&format!("the {law} law needs a {key}; add {key} = \"… {unit}\""));
            let stiffness = match (normal, interaction.stiffness) {
                (NormalLaw::Linear | NormalLaw::Hysteretic, None) => return Err(needs(normal.keyword(), "stiffness", "N/m")),
                (_, stiffness) => stiffness.unwrap_or(0.0),
            };
            let dissipative_time = match (normal, interaction.dissipative_time) {
                (NormalLaw::Viscoelastic, None) => return Err(needs("viscoelastic", "dissipative_time", "s")),
                (_, time) => time.unwrap_or(0.0),
            };
            let potential_energy = match (normal, interaction.potential_energy) {
                (NormalLaw::Potential, None) => return Err(needs("potential", "potential_energy", "J")),
                (_, energy) => energy.unwrap_or(0.0),
            };
            if matches!(interaction.cohesion, Some(Cohesion::Jkr { .. })) && normal != NormalLaw::Hertz {
                return Err(wrong(
                    "jkr is Hertz's law with a neck; write normal = \"hertz\", or another law of cohesion",
                ));
            }
            if normal == NormalLaw::Potential && restitution != 1.0 {
                return Err(wrong(&format!(
                    "restitution is {restitution}, but a potential loses no energy; write restitution = 1"
                )));
            }
            if interaction.damping.is_some() && (!normal.is_damped_per_mass() || restitution != 1.0) {
                return Err(wrong(
                    "a damping is for the linear law and Hertz's, in place of a restitution; write normal = \"linear\" or \"hertz\" and leave one of the two out",
                ));
            }
            if interaction.damping.is_some() && matches!(interaction.cohesion, Some(Cohesion::Jkr { .. })) {
                return Err(wrong(
                    "jkr takes no damping per mass; write a restitution, or another law of cohesion",
                ));
            }
            if interaction.tangential_damping.is_some() && tangential == TangentialLaw::None {
                return Err(wrong(
                    "a tangential damping is for a tangential law; write tangential = \"linear\" or \"mindlin\", or leave it out",
                ));
            }
            let tangential_stiffness = match (tangential, interaction.tangential_spring()) {
                (TangentialLaw::Linear, None) => {
                    return Err(wrong(
                        "the linear tangential law needs a tangential_stiffness; add tangential_stiffness = \"… N/m\"",
                    ));
                }
                (_, spring) => spring.unwrap_or(0.0),
            };
            let compliance = |of: fn(&Material) -> f64| 1.0 / (of(first) + of(second));
            let pair = PairOfMaterials {
                effective_modulus: compliance(|m| (1.0 - m.poisson_ratio * m.poisson_ratio) / m.youngs_modulus),
                effective_shear_modulus: compliance(|m| (2.0 - m.poisson_ratio) / m.shear_modulus()),
                restitution,
                friction,
                stiffness,
                tangential_stiffness,
                damping_rate: interaction.damping.unwrap_or(0.0),
                tangential_damping_rate: interaction.damping_rates()[1],
                dissipative_time,
                potential_energy,
                adhesive: interaction.cohesion,
                rolling: interaction.rolling,
                twisting: interaction.twisting,
            };
            let laws = derive(normal, tangential, &pair);
            is_extended |= laws.is_extended();
            table.extend(laws.row());
        }
    }
    Ok((table, is_extended))
}

/// Largest distance of interaction: of the centers of the largest grains in contact, or of fluid particles \[m\].
fn largest_interaction_range(world: &World) -> f64 {
    let now = world.grains.radius.iter().copied();
    let later = world.later.grains.iter().map(|kind| kind.radius[1]);
    let support = world.fluids.iter().map(|fluids| fluids.support);
    let diameters = now.chain(later).map(|radius| 2.0 * radius);
    diameters.chain(support).fold(0.0, f64::max)
}

/// Rejects numbers that cannot be simulated and missing interactions.
pub(crate) fn check(world: &World, settings: &Settings) -> Result<(), WorldError> {
    let positive = |what: &'static str, value: f64| {
        if value.is_finite() && value > 0.0 {
            Ok(())
        } else {
            Err(WorldError::FluidSurroundings {
                what,
                value,
                must: "a positive number",
            })
        }
    };
    positive("run.overlap_limit", settings.overlap_limit)?;
    check_cell(world, settings)?;
    check_bonds(world)?;
    if !world.bonds.is_empty() && world.domain.is_some_and(|domain| domain.shear.is_some()) {
        return Err(WorldError::Bond {
            name: world.bonds[0].name.clone(),
            what: "bonds do not go with sides that slide past each other; remove world.domain.shear".into(),
        });
    }
    if let Some(&kind) = world.later.bonds.iter().find(|&&kind| kind >= world.bonds.len()) {
        return Err(WorldError::FluidSurroundings {
            what: "kind of bonds that are made later",
            value: kind as f64,
            must: "the index of one of the world's",
        });
    }
    if let Some(&group) = world
        .later
        .constrained_groups
        .iter()
        .find(|&&group| group as usize >= world.groups.len())
    {
        return Err(WorldError::FluidSurroundings {
            what: "group that may be held later",
            value: f64::from(group),
            must: "the index of a group of the world",
        });
    }
    settings.time_step.map_or(Ok(()), |value| positive("run.time_step", value))?;
    let widest = WIDEST_SKIN * largest_interaction_range(world);
    if let Some(value) = settings.skin.filter(|skin| !(0.0..=widest).contains(skin)) {
        return Err(WorldError::FluidSurroundings {
            what: "run.skin",
            value,
            must: "zero or a positive length, at most four times the diameter of the largest grain or the support of fluids",
        });
    }
    if !(0.0..1.0).contains(&world.local_damping) {
        return Err(WorldError::FluidSurroundings {
            what: "run.local_damping",
            value: world.local_damping,
            must: "at least 0 and below 1",
        });
    }
    if let Some(&value) = world.gravity.iter().find(|g| !g.is_finite() || g.abs() > 1e15) {
        return Err(WorldError::FluidSurroundings {
            what: "world.gravity",
            value,
            must: "finite, at most 1e15 m/s^2",
        });
    }
    if let Some(kind) = world
        .later
        .grains
        .iter()
        .find(|kind| kind.speed.is_nan() || kind.speed >= SPEED_LIMIT)
    {
        return Err(WorldError::FluidSurroundings {
            what: "speed of grains that come later",
            value: kind.speed,
            must: BELOW_SPEED_LIMIT,
        });
    }
    for material in &world.materials {
        let numbers = [("density", material.density), ("youngs_modulus", material.youngs_modulus)];
        if let Some((what, value)) = numbers.into_iter().find(|(_, value)| !OF_MATERIALS.contains(value)) {
            return Err(WorldError::Material {
                name: material.name.clone(),
                what,
                value,
                must: "from 1e-20 to 1e31 in SI units",
            });
        }
        if !(material.poisson_ratio > -1.0 && material.poisson_ratio <= 0.5) {
            let must = "above -1 and at most 0.5";
            return Err(WorldError::Material {
                name: material.name.clone(),
                what: "poisson_ratio",
                value: material.poisson_ratio,
                must,
            });
        }
    }
    check_grains(&world.grains, world.domain.as_ref())?;
    check_polyhedra(world, settings)?;
    if !world.grains.bodies.is_empty() && world.domain.is_some_and(|domain| domain.shear.is_some()) {
        return Err(WorldError::WithBodies {
            what: "sides that slide past each other",
            remedy: "remove world.domain.shear, or use plain grains",
        });
    }
    let mut on_joints = world
        .grains
        .bodies
        .iter()
        .filter(|body| body.joint.is_some() && body.motion.is_none());
    if let (true, Some(body)) = (settings.scheme.corrects().is_some(), on_joints.next()) {
        return Err(WorldError::BodyMotion {
            id: body.id,
            what: "Gear's methods do not move bodies on joints; take another integrator, or leave out the joint".to_owned(),
        });
    }
    if let Some(scalar) = world.scalars().first().filter(|_| !world.grains.bodies.is_empty()) {
        return Err(WorldError::WithBodies {
            what: scalar.amount(),
            remedy: "leave it out, or use plain grains",
        });
    }
    check_interactions(world)?;
    if let Some(fluids) = &world.fluids {
        check_fluids(fluids, world.walls.len(), &world.grains.bodies, world.later.freezes)?;
    }
    check_conduction(world)?;
    check_scalars(&world.grains, &world.scalars())
}

/// Rejects grains without a valid value of one of these scalars.
pub(crate) fn check_scalars(grains: &Grains, scalars: &[GrainScalar]) -> Result<(), WorldError> {
    for &scalar in scalars {
        for (k, &id) in grains.id.iter().enumerate() {
            let value = grains.scalars[scalar].get(k).copied().unwrap_or(f64::NAN);
            if let Some(must) = scalar.flaw_of(value) {
                let what = scalar.name();
                return Err(WorldError::Grain { id, what, value, must });
            }
        }
    }
    Ok(())
}

/// Rejects grains with numbers that cannot be simulated, or outside the domain.
pub(crate) fn check_grains(grains: &Grains, domain: Option<&Domain>) -> Result<(), WorldError> {
    // Ids that ascend need neither a copy nor a sort.
    if !grains.id.is_sorted_by(|one, next| one < next) {
        let mut ids = grains.id.clone();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(WorldError::DuplicateId { id: pair[0] });
        }
    }
    grains.check_bodies(domain)?;
    let carriers = grains.carriers();
    for k in 0..grains.len() {
        let id = grains.id[k];
        let radius = grains.radius[k];
        if !RADII.contains(&radius) {
            return Err(WorldError::Grain {
                id,
                what: "radius",
                value: radius,
                must: "from 1e-12 to 1e12 m",
            });
        }
        if let Some(&mass) = grains.masses.get(&id) {
            let is_polyhedral = grains.shape.get(k).is_some_and(|&shape| shape > 0);
            // A polyhedral grain has a mass in any case, which is that of its body.
            let is_own = |whole: f64| is_polyhedral && whole == mass;
            let carrier = carriers.get(&id).map(|&b| &grains.bodies[b]);
            let is_carried = carrier.is_some_and(|body| body.motion.is_none() && !is_own(body.mass));
            if is_carried || !MASSES.contains(&mass) {
                return Err(WorldError::Grain {
                    id,
                    what: "mass",
                    value: mass,
                    must: if is_carried {
                        "that of the rigid body that carries it"
                    } else {
                        "from 1e-36 to 1e36 kg"
                    },
                });
            }
        }
        for (what, vector) in [
            ("position", grains.position[k]),
            ("velocity", grains.velocity[k]),
            ("angular velocity", grains.angular_velocity[k]),
        ] {
            if let Some(&value) = vector.iter().find(|x| x.is_nan() || x.abs() >= 1e15) {
                return Err(WorldError::Grain {
                    id,
                    what,
                    value,
                    must: "finite, below 1e15",
                });
            }
        }
        let speed = speed_of(&grains.velocity[k]);
        if speed >= SPEED_LIMIT {
            return Err(WorldError::Grain {
                id,
                what: "velocity",
                value: speed,
                must: BELOW_SPEED_LIMIT,
            });
        }
        if let Some(domain) = domain {
            // For grains of a body, the center of the body counts.
            let at = carriers.get(&id).map_or(grains.position[k], |&b| grains.bodies[b].center);
            if (0..3).any(|axis| at[axis] < domain.min[axis] || at[axis] > domain.max[axis]) {
                return Err(WorldError::Outside { id, at });
            }
        }
    }
    Ok(())
}

/// Numbers of an interaction that must be positive, with their units.
fn positive_numbers(i: &Interaction) -> impl Iterator<Item = (&'static str, f64, &'static str)> {
    let sticky = match i.cohesion {
        None => [None, None],
        Some(Cohesion::Sjkr { energy_density }) => [Some(("cohesion.energy_density", energy_density, " J/m^3")), None],
        Some(Cohesion::Dmt { surface_energy } | Cohesion::Jkr { surface_energy }) => {
            [Some(("cohesion.surface_energy", surface_energy, " J/m^2")), None]
        }
        Some(Cohesion::Capillary {
            surface_tension, volume, ..
        }) => [
            Some(("cohesion.surface_tension", surface_tension, " N/m")),
            Some(("cohesion.volume", volume, " m^3")),
        ],
    };
    let springs = [
        i.stiffness.map(|k| ("stiffness", k, " N/m")),
        i.tangential_stiffness.map(|k| ("tangential_stiffness", k, " N/m")),
        i.damping.map(|rate| ("damping", rate, " 1/s")),
        i.dissipative_time.map(|a| ("dissipative_time", a, " s")),
        i.potential_energy.map(|e| ("potential_energy", e, " J")),
    ];
    springs.into_iter().chain(sticky).flatten()
}

/// Largest contact angle of a capillary bridge \[rad\].
const LARGEST_CONTACT_ANGLE: f64 = 1.57;

/// Numbers of an interaction that have a range.
fn limited_numbers(i: &Interaction) -> impl Iterator<Item = (&'static str, f64, RangeInclusive<f64>)> {
    let of_resistance = |names: [&'static str; 2], coefficient: f64, damping: f64| {
        [Some((names[0], coefficient, 0.0..=f64::MAX)), Some((names[1], damping, 0.0..=10.0))]
    };
    let rolling = i.rolling.map_or([None, None], |rolling| {
        of_resistance(
            ["rolling.coefficient", "rolling.damping_ratio"],
            rolling.coefficient,
            rolling.damping_ratio,
        )
    });
    let twisting = i.twisting.map_or([None, None], |twisting| {
        of_resistance(
            ["twisting.coefficient", "twisting.damping_ratio"],
            twisting.coefficient,
            twisting.damping_ratio,
        )
    });
    rolling.into_iter().chain(twisting).flatten()
}

/// Problem of the contact angle of a capillary bridge, if there is one; in degrees, as scenes give angles.
fn flaw_of_contact_angle(i: &Interaction) -> Option<String> {
    let Some(Cohesion::Capillary { contact_angle, .. }) = i.cohesion else {
        return None;
    };
    (!(0.0..=LARGEST_CONTACT_ANGLE).contains(&contact_angle)).then(|| {
        let [angle, most] = [contact_angle, LARGEST_CONTACT_ANGLE].map(f64::to_degrees);
        format!("cohesion.contact_angle is {angle:.2} deg, must be from 0 to {most:.2} deg")
    })
}

fn check_interactions(world: &World) -> Result<(), WorldError> {
    let mut grains = vec![0usize; world.materials.len()];
    for &material in &world.grains.material {
        grains[material as usize] += 1;
    }
    for expected in &world.later.grains {
        grains[expected.material as usize] += 2;
    }
    let mut is_wall = vec![false; world.materials.len()];
    for wall in &world.walls {
        is_wall[wall.material as usize] = true;
        if let Some(what) = wall.flaw(&world.walls) {
            return Err(WorldError::Wall {
                name: wall.name.clone(),
                what,
            });
        }
    }
    for (a, first) in world.materials.iter().enumerate() {
        for (b, second) in world.materials.iter().enumerate() {
            let names = (first.name.clone(), second.name.clone());
            match world.interaction(a as u32, b as u32) {
                None if grains[a] > 0 && (is_wall[b] || grains[b] > usize::from(a == b)) => {
                    return Err(WorldError::NoInteraction { a: names.0, b: names.1 });
                }
                Some(i) if !(MIN_RESTITUTION..=1.0).contains(&i.restitution) => {
                    let what = format!("restitution is {}, must be from {MIN_RESTITUTION} to 1", i.restitution);
                    return Err(WorldError::Interaction {
                        a: names.0,
                        b: names.1,
                        what,
                    });
                }
                Some(i) if !(i.friction >= 0.0 && i.friction.is_finite()) => {
                    let what = format!("friction is {}, must be zero or positive", i.friction);
                    return Err(WorldError::Interaction {
                        a: names.0,
                        b: names.1,
                        what,
                    });
                }
                Some(i) => {
                    if let Some((what, value, unit)) = positive_numbers(i).find(|(_, value, _)| !(value.is_finite() && *value > 0.0)) {
                        let what = format!("{what} is {value}{unit}, must be positive");
                        return Err(WorldError::Interaction {
                            a: names.0,
                            b: names.1,
                            what,
                        });
                    }
                    if let Some((what, value, limits)) = limited_numbers(i).find(|(_, value, limits)| !limits.contains(value)) {
                        let what = format!("{what} is {value}, must be from {} to {}", limits.start(), limits.end());
                        return Err(WorldError::Interaction {
                            a: names.0,
                            b: names.1,
                            what,
                        });
                    }
                    if let Some(what) = flaw_of_contact_angle(i) {
                        return Err(WorldError::Interaction {
                            a: names.0,
                            b: names.1,
                            what,
                        });
                    }
                }
                None => {}
            }
        }
    }
    Ok(())
}
