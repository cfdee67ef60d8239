//! A scene into a run folder, with stages, probes and frames.

use seixo::run::{self, NoObserver, Options};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = seixo::scene::load("ball.toml".as_ref(), &[])?;
    let ending = run::start(scene, "ball.out".as_ref(), Options::new(&mut NoObserver))?;
    println!("{} steps", ending.record.steps);
    Ok(())
}
