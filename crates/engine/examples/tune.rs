//! tune
use seixo_engine::world::*;
use seixo_engine::*;
use seixo_laws::contact::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n: usize = a[1].parse().unwrap();
    let settle: u64 = a[2].parse().unwrap();
    let steps: u64 = a[3].parse().unwrap();
    let threads: usize = a[4].parse().unwrap();
    let tangential = if a.get(5).is_some_and(|s| s == "none") { TangentialLaw::None } else { TangentialLaw::Mindlin };
    let d = 1e-3;
    let s = std::env::var("SPACING").map_or(d * (std::f64::consts::PI / 6.0 / 0.30f64).powf(1.0 / 3.0), |v| v.parse::<f64>().unwrap() * d);
    let k = ((n as f64 / 30.0).sqrt()).ceil() as usize;
    let mut seed = 1u64;
    let mut rnd = || { seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); ((seed >> 33) as f64) / (1u64 << 31) as f64 * 2.0 - 1.0 };
    let mut grains = Grains::default();
    for i in 0..n {
        let p = [(i % k) as f64, ((i / k) % k) as f64, (i / (k * k)) as f64].map(|x| x * s + s / 2.0 + if s > d { 0.1 } else { 0.003 } * d * rnd());
        let v = [rnd() * 0.05, rnd() * 0.05, rnd() * 0.05];
        grains.push(i as u32, p, v, [0.0; 3], d / 2.0, 0, 0);
    }
    let l = k as f64 * s;
    let plane = |p: [f64; 3], nn: [f64; 3]| Wall { name: "box".into(), material: 0, shape: WallShape::Plane { point: p, normal: nn }, motion: WallMotion::default() };
    let world = World {
        gravity: [0.0, 0.0, -9.81], local_damping: 0.0, domain: None,
        materials: vec![Material { name: "m".into(), density: 2500.0, youngs_modulus: 1e7, poisson_ratio: 0.3 }],
        interactions: vec![Some(Interaction { normal: NormalLaw::Hertz, tangential, restitution: 0.5, friction: 0.5, stiffness: None, tangential_stiffness: None })],
        groups: vec!["g".into()], grains,
        walls: vec![plane([0.0; 3], [1.0, 0.0, 0.0]), plane([0.0; 3], [0.0, 1.0, 0.0]), plane([0.0; 3], [0.0, 0.0, 1.0]), plane([l, l, l], [-1.0, 0.0, 0.0]), plane([l, l, l], [0.0, -1.0, 0.0])],
    };
    let skin = a.get(6).map(|s| s.parse::<f64>().unwrap() * d);
    let mut sim = Simulation::new(world, Settings { time_step: Some(5e-6), threads, skin, ..Settings::default() }).unwrap();
    for phase in 0..2 {
        let steps = if phase == 0 { settle } else { steps };
        let (r0, p0) = (sim.rebuilds(), sim.profile().clone());
        let t = std::time::Instant::now();
        sim.advance(steps).unwrap();
        let dt = t.elapsed().as_secs_f64();
        println!("phase {phase}: {:.3} M particle-steps/s, rebuilds {}, contacts/n {:.2}, bytes/n {}", n as f64 * steps as f64 / dt / 1e6, sim.rebuilds() - r0, sim.contacts() as f64 / n as f64, sim.bytes() / n as u64);
        for (p, q) in sim.profile().passes.iter().zip(&p0.passes) { print!(" {} {:.1}%", p.0, 100.0 * (p.1 - q.1) / dt); }
        println!();
        let ledger = sim.ledger();
        println!("{ledger:?}");
    }
}
