//! Ghost grains: chosen when neighbor lists are rebuilt, and updated at every step.
//!
//! A grain is a ghost of each neighbor whose block with its halo contains it. At a rebuild the grains are still in the order of the last sort into
//! cells. So the grains in the cells near that block can be tested, and those that migrated here since, in place of all \[Harada 2010\].

use super::{Subdomain, through};
use crate::exchange::{DecodeError, HaltReason, SharedParticles, encode, from_bytes, read, to_bytes};
use crate::fields::{Fields, Sorted};
use crate::state::State;
use seixo_sweeps::bodies::{FREE, ghost_of};
use seixo_sweeps::layout::RECORD;
use std::collections::HashSet;
use std::ops::Range;
use std::time::Instant;

impl Subdomain {
    /// Sends the grains that are ghosts elsewhere, and receives its own ghosts; returns the ids of both in place of indices. The first grains here had
    /// the indices `sorted` at the last sort into cells; without any, all grains are tested.
    pub(super) fn exchange_ghosts(&mut self, sorted: &[u32]) -> Result<Vec<SharedParticles>, HaltReason> {
        let beside = self.cuts.beside(self.rank).to_vec();
        let bonded = self.local.populations.bonded_across();
        let mut fields = std::mem::take(&mut self.local.populations.grains.fields);
        let (mut sent, mut messages) = (Vec::new(), Vec::new());
        for &other in &beside {
            let clock = Instant::now();
            let (ghosts, tested) = self.ghosts_of(other, &fields, sorted, &bonded);
            let counted = self.counted();
            counted.selecting += clock.elapsed();
            counted.tested += tested;
            let picked = fields.pick(&ghosts);
            let mut state = State::default();
            picked.save(None, &mut state);
            messages.push(encode(&state));
            sent.push(picked.id);
        }
        fields.member.resize(fields.len(), FREE);
        let mut copied = Vec::new();
        for ((received, own), with) in self.exchange(messages)?.into_iter().zip(sent).zip(beside) {
            let mut copies = Fields::load(&read(&received)?).map_err(|_| DecodeError)?;
            copies.member.resize(copies.len(), FREE);
            copies.member.iter_mut().for_each(|member| *member = ghost_of(*member));
            fields.append(&copies);
            copied.push(SharedParticles {
                with,
                own,
                ghosts: copies.id,
            });
        }
        self.local.populations.grains.fields = fields;
        Ok(copied)
    }

    /// Indices of the grains that are ghosts of another subdomain, in their order: those in its halo, and those with ids in `bonded`, which are bonded to
    /// grains of others. Also the number of grains that were tested.
    fn ghosts_of(&self, other: usize, fields: &Fields, sorted: &[u32], bonded: &HashSet<u32>) -> (Vec<u32>, u64) {
        let populations = &self.local.populations;
        let n = fields.len() as u32;
        let mut candidates: Vec<Range<u32>> = Vec::new();
        if !sorted.is_empty() {
            let now = |index: usize| sorted.partition_point(|&at| (at as usize) < index) as u32;
            let ranges = populations.grains.cells.ranges_near(&self.cuts.with_halo(other));
            candidates.extend(ranges.into_iter().map(|range| now(range.start)..now(range.end)));
        }
        candidates.push(sorted.len() as u32..n);
        let tested = candidates.iter().map(|range| range.len() as u64).sum();
        let places = fields.reference.as_chunks::<3>().0;
        let is_ghost = |i: &u32| self.cuts.is_in_halo_of(other, &places[*i as usize]);
        let mut ghosts: Vec<u32> = candidates.into_iter().flatten().filter(is_ghost).collect();
        if !bonded.is_empty() {
            ghosts.extend((0..n).filter(|i| bonded.contains(&fields.id[*i as usize])));
        }
        ghosts.sort_unstable();
        ghosts.dedup();
        (ghosts, tested)
    }

    /// Sends the positions of its own grains that are ghosts elsewhere. The messages travel while it continues.
    pub(super) fn send_ghost_positions(&mut self) -> Result<(), HaltReason> {
        let fields = &self.local.populations.grains.fields;
        let moving = |&i: &u32| {
            let (i, at) = (i as usize, i as usize * RECORD);
            let spin = fields.spin.get(at..at + 3).unwrap_or_default();
            let turn = fields.orientation.get(at..at + RECORD).unwrap_or_default();
            let vectors = [&fields.position[at..at + 3], &fields.velocity[at..at + 3], spin, turn].concat();
            vectors
                .into_iter()
                .chain(fields.scalars.carried().map(move |(_, column)| column[i]))
        };
        for shared in &self.shared {
            let reported: Vec<f64> = shared.own.iter().flat_map(moving).collect();
            through(&mut self.transport).send(shared.with, to_bytes(&reported))?;
        }
        Ok(())
    }

    /// Moves ghosts to the received positions.
    pub(super) fn receive_ghost_positions(&mut self) -> Result<(), HaltReason> {
        let fields = &mut self.local.populations.grains.fields;
        let moved = 6 + 3 * usize::from(!fields.spin.is_empty());
        let turning = RECORD * usize::from(!fields.orientation.is_empty());
        let numbers = moved + turning + fields.scalars.carried_count();
        for shared in &self.shared {
            let moving = from_bytes(&through(&mut self.transport).receive(shared.with)?)?;
            if moving.len() != numbers * shared.ghosts.len() {
                return Err(DecodeError.into());
            }
            for (&i, moving) in shared.ghosts.iter().zip(moving.chunks_exact(numbers)) {
                let at = i as usize * RECORD;
                let (vectors, others) = moving.split_at(moved);
                let (turn, scalars) = others.split_at(turning);
                if let Some(slot) = fields.orientation.get_mut(at..at + RECORD) {
                    slot.copy_from_slice(turn);
                }
                let columns = [&mut fields.position, &mut fields.velocity, &mut fields.spin];
                for (column, vector) in columns.into_iter().zip(vectors.as_chunks::<3>().0) {
                    column[at..at + 3].copy_from_slice(vector);
                }
                for ((_, column), &value) in fields.scalars.columns_mut().filter(|(_, column)| !column.is_empty()).zip(scalars) {
                    column[i as usize] = value;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::part_range;
    use crate::gpu::search_tests::world;
    use crate::simulation::Simulation;
    use crate::world::Settings;
    use seixo_sweeps::bodies::is_ghost;

    #[test]
    fn inner_grains_do_not_wait_for_copies() {
        // A rod of spheres that overlap a little, cut in the middle.
        let spheres: Vec<([f64; 3], f64)> = (0..12_800u32)
            .map(|k| {
                (
                    [
                        f64::from(k / 100) * 0.99e-3,
                        f64::from(k / 10 % 10) * 0.99e-3,
                        f64::from(k % 10) * 0.99e-3,
                    ],
                    5e-4,
                )
            })
            .collect();
        let settings = Settings {
            domains: 2,
            threads: 2,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(world(&spheres), settings).unwrap();
        for domain in &mut simulation.subdomains.as_mut().unwrap().domains {
            let local = &mut domain.local;
            let n = local.populations.grains.fields.len();
            // Inner forces must not depend on the positions of ghosts.
            for i in (0..n).filter(|&i| is_ghost(local.populations.grains.fields.member[i])) {
                local.populations.grains.fields.position[4 * i..4 * i + 3].fill(f64::NAN);
            }
            local.populations.grains.fields.force.fill(f64::INFINITY);
            local.populations.inner_contact_forces();
            let at_border = local.populations.grains.border.parts.iter().filter(|part| **part).count();
            assert!(
                at_border > 0 && 2 * at_border < local.populations.grains.border.parts.len(),
                "{at_border}"
            );
            for (part, at_border) in local.populations.grains.border.parts.iter().enumerate() {
                let (first, end) = part_range(part, n);
                let mut forces = local.populations.grains.fields.force[4 * first..4 * end].iter();
                assert!(if *at_border {
                    forces.all(|f| f.is_infinite())
                } else {
                    forces.all(|f| f.is_finite())
                });
            }
            // Then the remaining forces are computed, and none twice: a ghost without a position has no contacts.
            local.populations.grain_forces().unwrap();
            assert!(local.populations.grains.fields.force.iter().all(|f| f.is_finite()));
        }
    }
}
