//! Particles of walls and bodies as a checkpoint has them: another version may have laid them out otherwise than the scene does now.

use super::saved::BOUNDARY;
use crate::bodies::Bodies;
use crate::contact_records::array;
use crate::state::{Column, State};
use crate::world::{Boundary, Domain, Fluids, Vec3};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::turn_at;
use seixo_sweeps::fluid::{SUSPENDED, WALL, is_passing};
use seixo_sweeps::views::RECORD;

/// The particles that were saved.
struct Saved<'a> {
    id: &'a [u32],
    kind: &'a [u32],
    position: &'a [f64],
    /// Places of those of walls where their motions begin, in the order of their ids \[m\].
    places: &'a [Vec3],
}

/// Places of the particles of a hull in the frame of its body \[m\], and what they stand for \[m³\].
type Layout = (Vec<Vec3>, Vec<f64>);

/// Lets particles of walls and of bodies be those that were saved, where the scene has others. Leaves them where what was saved does not tell enough.
pub(super) fn as_saved(fluids: &mut Fluids, state: &State, walls: usize, (bodies, domain): (&Bodies, Option<&Domain>)) {
    let Some(saved) = Saved::of(state) else { return };
    if let Some(boundary) = saved.boundary(fluids, walls) {
        fluids.boundary = boundary;
    }
    if let Some(layouts) = saved.hulls(fluids, walls, (bodies, domain)) {
        for (hull, (offset, volume)) in fluids.hulls.iter_mut().zip(layouts) {
            (hull.offset, hull.volume) = (offset, volume);
        }
    }
}

impl Saved<'_> {
    fn of(state: &State) -> Option<Saved<'_>> {
        let columns = [
            state.get("fluid/id")?,
            state.get("fluid/kind")?,
            state.get("fluid/position")?,
            state.get(BOUNDARY)?,
        ];
        let [Column::U32(id), Column::U32(kind), Column::F64(position), Column::F64(places)] = columns else {
            return None;
        };
        let (places, rest) = places.as_chunks::<3>();
        let is_whole = id.len() == kind.len() && position.len() == id.len() * RECORD && rest.is_empty();
        is_whole.then_some(Saved {
            id,
            kind,
            position,
            places,
        })
    }

    /// Particles of walls and bodies: the number of each among them, its kind without marks, and where it is saved.
    fn bounding(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let is_bounding = |(_, (_, kind)): &(usize, (&u32, &u32))| **kind & WALL != 0 && !is_passing(**kind);
        let all = self.id.iter().zip(self.kind).enumerate().filter(is_bounding);
        all.map(|(i, (id, kind))| ((id & !WALL) as usize, (kind & !(WALL | SUSPENDED)) as usize, i))
    }

    /// What a particle of a wall or a body stands for \[m³\].
    fn volume(&self, i: usize) -> f64 {
        -self.position[i * RECORD + 3]
    }

    /// The particles of walls, if they are not as many as those of the scene, and all walls are there.
    fn boundary(&self, fluids: &Fluids, walls: usize) -> Option<Boundary> {
        let count = self.places.len();
        if count == fluids.boundary.position.len() {
            return None;
        }
        let mut found: Vec<Option<(u32, f64)>> = vec![None; count];
        for (number, kind, i) in self.bounding().filter(|(_, kind, _)| *kind < walls) {
            *found.get_mut(number)? = Some((kind as u32, self.volume(i)));
        }
        let (wall, volume) = found.into_iter().collect::<Option<Vec<(u32, f64)>>>()?.into_iter().unzip();
        Some(Boundary {
            position: self.places.to_vec(),
            wall,
            volume,
        })
    }

    /// The particles of all hulls, if they are not numbered as those of the scene.
    fn hulls(&self, fluids: &Fluids, walls: usize, (bodies, domain): (&Bodies, Option<&Domain>)) -> Option<Vec<Layout>> {
        let mut found: Vec<Vec<(usize, usize)>> = vec![Vec::new(); fluids.hulls.len()];
        for (number, kind, i) in self.bounding() {
            if let Some(hull) = kind.checked_sub(walls).and_then(|hull| found.get_mut(hull)) {
                hull.push((number, i));
            }
        }
        found.iter_mut().for_each(|hull| hull.sort_unstable());
        let starts = |hull: &[(usize, usize)], row: usize| hull.first().is_none_or(|(number, _)| *number == row);
        let mut row = self.places.len();
        let mut is_same = true;
        for (hull, found) in fluids.hulls.iter().zip(&found) {
            is_same &= starts(found, row) && (found.is_empty() || found.len() == hull.offset.len());
            row += hull.offset.len();
        }
        if is_same {
            return None;
        }
        let mut row = self.places.len();
        let mut layouts = Vec::new();
        for (hull, of_hull) in found.iter().enumerate() {
            let layout: Layout = if of_hull.is_empty() {
                // Its body left: what it had is numbered all the same.
                let next = found[hull + 1..].iter().find_map(|later| Some(later.first()?.0));
                (vec![[0.0; 3]; next.unwrap_or(row).checked_sub(row)?], Vec::new())
            } else {
                let seat = bodies.id.iter().position(|id| *id == fluids.hulls[hull].body)?;
                let is_numbered = of_hull.iter().zip(row..).all(|((number, _), wanted)| *number == wanted);
                let offset = |(_, i): &(usize, usize)| (self.offset(*i, bodies, seat, domain), self.volume(*i));
                is_numbered.then(|| of_hull.iter().map(offset).unzip())?
            };
            row += layout.0.len();
            layouts.push(layout);
        }
        Some(layouts)
    }

    /// Where a particle is in the frame of its body \[m\].
    fn offset(&self, i: usize, bodies: &Bodies, seat: usize, domain: Option<&Domain>) -> Vec3 {
        let center = &bodies.center[seat * RECORD..];
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let apart = self.position[i * RECORD + axis] - center[axis];
            let length = domain
                .filter(|domain| domain.periodic[axis])
                .map(|domain| domain.max[axis] - domain.min[axis]);
            length.map_or(apart, |length| apart - length * (apart / length).round())
        });
        let turn = turn_at::<f64>(&bodies.turn, seat * RECORD);
        array(&turn.back().turned(&Vector3 { x, y, z }))
    }
}
