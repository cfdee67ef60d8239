//! A scene in the hands of a program: steps up to a condition, a change, a file to go on from.

use seixo::run::{Session, UserChange};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = seixo::scene::load("ball.toml".as_ref(), &[])?;
    let mut session = Session::new(scene)?;
    let mut landing = session.until("wall_force.floor > 0.1 N")?.every(1e-4);
    session.advance(50_000, Some(&mut landing))?;
    println!("{:.4} s: {:?}", session.simulation().time(), landing.reason());
    let gravity = [0.0, 0.0, -1.62];
    session.change(UserChange::Gravity { gravity })?;
    session.advance(10_000, None)?;
    println!("{:?}", session.simulation().snapshot().position);
    session.save("ball.session".as_ref())?;
    Ok(())
}
