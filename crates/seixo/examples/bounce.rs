//! The library in ten lines: read a scene, step it, look at the grains.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).unwrap_or("examples/bounce.toml".into());
    let scene = seixo::scene::load(file.as_ref(), &[])?;
    let mut simulation = seixo::Simulation::new(scene.world, scene.settings)?;
    while simulation.time() < 1.0 {
        simulation.advance(2500)?;
        let heights = simulation.snapshot().position.iter().map(|center| center[2]).collect::<Vec<f64>>();
        println!("{:.2} s  {heights:.3?} m", simulation.time());
    }
    println!("{:?}", simulation.ledger());
    Ok(())
}
