//! Contacts of polyhedral grains with walls.

use super::polyhedra::posed;
use crate::fields::Fields;
use crate::polyhedra::{GrainsAtWalls, Polyhedra, SLOTS};
use crate::populations::Populations;
use crate::world::WallShape;
use seixo_sweeps::layout::{ELEMENT, RECORD, TRIANGLE, WALL, WALL_CONTACT, add, coefficients, load, store};
use seixo_sweeps::shape_meshes::{MeshRow, contacts_with_mesh};
use seixo_sweeps::shape_walls::{GrainByWall, contacts_with_wall};

impl Populations {
    /// Whether there are walls from meshes.
    pub(crate) fn has_mesh_walls(&self) -> bool {
        self.walls.given.iter().any(|wall| matches!(wall.shape, WallShape::Mesh(_)))
    }

    /// Lists the wall elements near polyhedral grains, from the lists of walls.
    pub(crate) fn list_walls_of_polyhedra(&mut self) {
        let Some(polyhedra) = &mut self.polyhedra else { return };
        let (fields, walls, meshes) = (&self.grains.fields, &self.walls, &polyhedra.meshes);
        let polyhedral = (0..fields.shape.len()).filter(|&i| fields.shape[i] > 0);
        let near = polyhedral.flat_map(move |i| {
            let entries = walls.row[i]..walls.row[i + 1];
            entries.map(move |k| {
                let element = walls.list[k as usize];
                ([fields.id[i], meshes.first_of(element)], [i as u32, k])
            })
        });
        let near = near.collect();
        polyhedra.at_walls.rebuild(near);
    }

    /// Computes the contacts of polyhedral grains with walls, and adds them to the forces on grains and walls.
    pub(crate) fn wall_contacts_of_polyhedra(&mut self) {
        self.compute_walls_of_polyhedra();
        self.add_up_walls_of_polyhedra();
    }

    fn compute_walls_of_polyhedra(&mut self) {
        let Populations {
            context,
            grains,
            walls,
            polyhedra: Some(polyhedra),
            ..
        } = self
        else {
            return;
        };
        let Polyhedra {
            shapes, at_walls, meshes, ..
        } = &mut **polyhedra;
        let GrainsAtWalls { records, places } = at_walls;
        let (shapes, fields, places) = (&*shapes, &grains.fields, &places[..]);
        let (elements, of_walls, meshes) = (&walls.elements[..], &walls.records[..], &*meshes);
        let (near, row_of) = (&walls.list[..], &walls.row[..]);
        let (materials, dt, overlap_limit) = (&context.materials, context.stepping.dt, context.settings.overlap_limit);
        records.compute(
            &context.device,
            |_, load| load.powers,
            |pair, [_, element], _, slots, _: &mut ()| {
                let (i, e) = (places[pair][0] as usize, element as usize * ELEMENT);
                let wall = elements[e + 10] as usize * WALL;
                let row = fields.material[i] * materials.count + of_walls[wall + 9] as u32;
                let grain = GrainByWall {
                    posed: posed(fields, i),
                    center: load(&fields.position, i * RECORD),
                    velocity: load(&fields.velocity, i * RECORD),
                };
                let laws = coefficients(&materials.coefficients, row as usize);
                if elements[e + 9] == f64::from(TRIANGLE) {
                    let row = MeshRow {
                        first: row_of[i] as usize,
                        end: row_of[i + 1] as usize,
                        wall: elements[e + 10],
                    };
                    contacts_with_mesh::<f64, f64>(
                        &grain,
                        &shapes.words,
                        &shapes.numbers,
                        &row,
                        near,
                        elements,
                        &meshes.words,
                        of_walls,
                        0,
                        SLOTS as u32,
                        &slots.old_keys,
                        &slots.old_springs,
                        &mut slots.keys,
                        &mut slots.springs,
                        &laws,
                        dt,
                        overlap_limit,
                    )
                } else {
                    contacts_with_wall::<f64, f64>(
                        &grain,
                        &shapes.words,
                        &shapes.numbers,
                        elements,
                        e,
                        of_walls,
                        0,
                        SLOTS as u32,
                        &slots.old_keys,
                        &slots.old_springs,
                        &mut slots.keys,
                        &mut slots.springs,
                        &laws,
                        dt,
                        overlap_limit,
                    )
                }
            },
        );
    }

    /// Adds the loads of walls in the order of their list. What walls know of a contact is its force, at one point, and how near the grain is; the
    /// force of a mesh is at one of its triangles.
    fn add_up_walls_of_polyhedra(&mut self) {
        let Some(polyhedra) = &self.polyhedra else { return };
        let GrainsAtWalls { records, places } = &polyhedra.at_walls;
        let Fields {
            position, force, torque, ..
        } = &mut self.grains.fields;
        let walls = &mut self.walls;
        for ((now, &[_, element]), &[i, entry]) in records.loads.iter().zip(&records.ids).zip(places) {
            let (at, touches) = (i as usize * RECORD, f64::from(u32::from(now.contacts > 0)));
            add(force, at, &now.force);
            add(torque, at, &now.torque);
            force[at + 3] += touches;
            // The entry is the first one of a mesh in the row; others have no load.
            for k in entry as usize..walls.row[i as usize + 1] as usize {
                if polyhedra.meshes.first_of(walls.list[k]) == element {
                    walls.wall_contacts[k * WALL_CONTACT..][..WALL_CONTACT].fill(0.0);
                }
            }
            let record = &mut walls.wall_contacts[entry as usize * WALL_CONTACT..][..WALL_CONTACT];
            store(record, 0, &now.point);
            record[3] = position[at + 3] - now.overlap;
            store(record, 4, &now.force);
            record[WALL_CONTACT - 1] = touches;
        }
    }
}
