//! When lists are made anew, and how.

use crate::fields::{Fields, parts};
use crate::measure::NO_CONTACT;
use crate::simulation::Simulation;
use crate::world::{Leaving, Search, Vec3};
use seixo_sweeps::motion::{LEFT, STALE, STILL};
use seixo_sweeps::neighbors::Lookup;
use seixo_sweeps::sides::OPEN;
use seixo_sweeps::views::{RECORD, remembered};

impl Simulation {
    /// Renews cells and lists if a grain or a wall moved half the skin, or a grain left.
    pub(crate) fn renew_lists_when_stale(&mut self) {
        // A domain has made its lists with the others.
        if !self.has_ghosts && self.lists_are_stale() {
            self.book_bonds_leaving(self.raised());
            self.renew_lists();
        }
    }

    /// Whether a grain or a wall moved half the skin, or a grain left.
    pub(crate) fn lists_are_stale(&self) -> bool {
        let wall_moved = self.walls.has_moving() && self.walls.moved_since_listed(self.time()) > 0.5 * (self.cells.skin - self.cells.gap);
        self.raised() & (STALE | LEFT) != 0 || wall_moved || self.sides_slid_too_far(self.time())
    }

    /// Flags that the last motion of grains raised.
    fn raised(&self) -> u32 {
        self.moves.iter().fold(0, |all, moved| all | moved.flags)
    }

    /// Sorts the grains into cells and lists pairs and walls anew; grains outside the domain are removed.
    pub(crate) fn renew_lists(&mut self) {
        self.rebuilds += 1;
        if self.sides != OPEN {
            self.put_grains_back();
            self.cells.sides = self.stepping.sides;
        }
        if let Some(domain) = self.domain.filter(|domain| domain.leaving == Leaving::Delete) {
            self.book_grains_leaving();
            self.book_heat_leaving(|simulation, i| simulation.has_gone(i, &domain));
            if self.carries {
                self.sort_without_lost(&domain);
            } else {
                let inside = |x: Vec3| !domain.has_lost(&x);
                self.cells.sort(&self.device, &mut self.fields, inside);
            }
        } else {
            self.cells.sort(&self.device, &mut self.fields, |_| true);
        }
        let n = self.fields.len();
        self.note_references();
        if self.frictional {
            let remembered = remembered(self.is_compound);
            if self.pairs.row.is_empty() {
                self.pairs.row.resize(n + 1, 0);
            }
            self.old_pairs.keep(&self.device, &self.pairs, remembered);
            self.list_pairs();
            self.pairs.take_over(&self.device, &self.cells.old_of, &self.old_pairs, remembered);
        } else if self.presses_by_rows() || self.conducts() {
            // Smooth grains remember nothing.
            self.list_pairs();
        }
        self.list_walls();
        self.list_bonds();
        self.moves.resize(parts(n), STILL);
        self.tallies.resize(parts(n), NO_CONTACT);
        self.wall_tallies.resize(parts(n), NO_CONTACT);
    }

    /// Books what grains that nothing carries take along as they are removed from outside the domain.
    pub(crate) fn book_grains_leaving(&mut self) {
        for i in 0..self.fields.len() {
            if !self.is_copy(i) && self.body_of(i).is_none() && self.has_left(&self.fields.position[i * RECORD..]) {
                self.work.left_domain += self.energy_of(i);
            }
        }
    }

    /// Notes where grains are as the place at which lists find them.
    pub(crate) fn note_references(&mut self) {
        let Fields { position, reference, .. } = &mut self.fields;
        reference.clear();
        reference.extend(position.chunks_exact(RECORD).flat_map(|record| &record[..3]));
    }

    /// Whether a pair of grains inside a part stands in one row only; else it stands in both, as pairs across parts do.
    pub(crate) fn lists_once(&self) -> bool {
        self.frictional && !self.settings.divisible
    }

    /// Whether smooth grains press on each other by rows, and not through the cells that sort them: other searches make a list and nothing else, and
    /// rows alone can be put into an order. Where nobody chose a search rows do, too: a list that lasts is looked through five times as fast as cells
    /// whose grains differ in size. Heat needs rows in any case.
    pub(crate) fn presses_by_rows(&self) -> bool {
        let lasts = self.settings.search == Search::Auto && self.cells.skin > 0.0;
        lasts || self.cells.lookup() != Lookup::Grids || self.settings.divisible
    }
}
