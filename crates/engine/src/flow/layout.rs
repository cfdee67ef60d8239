//! Wall and body boundary particles from a checkpoint: another version may have placed them differently than the scene does now.

use super::checkpoint::BOUNDARY;
use crate::bodies::Bodies;
use crate::state::{Column, State};
use crate::world::{Domain, Fluids, Vec3, WallParticles, array};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::orientation_at;
use seixo_sweeps::fluid::{SUSPENDED, WALL, is_passing};
use seixo_sweeps::layout::RECORD;

/// The saved particles.
struct Saved<'a> {
    id: &'a [u32],
    kind: &'a [u32],
    position: &'a [f64],
    /// Positions of wall particles at the start of the motions of their walls, in the order of their ids \[m\].
    places: &'a [Vec3],
}

/// Positions of body boundary particles in the frame of their body \[m\], and their volumes \[m³\].
type Layout = (Vec<Vec3>, Vec<f64>);

/// Replaces wall and body boundary particles by the saved ones, where the scene has others. Keeps them where the checkpoint does not have enough
/// data.
pub(crate) fn as_saved(fluids: &mut Fluids, state: &State, walls: usize, (bodies, domain): (&Bodies, Option<&Domain>)) {
    let Some(saved) = Saved::of(state) else { return };
    if let Some(boundary) = saved.boundary(fluids, walls) {
        fluids.boundary = boundary;
    }
    if let Some(layouts) = saved.body_boundaries(fluids, walls, (bodies, domain)) {
        for (body_boundary, (offset, volume)) in fluids.body_boundaries.iter_mut().zip(layouts) {
            (body_boundary.offset, body_boundary.volume) = (offset, volume);
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

    /// Wall and body boundary particles: number among these, kind without marks, and saved index.
    fn bounding(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let is_bounding = |(_, (_, kind)): &(usize, (&u32, &u32))| **kind & WALL != 0 && !is_passing(**kind);
        let all = self.id.iter().zip(self.kind).enumerate().filter(is_bounding);
        all.map(|(i, (id, kind))| ((id & !WALL) as usize, (kind & !(WALL | SUSPENDED)) as usize, i))
    }

    /// Volume of a wall or body boundary particle \[m³\].
    fn volume(&self, i: usize) -> f64 {
        -self.position[i * RECORD + 3]
    }

    /// The wall particles, if their number differs from that of the scene, and all walls are present.
    fn boundary(&self, fluids: &Fluids, walls: usize) -> Option<WallParticles> {
        let count = self.places.len();
        if count == fluids.boundary.position.len() {
            return None;
        }
        let mut found: Vec<Option<(u32, f64)>> = vec![None; count];
        for (number, kind, i) in self.bounding().filter(|(_, kind, _)| *kind < walls) {
            *found.get_mut(number)? = Some((kind as u32, self.volume(i)));
        }
        let (wall, volume) = found.into_iter().collect::<Option<Vec<(u32, f64)>>>()?.into_iter().unzip();
        Some(WallParticles {
            position: self.places.to_vec(),
            wall,
            volume,
        })
    }

    /// All body boundary particles, if their numbers differ from those of the scene.
    fn body_boundaries(&self, fluids: &Fluids, walls: usize, (bodies, domain): (&Bodies, Option<&Domain>)) -> Option<Vec<Layout>> {
        let mut found: Vec<Vec<(usize, usize)>> = vec![Vec::new(); fluids.body_boundaries.len()];
        for (number, kind, i) in self.bounding() {
            if let Some(body_boundary) = kind.checked_sub(walls).and_then(|body_boundary| found.get_mut(body_boundary)) {
                body_boundary.push((number, i));
            }
        }
        found.iter_mut().for_each(|body_boundary| body_boundary.sort_unstable());
        let starts = |body_boundary: &[(usize, usize)], row: usize| body_boundary.first().is_none_or(|(number, _)| *number == row);
        let mut row = self.places.len();
        let mut is_same = true;
        for (body_boundary, found) in fluids.body_boundaries.iter().zip(&found) {
            is_same &= starts(found, row) && (found.is_empty() || found.len() == body_boundary.offset.len());
            row += body_boundary.offset.len();
        }
        if is_same {
            return None;
        }
        let mut row = self.places.len();
        let mut layouts = Vec::new();
        for (body_boundary, of_body_boundary) in found.iter().enumerate() {
            let layout: Layout = if of_body_boundary.is_empty() {
                // If its body left, its numbers remain in use.
                let next = found[body_boundary + 1..].iter().find_map(|later| Some(later.first()?.0));
                (vec![[0.0; 3]; next.unwrap_or(row).checked_sub(row)?], Vec::new())
            } else {
                let body_index = bodies.id.iter().position(|id| *id == fluids.body_boundaries[body_boundary].body)?;
                let is_numbered = of_body_boundary.iter().zip(row..).all(|((number, _), wanted)| *number == wanted);
                let offset = |(_, i): &(usize, usize)| (self.offset(*i, bodies, body_index, domain), self.volume(*i));
                is_numbered.then(|| of_body_boundary.iter().map(offset).unzip())?
            };
            row += layout.0.len();
            layouts.push(layout);
        }
        Some(layouts)
    }

    /// Position of a particle in the frame of its body \[m\].
    fn offset(&self, i: usize, bodies: &Bodies, body_index: usize, domain: Option<&Domain>) -> Vec3 {
        let center = &bodies.center[body_index * RECORD..];
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let apart = self.position[i * RECORD + axis] - center[axis];
            let length = domain
                .filter(|domain| domain.periodic[axis])
                .map(|domain| domain.max[axis] - domain.min[axis]);
            length.map_or(apart, |length| apart - length * (apart / length).round())
        });
        let turn = orientation_at::<f64>(&bodies.orientation, body_index * RECORD);
        array(&turn.back().to_space(&Vector3 { x, y, z }))
    }
}
