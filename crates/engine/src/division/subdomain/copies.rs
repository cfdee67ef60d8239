//! Copies of the grains of other domains: chosen as lists are made, and told at every step where their originals are.

use super::super::letters::{Illegible, from_bytes, letter, read, to_bytes};
use super::{Halt, Shared, Subdomain, through};
use crate::fields::{Fields, Sorted};
use crate::state::State;
use seixo_sweeps::bodies::{FREE, ghost_of};
use seixo_sweeps::views::RECORD;

impl Subdomain {
    /// Sends copies of grains that others feel, and takes in theirs; returns the ids of both in place of places.
    pub(super) fn exchange_copies(&mut self) -> Result<Vec<Shared>, Halt> {
        let beside = self.cuts.beside(self.rank).to_vec();
        let bonded = self.simulation.bonded_across();
        let mut fields = std::mem::take(&mut self.simulation.fields);
        let (mut sent, mut letters) = (Vec::new(), Vec::new());
        for &other in &beside {
            let felt = fields
                .reference
                .chunks_exact(3)
                .zip(0u32..)
                .filter(|(place, i)| self.cuts.is_felt_in(other, place) || bonded.contains(&fields.id[*i as usize]));
            let picked = fields.pick(&felt.map(|(_, i)| i).collect::<Vec<u32>>());
            let mut state = State::default();
            picked.save(&mut state);
            letters.push(letter(&state));
            sent.push(picked.id);
        }
        fields.member.resize(fields.len(), FREE);
        let mut copied = Vec::new();
        for ((received, own), with) in self.exchange(letters)?.into_iter().zip(sent).zip(beside) {
            let mut copies = Fields::load(&read(&received)?).map_err(|_| Illegible)?;
            copies.member.resize(copies.len(), FREE);
            copies.member.iter_mut().for_each(|member| *member = ghost_of(*member));
            fields.append(&copies);
            copied.push(Shared {
                with,
                own,
                copies: copies.id,
            });
        }
        self.simulation.fields = fields;
        Ok(copied)
    }

    /// Tells others where those of its grains are now that they have copies of. These letters travel while it goes on.
    pub(super) fn show_originals(&mut self) -> Result<(), Halt> {
        let fields = &self.simulation.fields;
        let moving = |&i: &u32| {
            let (i, at) = (i as usize, i as usize * RECORD);
            let spin = fields.spin.get(at..at + 3).unwrap_or_default();
            let temperature = fields.temperature.get(i..=i).unwrap_or_default();
            let turn = fields.turn.get(at..at + RECORD).unwrap_or_default();
            [&fields.position[at..at + 3], &fields.velocity[at..at + 3], spin, temperature, turn].concat()
        };
        for shared in &self.shared {
            let told: Vec<f64> = shared.own.iter().flat_map(moving).collect();
            through(&mut self.transport).send(shared.with, to_bytes(&told))?;
        }
        Ok(())
    }

    /// Puts copies where others have told that their originals are.
    pub(super) fn follow_originals(&mut self) -> Result<(), Halt> {
        let fields = &mut self.simulation.fields;
        let moved = 6 + 3 * usize::from(!fields.spin.is_empty()) + usize::from(!fields.temperature.is_empty());
        let numbers = moved + RECORD * usize::from(!fields.turn.is_empty());
        for shared in &self.shared {
            let moving = from_bytes(&through(&mut self.transport).receive(shared.with)?)?;
            if moving.len() != numbers * shared.copies.len() {
                return Err(Illegible.into());
            }
            for (&i, moving) in shared.copies.iter().zip(moving.chunks_exact(numbers)) {
                let at = i as usize * RECORD;
                let (moving, turn) = moving.split_at(moved);
                if let Some(slot) = fields.turn.get_mut(at..at + RECORD) {
                    slot.copy_from_slice(turn);
                }
                let columns = [&mut fields.position, &mut fields.velocity, &mut fields.spin];
                let (vectors, temperature) = moving.as_chunks::<3>();
                for (column, vector) in columns.into_iter().zip(vectors) {
                    column[at..at + 3].copy_from_slice(vector);
                }
                if let Some(&temperature) = temperature.first() {
                    fields.temperature[i as usize] = temperature;
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
        for domain in &mut simulation.division.as_mut().unwrap().domains {
            let simulation = &mut domain.simulation;
            let n = simulation.fields.len();
            // Wherever copies may be.
            for i in (0..n).filter(|&i| is_ghost(simulation.fields.member[i])) {
                simulation.fields.position[4 * i..4 * i + 3].fill(f64::NAN);
            }
            simulation.fields.force.fill(f64::INFINITY);
            simulation.push_inner_grains();
            let at_border = simulation.border.parts.iter().filter(|part| **part).count();
            assert!(at_border > 0 && 2 * at_border < simulation.border.parts.len(), "{at_border}");
            for (part, at_border) in simulation.border.parts.iter().enumerate() {
                let (first, end) = part_range(part, n);
                let mut forces = simulation.fields.force[4 * first..4 * end].iter();
                assert!(if *at_border {
                    forces.all(|f| f.is_infinite())
                } else {
                    forces.all(|f| f.is_finite())
                });
            }
            // The rest is found then, and nothing twice: a copy that is nowhere touches nothing.
            simulation.push_grains().unwrap();
            assert!(simulation.fields.force.iter().all(|f| f.is_finite()));
        }
    }
}
