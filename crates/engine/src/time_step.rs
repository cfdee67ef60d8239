//! The time step: its stability limit, and the choice of "auto".

use crate::bonds::{BondCandidate, BondPositions, likely_limit, limit_of_bonds, pairs_at_start};
use crate::flow::limited_by_fluids;
use crate::refusal::WorldError;
use crate::walls::{farthest_of, fastest, largest_displacement, rotation_axis};
use crate::world::{Interaction, LightestSphere, Material, TimeStep, Wall, WallMotion, WallShape, World, lightest_spheres, vector};
use seixo_device::Cpu;
use seixo_laws::Vector3;
use seixo_laws::contact::{NormalLaw, TangentialLaw};
use seixo_laws::motion::Scheme;

/// Upper bound of "auto", as a share of the Rayleigh time.
const AUTO_OF_RAYLEIGH: f64 = 0.15;
/// Share of the Rayleigh time above which an undamped dense packing is unstable: with twelve contacts at 2 % overlap, and rolling.
const LIMIT_OF_RAYLEIGH: f64 = 0.5;
/// Number of steps for a linear collision, t_c = π √(m*/k), with "auto".
const STEPS_PER_COLLISION: f64 = 40.0;
/// Share of √(m/k) above which a dense frictional packing with linear contacts is unstable.
const LIMIT_OF_PERIOD: f64 = 0.5;

/// Factors of Gear's methods on the limits of contacts and of bonds: springs gain energy above ω Δt = 0.35, and the criterion of bonds is closer to
/// their true limit than that of contacts.
const GEAR_OF_LIMIT: [f64; 2] = [0.5, 0.1];

/// Upper bound of "auto", as a share of the limit.
const AUTO_OF_LIMIT: f64 = 0.7;
/// Damping divides the limit by 1 + 12 ζ. All dashpots of a grain in a packing act on its velocity and its spin at once, and laws read
/// velocities that are extrapolated by half a step. The factor was measured on heaps at rest with e = 0.3, 0.4 and 0.5, which gain energy
/// above 0.09, 0.12 and 0.15 Rayleigh times.
const DAMPING: f64 = 12.0;

/// Largest displacement of a wall surface in a step, as a share of the smallest radius.
const MAX_SURFACE_DISPLACEMENT: f64 = 0.1;
/// Share by which rounding may take the surface farther \[-\].
const ROUNDING: f64 = 1e-9;
/// Smallest number of steps per period of a wall's vibration.
const STEPS_PER_PERIOD: f64 = 20.0;
/// Number of steps for the impact of the fastest wall on a Hertzian grain, with "auto".
const STEPS_PER_IMPACT: f64 = 10.0;

/// Factor of damping on the stability limit of a contact.
fn left_by_damping(damping_ratio: f64) -> f64 {
    1.0 / (1.0 + DAMPING * damping_ratio)
}

/// Overlap over radius at which laws with damping or stiffness that grow with the overlap are evaluated.
const JUDGED_AT: f64 = 0.01;

/// Rayleigh time of a sphere of this density \[kg/m³\] \[s\]: π R √(ρ/G) / (0.1631 ν + 0.8766) \[Thornton 1988\].
fn rayleigh_time(radius: f64, density: f64, material: &Material) -> f64 {
    std::f64::consts::PI * radius * (density / material.shear_modulus()).sqrt() / (0.1631 * material.poisson_ratio + 0.8766)
}

/// Plane-strain modulus E/(1 − ν²) \[Pa\].
fn plane_modulus(material: &Material) -> f64 {
    material.youngs_modulus / (1.0 - material.poisson_ratio * material.poisson_ratio)
}

/// Duration of a Hertzian impact \[s\]: 2.87 (m*² / (R* E*² v))^{1/5} \[Johnson 1985, eq. 11.24\].
fn hertz_time(effective_mass: f64, effective_radius: f64, effective_modulus: f64, speed: f64) -> f64 {
    2.87 * (effective_mass * effective_mass / (effective_radius * effective_modulus * effective_modulus * speed)).powf(0.2)
}

/// Each wall with its initial motion, and with those that it may get later.
fn motions(world: &World) -> impl Iterator<Item = (&Wall, &WallMotion)> {
    let at_start = world.walls.iter().map(|wall| (wall, &wall.motion));
    let later = world.later.motions.iter();
    at_start.chain(later.filter_map(|(wall, motion)| Some((world.walls.get(*wall)?, motion))))
}

/// Upper bound of the normal speed of a wall surface \[m/s\], among grains within `reach` of any object \[m\]. Tangential motion, as of a
/// belt or a drum that rotates about its axis, does not count.
fn speed_of_surface(wall: &Wall, motion: &WallMotion, reach: f64) -> f64 {
    let normal = match &wall.shape {
        WallShape::Plane { normal, .. } => Some(normal),
        _ => None,
    };
    let [speed, rate] = fastest(motion, normal);
    let turning = rotation_axis(motion).map_or(0.0, |axis| {
        let [x, y, z] = axis;
        let axis = Vector3 { x, y, z };
        let Vector3 { x, y, z } = axis.times(1.0 / axis.length());
        rate * wall.shape.rim(motion.through, [x, y, z], reach)
    });
    let carried = motion.of_frame().map_or(0.0, |frame| {
        let [speed, rate] = fastest(&frame, None);
        speed + rate * farthest_from_axis(wall, motion, &frame, reach)
    });
    speed + turning + carried
}

/// Upper bound of the distance of a wall from the axis of the frame in which it moves, wherever its motion takes it \[m\]. What is farther than `reach`
/// is near no grain.
fn farthest_from_axis(wall: &Wall, motion: &WallMotion, frame: &WallMotion, reach: f64) -> f64 {
    let arm = vector(motion.through).minus(&vector(frame.through));
    let axis = vector(frame.angular_velocity);
    let rate = axis.length();
    let distance = if rate > 0.0 { arm.cross(&axis).length() / rate } else { 0.0 };
    let way = largest_displacement(motion);
    let traveled = (0..3).map(|k| way.high[k].max(-way.low[k]).powi(2)).sum::<f64>().sqrt();
    distance + traveled.min(reach) + farthest_of(&wall.shape, &motion.through, reach)
}

/// How fast a surface is \[m/s\], and how far it may go among grains of this smallest radius \[m\].
fn far_enough(speed: f64, smallest: f64) -> String {
    format!(
        "whose surface moves at up to {speed:.3e} m/s and may go {MAX_SURFACE_DISPLACEMENT} of the smallest radius, {smallest:.3e} m, in a step"
    )
}

/// Rejects a wall whose surface moves more than a small share of the smallest radius \[m\] in a step of `dt` \[s\], among grains within `reach` of any
/// object \[m\].
pub(crate) fn check_speed_of_surface(wall: &Wall, reach: f64, smallest: f64, dt: f64) -> Result<(), WorldError> {
    let speed = speed_of_surface(wall, &wall.motion, reach);
    let most = MAX_SURFACE_DISPLACEMENT * smallest / dt;
    if speed <= most * (1.0 + ROUNDING) {
        return Ok(());
    }
    Err(WorldError::TooFast {
        name: wall.name.clone(),
        how: far_enough(speed, smallest),
        dt,
        most,
        limit: MAX_SURFACE_DISPLACEMENT * smallest / speed,
    })
}

/// Longest step in which walls move a small share of the smallest radius \[m\], and which resolves their vibrations \[s\], with the cause, if
/// walls move; and the largest speed of their surfaces \[m/s\].
fn limit_of_walls(world: &World, smallest: f64) -> (Option<(f64, String)>, f64) {
    let reach = world.grains.position.iter().flatten().copied().map(f64::abs);
    let reach = reach.chain(world.later.grains.iter().map(|kind| kind.reach)).fold(0.0, f64::max);
    let mut limit: Option<(f64, String)> = None;
    let mut fastest_of_all = 0.0f64;
    let mut take = |value: f64, cause: String| {
        if limit.as_ref().is_none_or(|(least, _)| value < *least) {
            limit = Some((value, cause));
        }
    };
    for (wall, motion) in motions(world) {
        let speed = speed_of_surface(wall, motion, 2.0 * reach);
        fastest_of_all = fastest_of_all.max(speed);
        if speed > 0.0 {
            take(
                MAX_SURFACE_DISPLACEMENT * smallest / speed,
                format!("wall {}, {}", wall.name, far_enough(speed, smallest)),
            );
        }
        let frequency = motion
            .vibrations
            .iter()
            .fold(0.0, |most: f64, vibration| most.max(vibration.frequency));
        if frequency > 0.0 {
            take(
                1.0 / (STEPS_PER_PERIOD * frequency),
                format!(
                    "wall {}, which vibrates at {frequency:.3e} Hz, {STEPS_PER_PERIOD} steps a period at least",
                    wall.name
                ),
            );
        }
    }
    (limit, fastest_of_all)
}

/// Stability limit of the time step of a world with a scheme, and the time step of "auto".
///
/// Hertzian contacts are limited by the Rayleigh time of the smallest grain of each material, linear ones by its mass and the pair's
/// stiffness, and both further by damping. Grains whose masses are given count with these. "auto" also resolves the impact of the fastest initial or
/// added grain. Bonds are limited by their stiffness; limits of later bonds are estimated, for "auto" only. Moving walls are limited by their
/// displacement in a step and by the periods of their vibrations. "auto" also resolves the impact of the fastest wall.
///
/// # Errors
/// If there are no grains now or later, no interaction for materials that may be in contact, or a pair that cannot be bonded.
pub fn plan_time_step(world: &World, scheme: Scheme) -> Result<TimeStep, WorldError> {
    let found = if world.bonds.is_empty() {
        Vec::new()
    } else {
        pairs_at_start(&Cpu::new(0)?, world)?
    };
    plan_with_bonds(world, scheme, &found)
}

/// Factors of a scheme on the limits of contacts and of bonds \[-\].
fn left_by_scheme(scheme: Scheme) -> [f64; 2] {
    scheme.corrects().map_or([1.0; 2], |_| GEAR_OF_LIMIT)
}

/// Smallest ratio of the effective mass at a sphere of a body to the mass of the sphere alone.
fn lightness(world: &World) -> f64 {
    world.grains.lightness(|material| world.materials[material].density)
}

/// Factor of a scheme, and of bodies with small effective masses, on the limit of bonds \[-\].
pub(crate) fn left_to_bonds(world: &World, scheme: Scheme) -> f64 {
    let [_, of_bonds] = left_by_scheme(scheme);
    of_bonds * lightness(world).sqrt()
}

/// Like [`plan_time_step`], with the pairs that are bonded at the start.
pub(crate) fn plan_with_bonds(world: &World, scheme: Scheme, found: &[BondCandidate]) -> Result<TimeStep, WorldError> {
    let unlimited = TimeStep {
        value: f64::INFINITY,
        auto: f64::INFINITY,
        limit: f64::INFINITY,
        cause: String::new(),
    };
    let of_grains = if world.grains.is_empty() && world.later.grains.is_empty() {
        world.fluids.as_ref().map(|_| unlimited).ok_or(WorldError::NoGrains)
    } else {
        plan_for_grains(world, scheme, found)
    };
    Ok(limited_by_fluids(of_grains?, world))
}

/// Damping ratio of the given dashpots for this effective mass and tangent stiffness \[N/m\], the larger one of the two directions. A tangential force also
/// turns the grains, so that their contact point yields as if it had 2/7 of the mass. Of all pairs, the lightest one allows the shortest step.
fn damping_ratio_of_rates(interaction: &Interaction, effective_mass: f64, stiffness: f64) -> f64 {
    let [normal, tangential] = interaction.damping_rates();
    // Laws whose spring has the factor √(δ/d) of equal spheres have it on the dashpot, too.
    let at = |rate: f64, is_constant: bool| if is_constant { rate } else { rate * (0.5 * JUDGED_AT).sqrt() };
    let normal = at(normal, interaction.normal == NormalLaw::Linear);
    let tangential = at(tangential, interaction.tangential == TangentialLaw::Linear);
    let rate = normal.max(3.5 * tangential);
    if rate > 0.0 {
        0.5 * rate * (effective_mass / stiffness).sqrt()
    } else {
        0.0
    }
}

/// Smallest ratio of effective mass to mass of the shapes of grains, divided by the largest number of contacts of a face, with the name of the shape;
/// `None` if no shape is below one.
fn ease_of_shapes(world: &World) -> Option<(f64, &str)> {
    let grains = &world.grains;
    let present = (0..grains.shape.len()).filter_map(|k| grains.shape_of(k, &world.shapes));
    let coming = world.later.grains.iter().filter_map(|kind| world.shapes.get(kind.shape? as usize));
    let used = present.chain(coming);
    let eases = used.map(|shape| (shape.lightness() / shape.most_corners() as f64, shape.name.as_str()));
    let least = eases.min_by(|(a, _), (b, _)| a.total_cmp(b));
    least.filter(|&(ease, _)| ease < 1.0)
}

fn plan_for_grains(world: &World, scheme: Scheme, found: &[BondCandidate]) -> Result<TimeStep, WorldError> {
    let expected = &world.later.grains;
    let spheres = lightest_spheres(world, |_| true);
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
    for &LightestSphere {
        material: a,
        radius,
        mass,
        density,
    } in &spheres
    {
        let material = &world.materials[a];
        for (b, other) in world.materials.iter().enumerate() {
            let Some(interaction) = world.interaction(a as u32, b as u32) else {
                continue;
            };
            let damping_ratio = |stiffness: f64| {
                interaction.normal.damping_ratio(interaction.restitution) + damping_ratio_of_rates(interaction, 0.5 * mass, stiffness)
            };
            let modulus = plane_modulus(material);
            let (auto, limit, cause) = match interaction.normal {
                NormalLaw::Hertz | NormalLaw::Viscoelastic => {
                    let rayleigh = rayleigh_time(radius, density, material);
                    let impact = hertz_time(0.5 * mass, 0.5 * radius, 0.5 * modulus, speed.max(1e-30));
                    // The dashpot of Kuwabara and Kono is A times the tangent stiffness, ζ = ½ A √(k/m*).
                    let stiffness = modulus * radius * (0.5 * JUDGED_AT).sqrt();
                    let viscous = 0.5 * interaction.dissipative_time.unwrap_or(0.0) * (stiffness / (0.5 * mass)).sqrt();
                    let limit = LIMIT_OF_RAYLEIGH * rayleigh * left_by_damping(damping_ratio(stiffness) + viscous);
                    let cause = format!(
                        "the Rayleigh time {rayleigh:.3e} s of {} grains of radius {radius:.3e} m and the {} of {}-{}",
                        material.name,
                        match interaction.damping {
                            _ if viscous > 0.0 => "dissipative time".to_owned(),
                            Some(damping) => format!("damping {damping:.3e} 1/s"),
                            None => format!("restitution {}", interaction.restitution),
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
                    let limit = LIMIT_OF_PERIOD * period * left_by_damping(damping_ratio(stiffness));
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
        return Err(WorldError::NoInteraction { a: name.clone(), b: name });
    }
    let [of_contacts, of_bonds] = left_by_scheme(scheme);
    step.limit *= of_contacts;
    step.auto *= of_contacts;
    if let Some((ease, name)) = ease_of_shapes(world) {
        step.limit *= ease.sqrt();
        step.auto *= ease.sqrt();
        step.cause += &format!(
            ", for polyhedral grains: with contacts at all corners of a face, shape {name} responds to a force as if it had {ease:.3} times its mass"
        );
    }
    // Limits of bonds know how grains turn.
    let of_found = (!found.is_empty()).then(|| limit_of_bonds(&world.bonds, &BondPositions::at_start(world), found));
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
    let lightness = lightness(world);
    if lightness < 1.0 {
        step.limit *= lightness.sqrt();
        step.auto *= lightness.sqrt();
        if lightness < 0.9995 {
            step.cause += &format!(", for bodies, whose spheres respond to a force as if they had {lightness:.3} times their mass");
        }
    }
    let smallest_of_all = spheres.iter().map(|sphere| sphere.radius).fold(f64::INFINITY, f64::min);
    let (of_walls, speed_of_walls) = limit_of_walls(world, smallest_of_all);
    if let Some((limit, cause)) = of_walls {
        step.auto = step
            .auto
            .min(AUTO_OF_LIMIT * limit)
            .min(impact_of_walls(world, &spheres, speed_of_walls) / STEPS_PER_IMPACT);
        if limit < step.limit {
            (step.limit, step.cause) = (limit, cause);
        }
    }
    step.value = step.auto;
    Ok(step)
}

/// Shortest impact of one of these Hertzian grains on a wall with this speed \[m/s\] \[s\].
fn impact_of_walls(world: &World, spheres: &[LightestSphere], speed: f64) -> f64 {
    let mut shortest = f64::INFINITY;
    for sphere in spheres {
        let (a, material) = (sphere.material, &world.materials[sphere.material]);
        for wall in &world.walls {
            let is_hertzian = |law: NormalLaw| matches!(law, NormalLaw::Hertz | NormalLaw::Viscoelastic);
            if world.interaction(a as u32, wall.material).is_some_and(|i| is_hertzian(i.normal)) {
                let (own, other) = (plane_modulus(material), plane_modulus(&world.materials[wall.material as usize]));
                let modulus = own * other / (own + other);
                shortest = shortest.min(hertz_time(sphere.mass, sphere.radius, modulus, speed.max(1e-30)));
            }
        }
    }
    shortest
}
