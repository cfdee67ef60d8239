//! Forces of walls, and their wear.

use crate::fields::{part_range, parts};
use crate::populations::Populations;
use crate::walls::Walls;
use seixo_device::Ranges;
use seixo_sweeps::wear::wear_of;

impl Populations {
    /// Computes the forces between grains and walls in a step, and the wear.
    pub(crate) fn wall_forces(&mut self) {
        self.wall_contacts();
        if self.walls.wears() && !self.walls.list.is_empty() {
            self.wear_walls();
        }
    }

    fn wear_walls(&mut self) {
        let n = self.grains.fields.len();
        let (position, velocity, spin) = (
            &self.grains.fields.position[..],
            &self.grains.fields.velocity[..],
            &self.grains.fields.spin[..],
        );
        let (dt, frictional) = (self.context.stepping.dt, self.context.materials.has_friction);
        let Walls {
            elements,
            records,
            row,
            list,
            wall_contacts,
            part_row,
            work,
            ..
        } = &mut self.walls;
        let (elements, records, row, list) = (&elements[..], &records[..], &row[..], &list[..]);
        let data = (
            Ranges {
                items: &mut wall_contacts[..],
                bounds: &part_row[..],
                stride: seixo_sweeps::layout::WALL_CONTACT,
            },
            Ranges {
                items: &mut work.by_entry[..],
                bounds: &part_row[..],
                stride: 1,
            },
        );
        self.context
            .device
            .run(parts(n), data, |part, (wall_contacts, work): (Ranges<f64>, Ranges<f64>)| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    wear_of::<f64, f64>(
                        i,
                        row[i] as usize,
                        row[i + 1] as usize,
                        list,
                        row[first] as usize,
                        elements,
                        records,
                        wall_contacts.items,
                        work.items,
                        position,
                        velocity,
                        spin,
                        dt,
                        frictional,
                    );
                }
            });
    }
}
