//! Granular flow in steady simple shear: friction as a function of the inertial number.

use super::case_run::{CaseRun, Done, Outcome, advance, carry_on, dot, mean, run_until, virial, volume_of};
use seixo_engine::Simulation;
use seixo_engine::world::{DeviceChoice, Domain, Settings, Shear, World};

/// Shear strain until the flow is steady, and strain over which it is measured.
const STRAINS: [f64; 2] = [2.0, 4.0];
/// Samples of the pressure per strain.
const SAMPLES: f64 = 50.0;
/// Growth of the solid fraction between two relaxations while the world is compressed.
const GROWTH: f64 = 1.02;
/// Steps of a relaxation: some ten collisions.
const REST: u64 = 200;
/// μ(I) = μ_s + α/((I₀/I)^β + 1): α, I₀ and β of \[Chialvo 2012\], for any friction between grains.
const LAW: [f64; 3] = [0.37, 0.32, 1.5];
/// p/(ρ d² γ̇²) times the square of the difference of the solid fraction from that of jamming, from the same source.
const INERTIAL_PRESSURE: f64 = 0.021;

/// Friction of the flow by Chialvo, Sun & Sundaresan.
fn expected_friction(quasistatic: f64, inertial: f64) -> f64 {
    let [rise, scale, exponent] = LAW;
    quasistatic + rise / ((scale / inertial).powf(exponent) + 1.0)
}

/// Wraps grains back into the periodic domain, which simulations do only at rebuilds of neighbor lists, and scales all lengths.
fn put_back(world: &mut World, scale: f64) -> Done {
    let domain = world.domain.as_mut().ok_or("the scene has no domain")?;
    for axis in 0..3 {
        let (low, length) = (domain.min[axis], domain.max[axis] - domain.min[axis]);
        domain.max[axis] = low + scale * length;
        for center in &mut world.grains.position {
            center[axis] = low + scale * (center[axis] - low).rem_euclid(length);
        }
    }
    Ok(())
}

fn volume(domain: &Domain) -> f64 {
    (0..3).map(|axis| domain.max[axis] - domain.min[axis]).product()
}

/// Compresses a periodic world to a solid fraction in small affine steps. After each step, overlaps relax without friction. Grains are at rest at the
/// end.
fn compress_periodic(world: &mut World, settings: &Settings, wanted: f64) -> Done {
    let laws = world.interactions.clone();
    for law in world.interactions.iter_mut().flatten() {
        law.friction = 0.0;
    }
    let mut domain = world.domain.ok_or("the scene has no domain")?;
    let shear = domain.shear.take();
    world.domain = Some(domain);
    let solid = volume_of(&world.grains.radius);
    let mut fraction = solid / volume(&domain);
    while fraction < wanted {
        let next = wanted.min(GROWTH * fraction);
        put_back(world, (fraction / next).cbrt())?;
        fraction = next;
        world.grains.velocity.fill([0.0; 3]);
        world.grains.angular_velocity.fill([0.0; 3]);
        let mut simulation = Simulation::new(world.clone(), settings.clone())?;
        advance(&mut simulation, REST)?;
        carry_on(world, simulation.snapshot());
    }
    put_back(world, 1.0)?;
    world.interactions = laws;
    if let Some(domain) = &mut world.domain {
        domain.shear = shear;
    }
    Ok(())
}

/// A steady flow: inertial number, friction, and pressure \[Pa\].
struct Flow {
    inertial: f64,
    friction: f64,
    pressure: f64,
}

/// Shears a world and measures the steady flow.
fn flow_of(mut world: World, settings: Settings) -> Outcome<Flow> {
    let domain = world.domain.ok_or("the scene has no domain")?;
    let Shear { flow, gradient, rate } = domain.shear.ok_or("the scene has no shear")?;
    let middle = 0.5 * (domain.min[gradient] + domain.max[gradient]);
    for (velocity, center) in world.grains.velocity.iter_mut().zip(&world.grains.position) {
        *velocity = [0.0; 3];
        velocity[flow] = rate * (center[gradient] - middle);
    }
    world.grains.angular_velocity.fill([0.0; 3]);
    let diameter = 2.0 * mean(&world.grains.radius, |radius| *radius);
    let density = world.materials[0].density;
    let mut simulation = Simulation::new(world, settings)?;
    run_until(&mut simulation, STRAINS[0] / rate)?;
    let (start, work) = (simulation.time(), simulation.ledger().wall_work);
    let mut pressures = Vec::new();
    while simulation.time() < (STRAINS[0] + STRAINS[1]) / rate {
        let next = simulation.time() + 1.0 / (SAMPLES * rate);
        run_until(&mut simulation, next)?;
        let now = simulation.snapshot();
        let stirring: f64 = (0..now.id.len())
            .map(|i| {
                let mut own = now.velocity[i];
                own[flow] -= rate * (now.position[i][gradient] - middle);
                now.mass[i] * dot(own, own)
            })
            .sum();
        let virial = virial(&mut simulation)?;
        pressures.push((virial + stirring) / (3.0 * volume(&domain)));
    }
    // The work of the sides is shear stress times shear rate times volume times time.
    let lasted = simulation.time() - start;
    let stress = (simulation.ledger().wall_work - work) / (lasted * rate * volume(&domain));
    let pressure = mean(&pressures, |pressure| *pressure);
    Ok(Flow {
        inertial: rate * diameter * (density / pressure).sqrt(),
        friction: stress / pressure,
        pressure,
    })
}

/// Frictional spheres between sliding periodic sides, at several solid fractions and rates.
pub fn mu_i(case_run: &mut CaseRun) -> Done {
    let (mut measured, mut expected) = (Vec::new(), Vec::new());
    let mut flows: Vec<([f64; 3], Flow)> = Vec::new();
    for (name, [friction, fraction, rate, quasistatic, jamming]) in case_run.reference()? {
        let mut scene = case_run.scene_with(&[
            ("interaction.grain-grain.friction".to_owned(), friction.to_string()),
            ("world.domain.shear.rate".to_owned(), rate.to_string()),
        ])?;
        let here = Settings {
            device: DeviceChoice::Cpu,
            precision: None,
            ..scene.settings.clone()
        };
        compress_periodic(&mut scene.world, &here, fraction)?;
        let flow = flow_of(scene.world, scene.settings)?;
        let law = expected_friction(quasistatic, flow.inertial);
        case_run.row(format!("{name}: shear stress over pressure [-]"), flow.friction, law, 0.03);
        let inertial = (jamming - fraction) / INERTIAL_PRESSURE.sqrt();
        case_run.row_within(0.12, format!("{name}: inertial number [-]"), flow.inertial, inertial);
        measured.push((flow.inertial, flow.friction));
        expected.push((flow.inertial, law));
        // The same grains at the same solid fraction and another rate, and so another pressure, give the same point of the curve.
        let same = flows
            .iter()
            .find(|([f, part, r], _)| (*f, *part) == (friction, fraction) && *r != rate);
        if let Some(([.., other_rate], other)) = same {
            case_run.row(
                format!("{name}: pressure over that at the other rate, by the rates squared [-]"),
                flow.pressure / other.pressure * (other_rate / rate).powi(2),
                1.0,
                0.15,
            );
            let change = flow.friction - other.friction;
            case_run.row(format!("{name}: change of shear stress over pressure [-]"), change, 0.0, 0.02);
        }
        flows.push(([friction, fraction, rate], flow));
    }
    measured.sort_by(|a, b| a.0.total_cmp(&b.0));
    expected.sort_by(|a, b| a.0.total_cmp(&b.0));
    case_run.curve(
        "friction",
        ["inertial number I [-]", "shear stress over pressure [-]"],
        vec![("measured".to_owned(), measured), ("Chialvo et al. 2012".to_owned(), expected)],
    );
    Ok(())
}
