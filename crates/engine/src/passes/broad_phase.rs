//! Pairs of grains, and grains near walls; spheres of bodies are searched only where the broad phase found possible contacts. Of bodies on a GPU, the
//! cores find the possible contacts from their poses.

use crate::broad_phase::{GRAINS, WALLS, beyond};
use crate::grains::GrainState;
use crate::populations::Populations;
use crate::world::Precision;
use seixo_sweeps::bodies::is_ghost;
use seixo_sweeps::bounding_boxes::Spheres;
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::periodic::{OPEN, nearest_image};

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
        self.list_polyhedra();
    }

    /// Fills the rows of pairs; with `ONCE`, a pair inside a part is in one row.
    fn fill_rows<const ONCE: bool>(&mut self) {
        let n = self.grains.fields.len();
        if self.grains.has_ghosts || !self.bodies.are_present {
            let (member, has_ghosts) = (&self.grains.fields.member, self.grains.has_ghosts);
            let is_own = |i: usize| !has_ghosts || !is_ghost(member[i]);
            self.grains.pairs.fill_rows_at_once::<ONCE>(
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
        if settings.broad_phase != Some(false) && bodies.body_of.len() > bodies.len() {
            let place = |m: u32| bodies.place[m as usize] as usize * RECORD;
            broad.update_bounding_boxes(device, bodies, (f64::EPSILON, beyond(cells, walls)), |b, m| {
                // In a periodic domain, the images of all spheres of a body that are nearest to its first one.
                let first = load::<f64>(&fields.position, place(bodies.row[b]));
                let apart = load::<f64>(&fields.position, place(m)).minus(&first);
                let center = first.plus(&nearest_image::<f64, f64>(&apart, &cells.sides, cells.kind).apart);
                (center, fields.position[place(m) + 3])
            });
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

    /// Whether the cores find the possible contacts of bodies that are on a GPU, while it works on fluids \[Silva 2010, § 5.3\].
    pub(crate) fn splits_broad_phase(&self) -> bool {
        self.context.settings.broad_phase == Some(true) && !self.grains.has_ghosts && self.bodies.body_of.len() > self.bodies.len()
    }

    /// Prepares the broad phase of bodies whose grains a GPU takes. Marks of the last lists hold for its first lists, too, unless it rounds positions.
    pub(crate) fn prepare_split_broad_phase(&mut self) {
        if !self.splits_broad_phase() {
            return;
        }
        let broad = &mut self.grains.bounding_volumes;
        broad.keep_spheres(&self.bodies, &self.grains.fields.member, &self.grains.fields.position);
        if self.context.precision() == Precision::F32 {
            broad.forget();
        }
    }

    /// Marks bodies on a GPU, and groups of their spheres, that may be near others or walls, from the poses of bodies and the box of the free grains,
    /// which were downloaded.
    pub(crate) fn look_at_poses(&mut self) {
        let time = self.context.time();
        if self.context.sides != OPEN {
            self.place_sides();
            self.grains.cells.sides = self.context.stepping.sides;
        }
        if self.walls.has_moving() {
            self.walls.place(time, false);
        }
        self.walls.sort(self.grains.cells.largest_radius());
        let rounding = match self.context.precision() {
            Precision::F32 => f64::from(f32::EPSILON),
            Precision::F64 | Precision::Mixed => f64::EPSILON,
        };
        let (device, bodies) = (&self.context.device, &self.bodies);
        let GrainState {
            cells,
            bounding_volumes: broad,
            ..
        } = &mut self.grains;
        broad.update_from_poses(device, bodies, (rounding, beyond(cells, &self.walls)));
        broad.look_at_boxes(device, bodies, &bodies.contact_body_of_members(), cells);
        self.find_near_walls();
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
