//! From a world to columns and coefficients, and what is refused at the door.

use crate::fields::Fields;
use crate::refusal::Refusal;
use crate::world::{Domain, Grains, Interaction, Material, Settings, WallShape, World};
use seixo_laws::contact::{Coefficients, NormalLaw, PairOfMaterials, TangentialLaw, derive};
use seixo_sweeps::views::RECORD;

/// Columns of grains, in the order of their ids; `densities` are those of the materials \[kg/m³\].
pub(crate) fn fields_of(grains: &Grains, densities: &[f64], frictional: bool) -> Fields {
    let mut order: Vec<usize> = (0..grains.len()).collect();
    order.sort_unstable_by_key(|&k| grains.id[k]);
    let mut fields = Fields::default();
    for k in order {
        let radius = grains.radius[k];
        let density = densities.get(grains.material[k] as usize).copied().unwrap_or(f64::NAN);
        let mass = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3) * density;
        let [x, v, w] = [grains.position[k], grains.velocity[k], grains.angular_velocity[k]];
        fields.id.push(grains.id[k]);
        fields.material.push(grains.material[k]);
        fields.group.push(grains.group[k]);
        fields.position.extend([x[0], x[1], x[2], radius]);
        fields.velocity.extend([v[0], v[1], v[2], mass]);
        fields.half_velocity.extend(v);
        fields.reference.extend(x);
        fields.force.extend([0.0; RECORD]);
        if frictional {
            fields.spin.extend([w[0], w[1], w[2], 0.0]);
            fields.half_spin.extend(w);
            fields.torque.extend([0.0; RECORD]);
        }
    }
    fields
}

/// Whether any pair of materials has a tangential law.
pub(crate) fn has_friction(world: &World) -> bool {
    world.interactions.iter().flatten().any(|i| i.tangential != TangentialLaw::None)
}

/// The table of coefficients, a row per pair of materials.
pub(crate) fn table_of(world: &World) -> Result<Vec<f64>, Refusal> {
    let mut table = Vec::new();
    let nothing = Coefficients {
        normal_stiffness: 0.0,
        normal_damping: 0.0,
        tangential_stiffness: 0.0,
        tangential_damping: 0.0,
        friction: 0.0,
        normal_law: NormalLaw::Linear.code(),
        tangential_law: TangentialLaw::None.code(),
    };
    for (a, first) in world.materials.iter().enumerate() {
        for (b, second) in world.materials.iter().enumerate() {
            let Some(interaction) = world.interaction(a as u32, b as u32) else {
                table.extend(nothing.row());
                continue;
            };
            let wrong = |what: &str| Refusal::Interaction {
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
            let stiffness = match (normal, interaction.stiffness) {
                (NormalLaw::Linear, None) => return Err(wrong("the linear law needs a stiffness; add stiffness = \"… N/m\"")),
                (_, stiffness) => stiffness.unwrap_or(0.0),
            };
            let tangential_stiffness = match (tangential, interaction.tangential_stiffness) {
                (TangentialLaw::Linear, None) if normal != NormalLaw::Linear => {
                    return Err(wrong(
                        "the linear tangential law needs a tangential_stiffness; add tangential_stiffness = \"… N/m\"",
                    ));
                }
                (_, given) => given.unwrap_or(2.0 / 7.0 * stiffness),
            };
            let compliance = |of: fn(&Material) -> f64| 1.0 / (of(first) + of(second));
            let pair = PairOfMaterials {
                effective_modulus: compliance(|m| (1.0 - m.poisson_ratio * m.poisson_ratio) / m.youngs_modulus),
                effective_shear_modulus: compliance(|m| (2.0 - m.poisson_ratio) / m.shear_modulus()),
                restitution,
                friction,
                stiffness,
                tangential_stiffness,
            };
            table.extend(derive(normal, tangential, &pair).row());
        }
    }
    Ok(table)
}

/// Refuses numbers that cannot be simulated and interactions that are missing.
pub(crate) fn check(world: &World, settings: &Settings) -> Result<(), Refusal> {
    let positive = |what: &'static str, value: f64| {
        if value.is_finite() && value > 0.0 {
            Ok(())
        } else {
            Err(Refusal::Setting {
                what,
                value,
                must: "a positive number",
            })
        }
    };
    positive("run.overlap_limit", settings.overlap_limit)?;
    settings.time_step.map_or(Ok(()), |value| positive("run.time_step", value))?;
    if let Some(value) = settings.skin.filter(|skin| !(skin.is_finite() && *skin >= 0.0)) {
        return Err(Refusal::Setting {
            what: "run.skin",
            value,
            must: "zero or a positive length",
        });
    }
    if !(0.0..1.0).contains(&world.local_damping) {
        return Err(Refusal::Setting {
            what: "run.local_damping",
            value: world.local_damping,
            must: "at least 0 and below 1",
        });
    }
    if let Some(&value) = world.gravity.iter().find(|g| !g.is_finite()) {
        return Err(Refusal::Setting {
            what: "world.gravity",
            value,
            must: "finite numbers",
        });
    }
    for material in &world.materials {
        let numbers = [("density", material.density), ("youngs_modulus", material.youngs_modulus)];
        if let Some((what, value)) = numbers.into_iter().find(|(_, value)| !(value.is_finite() && *value > 0.0)) {
            return Err(Refusal::Material {
                name: material.name.clone(),
                what,
                value,
                must: "a positive number",
            });
        }
        if !(material.poisson_ratio > -1.0 && material.poisson_ratio <= 0.5) {
            let must = "above -1 and at most 0.5";
            return Err(Refusal::Material {
                name: material.name.clone(),
                what: "poisson_ratio",
                value: material.poisson_ratio,
                must,
            });
        }
    }
    check_grains(&world.grains, world.domain.as_ref())?;
    check_interactions(world)
}

/// Refuses grains with numbers that cannot be simulated, or outside of the domain.
pub(crate) fn check_grains(grains: &Grains, domain: Option<&Domain>) -> Result<(), Refusal> {
    let mut ids = grains.id.clone();
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Refusal::DuplicateId { id: pair[0] });
    }
    for k in 0..grains.len() {
        let id = grains.id[k];
        let radius = grains.radius[k];
        if !(radius.is_finite() && radius > 0.0) {
            return Err(Refusal::Grain {
                id,
                what: "radius",
                value: radius,
                must: "a positive length",
            });
        }
        for (what, vector) in [
            ("position", grains.position[k]),
            ("velocity", grains.velocity[k]),
            ("angular velocity", grains.angular_velocity[k]),
        ] {
            if let Some(&value) = vector.iter().find(|x| x.is_nan() || x.abs() >= 1e15) {
                return Err(Refusal::Grain {
                    id,
                    what,
                    value,
                    must: "finite, below 1e15",
                });
            }
        }
        if let Some(domain) = domain {
            let at = grains.position[k];
            if (0..3).any(|axis| at[axis] < domain.min[axis] || at[axis] > domain.max[axis]) {
                return Err(Refusal::Outside { id, at });
            }
        }
    }
    Ok(())
}

fn check_interactions(world: &World) -> Result<(), Refusal> {
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
        let bad = match &wall.shape {
            WallShape::Plane { point, normal } => {
                let length = normal.iter().map(|c| c * c).sum::<f64>().sqrt();
                (!point.iter().all(|x| x.is_finite()) || length.is_nan() || (length - 1.0).abs() > 1e-9)
                    .then(|| format!("its normal has the length {length}, must be 1"))
            }
            WallShape::Mesh(triangles) => {
                let finite = triangles.iter().flatten().flatten().all(|x| x.is_finite());
                (!finite || triangles.is_empty())
                    .then(|| "its mesh is empty or holds numbers that are not finite; check the file".to_string())
            }
        };
        if let Some(what) = bad {
            return Err(Refusal::Wall {
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
                    return Err(Refusal::NoInteraction { a: names.0, b: names.1 });
                }
                Some(i) if !(i.restitution > 0.0 && i.restitution <= 1.0) => {
                    let what = format!("restitution is {}, must be above 0 and at most 1", i.restitution);
                    return Err(Refusal::Interaction {
                        a: names.0,
                        b: names.1,
                        what,
                    });
                }
                Some(i) if !(i.friction >= 0.0 && i.friction.is_finite()) => {
                    let what = format!("friction is {}, must be zero or positive", i.friction);
                    return Err(Refusal::Interaction {
                        a: names.0,
                        b: names.1,
                        what,
                    });
                }
                Some(i) => {
                    for (what, value) in [("stiffness", i.stiffness), ("tangential_stiffness", i.tangential_stiffness)] {
                        if let Some(value) = value.filter(|k| !(k.is_finite() && *k > 0.0)) {
                            let what = format!("{what} is {value} N/m, must be positive");
                            return Err(Refusal::Interaction {
                                a: names.0,
                                b: names.1,
                                what,
                            });
                        }
                    }
                }
                None => {}
            }
        }
    }
    Ok(())
}
