//! Worlds with another fluid solver.

use seixo_engine::world::{Solver, World};

/// The same world with incompressible fluids.
pub fn incompressible(mut world: World) -> World {
    let fluids = world.fluids.as_mut().unwrap();
    fluids.solver = Solver::Incompressible;
    fluids.particles.pressure.fill(0.0);
    for kind in &mut fluids.kinds {
        (kind.density_diffusion, kind.background_pressure) = (0.0, 0.0);
    }
    world
}
