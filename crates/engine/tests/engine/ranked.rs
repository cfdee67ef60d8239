//! Worlds decomposed among ranks.

use seixo_engine::world::{Settings, World};
use seixo_engine::{Ranks, Simulation};
use seixo_transport::Channels;
use std::thread;

/// Results of a world on several ranks, each a thread in place of a process.
pub fn among_ranks<T: Send>(ranks: usize, world: &World, program: impl Fn(&Ranks, Simulation) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let program = &program;
        let threads = Channels::all(ranks).into_iter().map(|way| {
            scope.spawn(move || {
                let ranks = Ranks::new(Box::new(way));
                let settings = Settings {
                    threads: 0,
                    ranks: Some(ranks.clone()),
                    ..Settings::default()
                };
                program(&ranks, Simulation::new(world.clone(), settings).unwrap())
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
