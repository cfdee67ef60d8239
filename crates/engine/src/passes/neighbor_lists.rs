//! Rebuild of the neighbor lists.

use crate::fields::{Fields, parts, refill};
use crate::measure::NO_CONTACT;
use crate::populations::Populations;
use crate::search::Shortlists;
use crate::world::{Domain, ForceAssembly, Search, Vec3};
use seixo_sweeps::layout::{RECORD, history_stride};
use seixo_sweeps::motion::{AT_REST, SKIN_EXCEEDED};
use seixo_sweeps::neighbors::SearchStructure;
use seixo_sweeps::periodic::OPEN;

impl Populations {
    /// Rebuilds cells and lists if a grain or a wall moved half the skin.
    pub(crate) fn rebuild_neighbor_lists_if_needed(&mut self) {
        // A subdomain rebuilds its lists together with the others.
        if !self.grains.has_ghosts && self.lists_out_of_date() {
            self.tune_skin(&self.list_counts());
            self.remove_bond_energy();
            self.rebuild_neighbor_lists();
        }
    }

    /// Whether a grain, a wall or a side moved as far as the skin allows. That a grain left does not count: it goes at the next rebuild.
    pub(crate) fn lists_out_of_date(&self) -> bool {
        let wall_moved = self.walls.has_moving()
            && self.walls.moved_since_listed(self.context.time()) > 0.5 * (self.grains.cells.skin - self.grains.cells.gap);
        let raised = self.grains.motion_reports.iter().fold(0, |all, moved| all | moved.flags);
        raised & SKIN_EXCEEDED != 0 || wall_moved || self.sides_slid_too_far(self.context.time())
    }

    /// Sorts the grains into cells and rebuilds the lists of pairs and walls; removes grains outside the domain.
    pub(crate) fn rebuild_neighbor_lists(&mut self) {
        self.list_grains(self.context.domain_to_leave());
    }

    /// As [`Populations::rebuild_neighbor_lists`]; grains outside `left` are removed, if it is given.
    pub(crate) fn list_grains(&mut self, left: Option<Domain>) {
        self.grains.rebuilds += 1;
        let count_before = self.grains.fields.len();
        if self.context.sides != OPEN {
            self.wrap_grains();
            self.grains.cells.sides = self.context.stepping.sides;
        }
        if let Some(domain) = left {
            self.remove_grain_energy();
            self.remove_leaving_scalars(|populations, i| populations.is_outside(i, &domain));
            if self.bodies.are_present {
                self.sort_without_lost(&domain);
            } else {
                let inside = |x: Vec3| !domain.is_outside_domain(&x);
                self.grains.cells.order(&self.context.device, &mut self.grains.fields, inside);
            }
        } else {
            self.grains.cells.order(&self.context.device, &mut self.grains.fields, |_| true);
        }
        let at_rest = self.members_at_rest();
        self.grains
            .cells
            .fill_tables(&self.context.device, &self.grains.fields.position, &at_rest);
        let n = self.grains.fields.len();
        self.record_list_positions();
        if self.context.materials.has_friction {
            let contact_histories = history_stride(self.context.materials.are_extended);
            if self.grains.pairs.row.is_empty() {
                // Without earlier contacts; some of these grains may just have been removed.
                self.grains.pairs.row.resize(count_before + 1, 0);
            }
            let old = self.grains.pairs.with_histories(&self.context.device, contact_histories);
            self.grains.pairs.shortlist = Shortlists::default();
            self.list_pairs();
            self.grains.pairs.has_shortlists = self.uses_shortlists();
            self.grains.pairs.are_single = self.context.narrows_contacts();
            self.grains
                .pairs
                .take_over(&self.context.device, &self.grains.cells.old_of, &old, contact_histories);
        } else if self.lists_pairs() {
            // Smooth grains have no contact history.
            self.list_pairs();
        }
        self.list_walls();
        self.list_bonds();
        self.grains.motion_reports.resize(parts(n), AT_REST);
        self.grains.contact_power_sums.resize(parts(n), NO_CONTACT);
        self.grains.wall_power_sums.resize(parts(n), NO_CONTACT);
    }

    /// Members of bodies that are at rest for good, in ascending order, with the indices of their grains; none if the search has no tables of their
    /// own for them.
    pub(crate) fn members_at_rest(&self) -> Vec<(u32, u32)> {
        if self.context.settings.search != Search::SpatialHashStatic {
            return Vec::new();
        }
        // Ghost particles are owned elsewhere: here they count as moving.
        let is_at_rest = |m: u32| self.bodies.of(m).is_some_and(|b| self.bodies.held.is_at_rest(b));
        let members = self.grains.fields.member.iter().copied().zip(0..);
        let mut found: Vec<(u32, u32)> = members.filter(|&(m, _)| is_at_rest(m)).collect();
        found.sort_unstable();
        found
    }

    /// Adds the energy of free grains that are removed outside the domain to the ledger.
    pub(crate) fn remove_grain_energy(&mut self) {
        for i in 0..self.grains.fields.len() {
            if !self.is_ghost(i) && self.body_of(i).is_none() && self.has_left(&self.grains.fields.position[i * RECORD..]) {
                self.ledger.work.left_domain += self.energy_of(i);
            }
        }
    }

    /// Stores the positions of the grains at the rebuild of the lists.
    pub(crate) fn record_list_positions(&mut self) {
        let Fields { position, reference, .. } = &mut self.grains.fields;
        let n = position.len() / RECORD;
        refill(&self.context.device, reference, 3 * n, |k| position[k / 3 * RECORD + k % 3]);
    }

    /// Whether a pair inside a part is in one row only; otherwise it is in both rows, as pairs across parts are.
    pub(crate) fn lists_once(&self) -> bool {
        let settings = &self.context.settings;
        self.context.materials.has_friction && !settings.decomposition_invariant && settings.assembly == ForceAssembly::Fused
    }

    /// Whether contacts are computed from shortlists, which hold the contact histories.
    fn uses_shortlists(&self) -> bool {
        !self.context.materials.are_extended && self.context.settings.assembly == ForceAssembly::Fused
    }

    /// Whether there are rows of neighbors, which contacts or diffusion need.
    pub(crate) fn lists_pairs(&self) -> bool {
        self.context.materials.has_friction || self.uses_row_contacts() || self.diffuses()
    }

    /// Whether contacts of smooth grains are computed from rows of the neighbor list, and not from the cells.
    ///
    /// Searches other than grids build a list only, and only rows can be ordered. With automatic search, rows are used, too: a list with a skin is
    /// traversed five times as fast as cells of grains of different sizes. Heat conduction always needs rows.
    pub(crate) fn uses_row_contacts(&self) -> bool {
        let lasts = self.context.settings.search == Search::Auto && self.grains.cells.skin > 0.0;
        lasts
            || self.grains.cells.lookup() != SearchStructure::Grids
            || self.context.settings.decomposition_invariant
            || self.context.settings.assembly != ForceAssembly::Fused
    }
}
