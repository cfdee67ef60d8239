//! Pairs of grains, and grains near walls; spheres of bodies are searched only where the broad phase found possible contacts.

use crate::broad_phase::{GRAINS, WALLS, beyond};
use crate::grains::GrainState;
use crate::populations::Populations;
use seixo_sweeps::bodies::is_ghost;
use seixo_sweeps::bounding_boxes::Spheres;

impl Populations {
    /// Lists pairs of near grains, except those of one body. Of grains in bodies, only those that may be near others are searched.
    pub(crate) fn list_pairs(&mut self) {
        if self.lists_once() {
            self.fill_rows::<true>();
        } else {
            self.fill_rows::<false>();
        }
        if self.context.settings.decomposition_invariant {
            self.grains.pairs.sort_rows(&self.context.device, &self.grains.fields.id);
        }
    }

    /// Fills the rows of pairs; with `ONCE`, a pair inside a part is in one row.
    fn fill_rows<const ONCE: bool>(&mut self) {
        let n = self.grains.fields.len();
        if self.grains.has_ghosts || !self.bodies.are_present {
            let (member, has_ghosts) = (&self.grains.fields.member, self.grains.has_ghosts);
            let is_own = |i: usize| !has_ghosts || !is_ghost(member[i]);
            self.grains.pairs.fill_rows_of::<ONCE>(
                &self.context.device,
                &self.grains.cells.index(),
                &self.grains.fields.position,
                n,
                is_own,
            );
            self.drop_pairs_inside_bodies();
            return;
        }
        self.bodies.find_places(&self.grains.fields.member);
        let Populations {
            context,
            grains,
            bodies,
            walls,
            ..
        } = self;
        let GrainState {
            fields,
            cells,
            pairs,
            bounding_volumes: broad,
            ..
        } = grains;
        let (device, settings) = (&context.device, &context.settings);
        let (bodies, cells, fields) = (&*bodies, &*cells, &*fields);
        let touching = bodies.contact_body_of_members();
        // A body of one sphere needs no test before the search.
        if settings.broad_phase && bodies.body_of.len() > bodies.len() {
            broad.update_bounding_boxes(device, bodies, &fields.position, (&cells.sides, cells.kind), beyond(cells, walls));
            let spheres = Spheres {
                position: &fields.position,
                member: &fields.member,
                body_of: &touching,
                grids: &cells.grids,
                shapes: &cells.shapes,
                first: &cells.first,
                skin: cells.skin,
            };
            let reach = cells.largest_radius() + cells.skin;
            broad.look(device, GRAINS, |bounds, b| {
                let own = spheres.body_of[bodies.row[b] as usize];
                bounds.any_image(reach, &cells.sides, cells.kind, |image| spheres.are_near(image, own))
            });
        } else {
            broad.forget();
        }
        let is_wanted = |i: usize| broad.may_contact(GRAINS, fields.member[i]);
        pairs.fill_rows_of::<ONCE>(device, &cells.index(), &fields.position, n, is_wanted);
        pairs.drop_inside_bodies(&fields.member, &touching);
    }

    /// Marks bodies, and groups of their spheres, that may be near walls; bodies with prescribed motion have no contacts with walls.
    pub(crate) fn find_near_walls(&mut self) {
        let Populations {
            context,
            grains,
            bodies,
            walls,
            ..
        } = self;
        let GrainState {
            cells,
            bounding_volumes: broad,
            ..
        } = grains;
        let device = &context.device;
        if broad.is_idle() {
            return;
        }
        let (bodies, cells, walls) = (&*bodies, &*cells, &*walls);
        // Walls are compared without images: they interact with spheres at their positions in the domain.
        broad.look(device, WALLS, |bounds, b| {
            !bodies.held.is_body_prescribed(b) && bounds.any_image(0.0, &cells.sides, cells.kind, |image| walls.may_come_near(image))
        });
    }
}
