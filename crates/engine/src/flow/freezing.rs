//! Fluid that freezes: between two steps, a rigid body replaces some of its particles.

use super::Flow;
use crate::fields::Sorted;
use crate::state::{Column, Sections, State};
use crate::surroundings::Surroundings;
use crate::world::{BodyBoundary, Fluids, Solver, Vec3};
use std::collections::HashSet;

/// Fluid that is to freeze into one rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct Freezing {
    /// Ids of its particles.
    pub particles: Vec<u32>,
    /// Material of the spheres of the body: index into [`crate::world::World::materials`].
    pub material: u32,
    /// Group of the spheres: index into [`crate::world::World::groups`].
    pub group: u32,
}

/// Sections of the bodies that froze out of fluids: their ids and numbers of particles; the offsets of these particles.
const FROZEN: [&str; 2] = ["fluid/frozen", "fluid/frozen_offsets"];

/// What fluids interact with of a body that froze: its spheres of half a spacing for Müller's solver, else a particle in each place.
pub(crate) fn boundary_of_frozen(fluids: &Fluids, body: u32, offset: Vec<Vec3>) -> BodyBoundary {
    BodyBoundary {
        body,
        radius: match fluids.solver {
            Solver::Muller2003 => vec![0.5 * fluids.spacing; offset.len()],
            Solver::WeaklyCompressible | Solver::Incompressible => Vec::new(),
        },
        offset,
        volume: Vec::new(),
        slips: false,
        suspended: None,
    }
}

/// The saved bodies that froze out of fluids; `None` if a section does not match the other.
pub(crate) fn load_frozen(state: &State, fluids: &Fluids) -> Option<Vec<BodyBoundary>> {
    let (words, offsets) = match (state.get(FROZEN[0]), state.get(FROZEN[1])) {
        (None, None) => return Some(Vec::new()),
        (Some(Column::U32(words)), Some(Column::F64(offsets))) => (words.as_chunks::<2>(), offsets.as_chunks::<3>()),
        _ => return None,
    };
    let ((bodies, []), (mut offsets, [])) = (words, offsets) else {
        return None;
    };
    let mut frozen = Vec::new();
    for &[body, count] in bodies {
        let (own, others) = offsets.split_at_checked(count as usize)?;
        frozen.push(boundary_of_frozen(fluids, body, own.to_vec()));
        offsets = others;
    }
    offsets.is_empty().then_some(frozen)
}

impl Flow {
    /// Bodies that froze out of fluids, also those that melted since.
    pub(crate) fn frozen(&self) -> &[BodyBoundary] {
        let all = &self.plan.body_boundaries;
        &all[all.len() - self.frozen_bodies..]
    }

    /// Saves the bodies that froze, which the world does not contain.
    pub(super) fn save_frozen(&self, to: &mut dyn Sections) {
        if self.frozen_bodies == 0 {
            return;
        }
        let words = self.frozen().iter().flat_map(|frozen| [frozen.body, frozen.offset.len() as u32]);
        to.put(FROZEN[0], Column::U32(words.collect()));
        let offsets = self.frozen().iter().flat_map(|frozen| frozen.offset.iter().flatten());
        to.put(FROZEN[1], Column::F64(offsets.copied().collect()));
    }

    /// Replaces particles with these ids by the boundary particles of a body, which is there, and recomputes forces. All other fluid keeps its
    /// current velocities.
    pub(crate) fn solidify(&mut self, ids: &HashSet<u32>, body_boundary: &BodyBoundary, surroundings: &Surroundings) {
        self.keep_velocities();
        // It needs the indices of wall particles, which the next lines change.
        self.begin_moving(surroundings);
        let stays = |i: &u32| !ids.contains(&self.fields.id[*i as usize]);
        let kept: Vec<u32> = (0..self.fields.len() as u32).filter(stays).collect();
        self.count -= self.fields.len() - kept.len();
        self.fields.reorder(&surroundings.context.device, &kept);
        // The listed indices are no longer valid.
        self.pairs.row.clear();
        self.couple_frozen(body_boundary.clone(), surroundings);
        self.rebuild_neighbor_lists(surroundings);
        self.begin(surroundings);
    }
}
