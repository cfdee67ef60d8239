//! The time step: what is stable, and what "auto" takes.

use crate::assemble::mass_of_sphere;
use crate::bonds::{Found, Standing, likely_limit, limit_of_bonds, pairs_at_start};
use crate::flow::limited_by_fluids;
use crate::refusal::Refusal;
use crate::world::{Material, World};
use seixo_device::Cpu;
use seixo_laws::contact::NormalLaw;
use seixo_laws::motion::Scheme;

/// A time step and what limits it.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeStep {
    /// The step in use \[s\].
    pub value: f64,
    /// What "auto" takes \[s\].
    pub auto: f64,
    /// The stable limit \[s\]; larger steps are refused.
    pub limit: f64,
    /// What sets the limit.
    pub cause: String,
}

/// Share of the Rayleigh time that "auto" takes at most.
const AUTO_OF_RAYLEIGH: f64 = 0.15;
/// Share of the Rayleigh time above which a dense packing without damping is unstable: twelve contacts at 2 % overlap, rolling included.
const LIMIT_OF_RAYLEIGH: f64 = 0.5;
/// "auto" resolves the collision of a linear contact, t_c = π √(m*/k), in this many steps.
const STEPS_PER_COLLISION: f64 = 40.0;
/// Share of √(m/k) above which a dense frictional packing of linear contacts is unstable.
const LIMIT_OF_PERIOD: f64 = 0.5;

/// What Gear's methods leave of the limits of contacts and of bonds: springs gain energy above ω Δt = 0.35, and bonds are judged closer to their
/// limit than contacts are.
const GEAR_OF_LIMIT: [f64; 2] = [0.5, 0.1];

/// Share of the limit that "auto" takes at most.
const AUTO_OF_LIMIT: f64 = 0.7;
/// Damping brings the limit down by 1 + 12 ζ: all dashpots of a grain in a packing act at once on its velocity and its spin, and laws see
/// velocities that are extrapolated by half a step. The factor is measured, on heaps at rest with e = 0.3, 0.4 and 0.5, which gain energy
/// above 0.09, 0.12 and 0.15 Rayleigh times.
const DAMPING: f64 = 12.0;

/// What damping leaves of the stable limit of a contact.
fn left_by_damping(damping_ratio: f64) -> f64 {
    1.0 / (1.0 + DAMPING * damping_ratio)
}

/// Overlap over radius at which a law whose damping or stiffness grows with the overlap is judged.
const JUDGED_AT: f64 = 0.01;

/// The Rayleigh time of a sphere \[s\]: π R √(ρ/G) / (0.1631 ν + 0.8766) (Thornton & Randall 1988).
fn rayleigh_time(radius: f64, material: &Material) -> f64 {
    std::f64::consts::PI * radius * (material.density / material.shear_modulus()).sqrt() / (0.1631 * material.poisson_ratio + 0.8766)
}

/// The duration of a Hertzian impact \[s\]: 2.87 (m*² / (R* E*² v))^{1/5} (Johnson 1985, eq. 11.24).
fn hertz_time(effective_mass: f64, effective_radius: f64, effective_modulus: f64, speed: f64) -> f64 {
    2.87 * (effective_mass * effective_mass / (effective_radius * effective_modulus * effective_modulus * speed)).powf(0.2)
}

/// The stable time step of a world that is moved by a scheme, and the one that "auto" takes.
///
/// Hertzian contacts are limited by the Rayleigh time of the smallest grain of each material, linear ones by its mass and the pair's
/// stiffness, both further by damping; "auto" also resolves the impact of the fastest grain at the start or as it comes. Bonds are limited by
/// their stiffness; what those that are made later will ask for only "auto" foresees.
///
/// # Errors
/// If there is no grain and none may come, no interaction for materials that can touch, or a pair that cannot be bonded.
pub fn plan_time_step(world: &World, scheme: Scheme) -> Result<TimeStep, Refusal> {
    let found = if world.bonds.is_empty() {
        Vec::new()
    } else {
        pairs_at_start(&Cpu::new(0)?, world)?
    };
    plan_with_bonds(world, scheme, &found)
}

/// What a scheme leaves of the limits of contacts and of bonds \[-\].
fn left_by_scheme(scheme: Scheme) -> [f64; 2] {
    scheme.corrects().map_or([1.0; 2], |_| GEAR_OF_LIMIT)
}

/// What a scheme, and bodies that are easy to move, leave of the limit of bonds \[-\].
pub(crate) fn left_to_bonds(world: &World, scheme: Scheme) -> f64 {
    let [_, of_bonds] = left_by_scheme(scheme);
    of_bonds * world.grains.lightness(&world.materials).sqrt()
}

/// As [`plan_time_step`], with the pairs that are bonded at the start.
pub(crate) fn plan_with_bonds(world: &World, scheme: Scheme, found: &[Found]) -> Result<TimeStep, Refusal> {
    let unlimited = TimeStep {
        value: f64::INFINITY,
        auto: f64::INFINITY,
        limit: f64::INFINITY,
        cause: String::new(),
    };
    let of_grains = if world.grains.is_empty() && world.later.grains.is_empty() {
        world.fluids.as_ref().map(|_| unlimited).ok_or(Refusal::NoGrains)
    } else {
        plan_for_grains(world, scheme, found)
    };
    Ok(limited_by_fluids(of_grains?, world))
}

fn plan_for_grains(world: &World, scheme: Scheme, found: &[Found]) -> Result<TimeStep, Refusal> {
    let expected = &world.later.grains;
    let mut smallest = vec![f64::INFINITY; world.materials.len()];
    let kinds = expected.iter().map(|kind| (&kind.radius[0], &kind.material));
    for (&radius, &material) in world.grains.radius.iter().zip(&world.grains.material).chain(kinds) {
        let slot = &mut smallest[material as usize];
        *slot = slot.min(radius);
    }
    let speed = world
        .grains
        .velocity
        .iter()
        .map(|v| v.iter().map(|c| c * c).sum::<f64>().sqrt())
        .chain(expected.iter().map(|kind| kind.speed))
        .fold(0.0, f64::max);
    let mut step = TimeStep {
        value: 0.0,
        auto: f64::INFINITY,
        limit: f64::INFINITY,
        cause: String::new(),
    };
    for (a, material) in world.materials.iter().enumerate().filter(|(a, _)| smallest[*a].is_finite()) {
        let radius = smallest[a];
        let mass = mass_of_sphere(radius, material.density);
        for (b, other) in world.materials.iter().enumerate() {
            let Some(interaction) = world.interaction(a as u32, b as u32) else {
                continue;
            };
            let damping_ratio = interaction.normal.damping_ratio(interaction.restitution);
            let modulus = material.youngs_modulus / (1.0 - material.poisson_ratio * material.poisson_ratio);
            let (auto, limit, cause) = match interaction.normal {
                NormalLaw::Hertz | NormalLaw::Viscoelastic => {
                    let rayleigh = rayleigh_time(radius, material);
                    let impact = hertz_time(0.5 * mass, 0.5 * radius, 0.5 * modulus, speed.max(1e-30));
                    // Kuwabara and Kono's dashpot is A times the tangent stiffness, ζ = ½ A √(k/m*).
                    let stiffness = modulus * radius * (0.5 * JUDGED_AT).sqrt();
                    let viscous = 0.5 * interaction.dissipative_time.unwrap_or(0.0) * (stiffness / (0.5 * mass)).sqrt();
                    let limit = LIMIT_OF_RAYLEIGH * rayleigh * left_by_damping(damping_ratio + viscous);
                    let cause = format!(
                        "the Rayleigh time {rayleigh:.3e} s of {} grains of radius {radius:.3e} m and the {} of {}-{}",
                        material.name,
                        if viscous > 0.0 {
                            "dissipative time".to_owned()
                        } else {
                            format!("restitution {}", interaction.restitution)
                        },
                        material.name,
                        other.name
                    );
                    ((AUTO_OF_RAYLEIGH * rayleigh).min(impact / STEPS_PER_COLLISION), limit, cause)
                }
                NormalLaw::Linear | NormalLaw::Hysteretic | NormalLaw::Potential => {
                    let stiffness = match interaction.normal {
                        NormalLaw::Linear => interaction.stiffness.unwrap_or(f64::NAN),
                        NormalLaw::Hysteretic => interaction.stiffness.unwrap_or(f64::NAN) / interaction.restitution.powi(2),
                        // dF/dδ of the potential at an overlap of a tenth of the distance, 486 ε/σ².
                        _ => 486.0 * interaction.potential_energy.unwrap_or(f64::NAN) / (4.0 * radius * radius),
                    };
                    let period = (mass / stiffness).sqrt();
                    let collision = std::f64::consts::PI * (0.5 * mass / stiffness).sqrt();
                    let limit = LIMIT_OF_PERIOD * period * left_by_damping(damping_ratio);
                    let cause = format!(
                        "the stiffness {stiffness:.3e} N/m of {}-{} and the mass {mass:.3e} kg of grains of radius {radius:.3e} m",
                        material.name, other.name
                    );
                    (collision / STEPS_PER_COLLISION, limit, cause)
                }
            };
            step.auto = step.auto.min(auto).min(AUTO_OF_LIMIT * limit);
            if limit < step.limit {
                step.limit = limit;
                step.cause = cause;
            }
        }
    }
    if !step.limit.is_finite() {
        let material = world.grains.material.first().copied().unwrap_or_else(|| expected[0].material);
        let name = world.materials[material as usize].name.clone();
        return Err(Refusal::NoInteraction { a: name.clone(), b: name });
    }
    let [of_contacts, of_bonds] = left_by_scheme(scheme);
    step.limit *= of_contacts;
    step.auto *= of_contacts;
    let of_found = (!found.is_empty()).then(|| limit_of_bonds(&world.bonds, &Standing::at_start(world), found));
    if let Some((limit, cause)) = of_found.flatten() {
        let limit = of_bonds * limit;
        step.auto = step.auto.min(AUTO_OF_LIMIT * limit);
        if limit < step.limit {
            (step.limit, step.cause) = (limit, cause);
        }
    }
    if let Some(likely) = likely_limit(world) {
        step.auto = step.auto.min(AUTO_OF_LIMIT * of_bonds * likely);
    }
    let lightness = world.grains.lightness(&world.materials);
    if lightness < 1.0 {
        step.limit *= lightness.sqrt();
        step.auto *= lightness.sqrt();
        step.cause += &format!(", at bodies whose spheres move as easily as spheres of {lightness:.3} times the mass would");
    }
    step.value = step.auto;
    Ok(step)
}
