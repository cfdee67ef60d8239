//! Try.
use seixo_scene::*;
fn main() {
    for t in templates() {
        let s = load_text(t.text, std::path::Path::new("a.toml"), &[]).unwrap();
        let n = s.world.grains.len();
        let mut settings = s.settings.clone(); settings.threads = 1;
        let mut sim = seixo_engine::Simulation::new(s.world, settings).unwrap();
        let dt = sim.time_step().clone();
        let t0 = std::time::Instant::now();
        let mut r = Ok(());
        while sim.time() < s.run.until && t0.elapsed().as_secs() < 40 { r = sim.step(); if r.is_err() { break; } }
        let g = sim.snapshot();
        let zmin = g.position.iter().map(|p| p[2]).fold(1e9, f64::min);
        let rate = n as f64 * sim.steps() as f64 / t0.elapsed().as_secs_f64();
        println!("{} n {} dt {:?} steps wanted {:.0} t {} of {} left {} zmin {} rate {:.2e} {:?}", t.name, n, dt, s.run.until/dt.value, sim.time(), s.run.until, sim.len(), zmin, rate, r.map_err(|e| e.to_string()));
    }
}
