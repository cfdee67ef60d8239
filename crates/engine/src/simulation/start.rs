//! Start of a simulation with grains that another one saved.

use crate::bodies::Bodies;
use crate::checkpoint::{contact_ledger, digests_of_shapes, given_masses, misfit, numbers, padded, words};
use crate::fields::Fields;
use crate::measure::NO_CONTACT;
use crate::passes::saved_shape_contacts;
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::state::{Column, Sections, State};
use crate::world::{Body, Grains, SavedBond, SavedContact, SavedForces, SavedGrains, SavedHistory, SavedWallContact, Vec3, array, vector};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::{FREE, torque_of};
use seixo_sweeps::bonds::{BOND, BROKEN};
use seixo_sweeps::layout::{EXTENDED_HISTORY_STRIDE, HOLDS, RECORD, WALL_CONTACT, history_stride, load, store};
use seixo_sweeps::motion::{StepParameters, acceleration, angular_acceleration};
use std::collections::{HashMap, HashSet};

/// Section of a checkpoint: gravity \[m/s²\], and the time by which velocities at whole steps are ahead of the stored ones \[s\].
const MOTION: &str = "clock/motion";

/// Largest distance of the nearest points of a wall, in radii of the grain, at which a contact with it is the same as before. Rounding of a rotation is
/// far below it, and a grain that moved along the wall is far above it.
const SAME_POINT: f64 = 1e-6;

/// Share of the mass of its body that a sphere has in contacts, above which the body has prescribed motion; it is one for others.
const OF_PRESCRIBED: f64 = 1e3;

/// Vector k of a column with this many numbers for each; zero where the column is empty.
fn three(values: &[f64], k: usize, stride: usize) -> Vec3 {
    std::array::from_fn(|axis| values.get(k * stride + axis).copied().unwrap_or(0.0))
}

/// Contact histories of this many contacts, padded.
fn histories(state: &State, name: &str, count: usize) -> Result<Vec<SavedHistory>, WorldError> {
    let values = numbers(state, name, None)?;
    let is_extended = values.len() == count * EXTENDED_HISTORY_STRIDE;
    let kept = history_stride(is_extended);
    if values.len() != count * kept {
        return Err(misfit(&format!("section {name} has the wrong size")));
    }
    let of_contact = |record: &[f64]| {
        let mut history = padded(record);
        if !is_extended {
            // A saved contact holds, which the history of an extended contact says and that of another does not.
            history[HOLDS] = 1.0;
        }
        history
    };
    Ok(values.chunks_exact(kept).map(of_contact).collect())
}

impl SavedGrains {
    /// What a simulation saved of its grains, rigid bodies, contacts and bonds. Disabled grains and fluids are left out, and bodies on joints come free
    /// of them.
    ///
    /// # Errors
    /// If a section is missing or does not match the others.
    ///
    /// ```
    /// use seixo_engine::Simulation;
    /// use seixo_engine::world::{Interaction, SavedGrains, Settings, World};
    /// use std::sync::Arc;
    ///
    /// let world = World::builder()
    ///     .material("glass", 2500.0, 1e7, 0.2)
    ///     .interaction("glass", "glass", Interaction::default())
    ///     .grain("balls", "glass", [0.0, 0.0, 0.1], 1e-3)
    ///     .build()?;
    /// let mut first = Simulation::new(world.clone(), Settings::default())?;
    /// let saved = SavedGrains::of(&first.save().unwrap())?;
    /// assert_eq!(saved.grains.position, [[0.0, 0.0, 0.1]]);
    /// let second = World { grains: saved.grains.clone(), saved: Some(Arc::new(saved)), ..world };
    /// assert_eq!(Simulation::new(second, Settings::default())?.len(), 1);
    /// # Ok::<(), seixo_engine::WorldError>(())
    /// ```
    pub fn of(state: &State) -> Result<SavedGrains, WorldError> {
        let fields = Fields::load(state).map_err(|name| misfit(&format!("section {name} is missing or of the wrong size")))?;
        let n = fields.len();
        let records = [&fields.position, &fields.velocity, &fields.force];
        if records.iter().any(|column| column.len() != n * RECORD)
            || [&fields.material, &fields.group].iter().any(|column| column.len() != n)
        {
            return Err(misfit("its grains have other columns"));
        }
        let [x, y, z, velocity_lead] = *numbers(state, MOTION, Some(4))? else {
            unreachable!("the length was checked")
        };
        let [shape_contacts, shape_wall_contacts] = saved_shape_contacts(state)?;
        let mut saved = SavedGrains {
            grains: grains_of(&fields, state),
            forces: (0..n).map(|k| forces_of(&fields, k)).collect(),
            gravity: [x, y, z],
            velocity_lead,
            shape_contacts,
            shape_wall_contacts,
            shape_digests: digests_of_shapes(state).to_vec(),
            power_sums: Some(contact_ledger(state)?.1),
            ..SavedGrains::default()
        };
        if state.get("bodies/id").is_some() {
            saved.take_bodies(&Bodies::load(state, &fields.member, &[])?, &fields);
        }
        let pairs = words(state, "contacts/pair")?.as_chunks::<2>().0;
        let of_first = histories(state, "contacts/history", pairs.len())?;
        let of_second = state
            .get("contacts/of_second")
            .map(|_| histories(state, "contacts/of_second", pairs.len()))
            .transpose()?;
        let contact = |k: usize| SavedContact {
            ids: pairs[k],
            of_first: of_first[k],
            of_second: of_second.as_ref().map(|of_second| of_second[k]),
        };
        saved.contacts = (0..pairs.len()).map(contact).collect();
        let touching = words(state, "walls/touching")?.as_chunks::<2>().0;
        let records = numbers(state, "walls/touches", Some(touching.len() * WALL_CONTACT))?;
        let of_walls = histories(state, "walls/history", touching.len())?;
        let records = records.as_chunks::<WALL_CONTACT>().0;
        let contact = |k: usize| SavedWallContact {
            id: touching[k][0],
            record: records[k],
            history: of_walls[k],
        };
        saved.wall_contacts = (0..touching.len()).map(contact).collect();
        if state.get("bonds/record").is_some() {
            saved.bonds = bonds_of(state)?;
        }
        Ok(saved)
    }

    /// Takes over the rigid bodies, except those with prescribed motion, whose grains are then single ones.
    fn take_bodies(&mut self, bodies: &Bodies, fields: &Fields) {
        for b in 0..bodies.len() {
            let (first, end) = (bodies.row[b] as usize, bodies.row[b + 1] as usize);
            let mass = bodies.center[b * RECORD + 3];
            let place = bodies.place.get(first).map_or(0, |&place| place as usize);
            if first == end || fields.velocity[place * RECORD + 3] > OF_PRESCRIBED * mass {
                continue;
            }
            let carries = (first..end).map(|m| (fields.id[bodies.place[m] as usize], three(&bodies.offset, m, RECORD)));
            let orientation = &bodies.orientation[b * RECORD..][..RECORD];
            self.grains.bodies.push(Body {
                id: self.grains.bodies.len() as u32,
                mass,
                moments: three(&bodies.moments, b, RECORD),
                center: three(&bodies.center, b, RECORD),
                orientation: std::array::from_fn(|k| orientation[k]),
                velocity: three(&bodies.velocity, b, RECORD),
                angular_velocity: three(&bodies.spin, b, RECORD),
                motion: None,
                joint: None,
                carries: carries.collect(),
            });
            self.of_bodies
                .push([three(&bodies.half_velocity, b, RECORD), three(&bodies.momentum, b, RECORD)]);
        }
    }
}

/// Grains with these fields, and their given masses.
fn grains_of(fields: &Fields, state: &State) -> Grains {
    let mut grains = Grains::default();
    for k in 0..fields.len() {
        grains.push(
            fields.id[k],
            three(&fields.position, k, RECORD),
            three(&fields.velocity, k, RECORD),
            three(&fields.spin, k, RECORD),
            fields.position[k * RECORD + 3],
            fields.material[k],
            fields.group[k],
        );
        grains.scalars.push_from(&fields.scalars, k);
    }
    if fields.shape.len() == fields.len() && fields.orientation.len() == fields.len() * RECORD {
        grains.shape.clone_from(&fields.shape);
        grains.orientation = fields.orientation.as_chunks::<RECORD>().0.to_vec();
    }
    grains.masses = given_masses(state).unwrap_or_default();
    grains
}

fn forces_of(fields: &Fields, k: usize) -> SavedForces {
    let is_free = fields.member.get(k).is_none_or(|&member| member == FREE);
    SavedForces {
        force: std::array::from_fn(|c| fields.force[k * RECORD + c]),
        torque: three(&fields.torque, k, RECORD),
        velocity: three(&fields.half_velocity, k, 3),
        spin: three(&fields.half_spin, k, 3),
        orientation: fields
            .orientation
            .get(k * RECORD..(k + 1) * RECORD)
            .map(|orientation| std::array::from_fn(|c| orientation[c])),
        momentum: (is_free && !fields.angular_momentum.is_empty()).then(|| three(&fields.angular_momentum, k, 3)),
    }
}

/// Bonds that hold.
fn bonds_of(state: &State) -> Result<Vec<SavedBond>, WorldError> {
    let (ends, rows) = (words(state, "bonds/ends")?.as_chunks::<2>().0, words(state, "bonds/kind")?);
    let records = numbers(state, "bonds/record", Some(rows.len() * BOND))?.as_chunks::<BOND>().0;
    if ends.len() != rows.len() {
        return Err(misfit("its bonds are incomplete"));
    }
    let bond = |k: usize| SavedBond {
        ids: ends[k],
        row: rows[k],
        record: records[k],
    };
    Ok((0..rows.len()).map(bond).filter(|bond| bond.record[BROKEN] == 0.0).collect())
}

impl Populations {
    /// Saves what [`SavedGrains::of`] needs beside the state.
    pub(crate) fn save_motion(&self, to: &mut dyn Sections) {
        let stepping = &self.context.stepping;
        let [x, y, z] = array(&stepping.gravity);
        to.put(MOTION, Column::F64(vec![x, y, z, stepping.velocity_lead]));
    }

    /// Lets saved grains go on as they were, in a world that was set up as at time zero. As after any change between two steps, the forces of the last
    /// step are kept, and all that differs from the other world acts from the next step on.
    ///
    /// # Errors
    /// If a contact does not match the lists.
    pub(crate) fn go_on_from(&mut self, saved: &SavedGrains) -> Result<(), WorldError> {
        let places: HashMap<u32, usize> = self.grains.fields.id.iter().copied().zip(0..).collect();
        self.go_on_with_forces(saved, &places);
        self.go_on_with_bodies(saved, &places);
        self.begin_gear(0..self.grains.fields.len());
        self.begin_gear_of_bodies(0..self.bodies.len());
        if let Some(network) = &mut self.bonds {
            network.go_on_from(&saved.bonds);
            self.list_bonds();
        }
        self.go_on_with_contacts(saved, &places)?;
        self.go_on_with_wall_contacts(saved, &places);
        self.go_on_with_contacts_of_polyhedra(saved);
        self.ledger.last_power_sums = saved.power_sums.unwrap_or(NO_CONTACT);
        // What springs store at the start is no work since then.
        self.ledger.work.tangential = self.gpu_energies().elastic_tangential;
        Ok(())
    }

    fn go_on_with_forces(&mut self, saved: &SavedGrains, places: &HashMap<u32, usize>) {
        let stepping = self.context.stepping;
        let before = saved.stepping(&stepping);
        for (id, forces) in saved.grains.id.iter().zip(&saved.forces) {
            let Some(&i) = places.get(id) else { continue };
            let at = i * RECORD;
            let (is_carried, is_polyhedral) = (self.body_of(i).is_some(), self.is_polyhedral(i));
            let fields = &mut self.grains.fields;
            fields.force[at..at + RECORD].copy_from_slice(&forces.force);
            if let Some(torque) = fields.torque.get_mut(at..at + 3) {
                torque.copy_from_slice(&forces.torque);
            }
            if let (Some(orientation), Some(before)) = (fields.orientation.get_mut(at..at + RECORD), forces.orientation) {
                orientation.copy_from_slice(&before);
            }
            if is_carried {
                continue;
            }
            let (radius, mass) = (fields.position[at + 3], fields.velocity[at + 3]);
            let (velocity, force) = (load(&fields.velocity, at), load(&forces.force, 0));
            let ahead = |by: &StepParameters<f64, f64>| acceleration(&velocity, mass, &force, by).rate.times(by.velocity_lead);
            let kept = vector(forces.velocity).plus(&ahead(&before).minus(&ahead(&stepping)));
            store(&mut fields.half_velocity, 3 * i, &kept);
            if fields.half_spin.is_empty() {
                continue;
            }
            let (spin, torque) = (load(&fields.spin, at), vector(forces.torque));
            if is_polyhedral {
                // Without one, it is that of the start, which follows from the angular velocity.
                if let Some(momentum) = forces.momentum {
                    let ahead = |by: &StepParameters<f64, f64>| {
                        let turning = torque_of::<f64>(&spin, &torque, &torque, by.local_damping);
                        turning.rate.times(by.velocity_lead)
                    };
                    let kept = vector(momentum).plus(&ahead(&before).minus(&ahead(&stepping)));
                    store(&mut fields.angular_momentum, 3 * i, &kept);
                }
            } else {
                let ahead = |by: &StepParameters<f64, f64>| {
                    let turning = angular_acceleration(&spin, mass, radius, &torque, by);
                    turning.rate.times(by.velocity_lead)
                };
                let kept = vector(forces.spin).plus(&ahead(&before).minus(&ahead(&stepping)));
                store(&mut fields.half_spin, 3 * i, &kept);
            }
        }
    }

    fn go_on_with_bodies(&mut self, saved: &SavedGrains, places: &HashMap<u32, usize>) {
        let stepping = self.context.stepping;
        let before = saved.stepping(&stepping);
        for (body, &[velocity, momentum]) in saved.grains.bodies.iter().zip(&saved.of_bodies) {
            let first = body.carries.first().and_then(|(id, _)| places.get(id));
            let Some(b) = first.and_then(|&i| self.body_of(i)).filter(|&b| !self.bodies.is_bound(b)) else {
                continue;
            };
            let ahead = |by: &StepParameters<f64, f64>| {
                let rates = self.bodies.rates(b, &self.grains.fields, by);
                rates.map(|rate| rate.times(by.velocity_lead))
            };
            let ([moved, turned], [moves, turns]) = (ahead(&before), ahead(&stepping));
            store(
                &mut self.bodies.half_velocity,
                b * RECORD,
                &vector(velocity).plus(&moved.minus(&moves)),
            );
            store(&mut self.bodies.momentum, b * RECORD, &vector(momentum).plus(&turned.minus(&turns)));
        }
    }

    fn go_on_with_contacts(&mut self, saved: &SavedGrains, places: &HashMap<u32, usize>) -> Result<(), WorldError> {
        if !self.context.materials.has_friction {
            return Ok(());
        }
        let kept = history_stride(self.context.materials.are_extended);
        let (mut pair, mut history, mut of_second) = (Vec::new(), Vec::new(), Vec::new());
        for contact in &saved.contacts {
            let [Some(&i), Some(&j)] = contact.ids.map(|id| places.get(&id)) else {
                continue;
            };
            // Periodic sides may differ from those of the other world.
            let pairs = &self.grains.pairs;
            if pairs.of(i).contains(&(j as u32)) || pairs.of(j).contains(&(i as u32)) {
                pair.extend(contact.ids);
                history.extend(&contact.of_first[..kept]);
                of_second.extend(contact.of_second.iter().flat_map(|record| &record[..kept]));
            }
        }
        let mut contacts = State::default();
        if !of_second.is_empty() {
            contacts.put("contacts/of_second", Column::F64(of_second));
        }
        contacts.put("contacts/pair", Column::U32(pair));
        contacts.put("contacts/history", Column::F64(history));
        contacts.put("walls/touching", Column::U32(Vec::new()));
        contacts.put("walls/history", Column::F64(Vec::new()));
        contacts.put("walls/touches", Column::F64(Vec::new()));
        self.restore_histories_in_rows(&contacts, false)
    }

    /// Carries over the histories of contacts with walls that are where they were; which walls these are does not matter.
    fn go_on_with_wall_contacts(&mut self, saved: &SavedGrains, places: &HashMap<u32, usize>) {
        let kept = self.walls.contact_histories;
        let mut taken = HashSet::new();
        for contact in &saved.wall_contacts {
            let Some(&i) = places.get(&contact.id) else { continue };
            let reach = SAME_POINT * self.grains.fields.position[i * RECORD + 3];
            let point: Vector3<f64> = load(&contact.record, 0);
            let walls = &mut self.walls;
            let mut row = walls.row[i] as usize..walls.row[i + 1] as usize;
            let is_same = |k: &usize| {
                let record = &walls.wall_contacts[k * WALL_CONTACT..][..WALL_CONTACT];
                record[WALL_CONTACT - 1] > 0.0 && load::<f64>(record, 0).minus(&point).length() <= reach && !taken.contains(k)
            };
            if let Some(k) = row.find(is_same) {
                taken.insert(k);
                walls.history[k * kept..][..kept].copy_from_slice(&contact.history[..kept]);
                walls.wall_contacts[k * WALL_CONTACT..][..WALL_CONTACT].copy_from_slice(&contact.record);
            }
        }
    }
}
