//! Bodies that were made from meshes: their surfaces, in place of the spheres with which they touch.

use std::collections::BTreeMap;

use glam::DVec3;
use seixo_files::vtk::VtkBodies;

use crate::{
    color,
    coloring::{Coloring, Legend, OTHERS, SCALE},
    render::Pane,
};

/// Surfaces of bodies, and in place of which grains they are.
pub struct Surfaces {
    /// Their triangles.
    panes: Vec<Pane>,
    /// Places among the grains of those that the bodies carry.
    carried: Vec<usize>,
}

/// What the grains of a body are colored by.
#[derive(Default)]
struct Shades {
    /// Sum of their places on a scale, and how many have one.
    sum: u64,
    count: u64,
    first: Option<u8>,
}

impl Surfaces {
    /// Those of bodies, beside grains with these ids and colors: on a scale a body has the mean of what its grains have, else the color of the first.
    pub fn of(bodies: &VtkBodies, id: &[u32], coloring: &Coloring) -> Surfaces {
        let mut carriers = bodies.carried.clone();
        carriers.sort_unstable();
        let carrier = |grain: u32| {
            let found = carriers.binary_search_by_key(&grain, |&[carried, _]| carried);
            found.ok().map(|place| carriers[place][1])
        };
        let mut shades: BTreeMap<u32, Shades> = BTreeMap::new();
        let mut carried = Vec::new();
        for (place, (&grain, &shade)) in id.iter().zip(&coloring.shade).enumerate() {
            let Some(body) = carrier(grain) else { continue };
            carried.push(place);
            let of_body = shades.entry(body).or_default();
            of_body.first.get_or_insert(shade);
            if usize::from(shade) < SCALE {
                of_body.sum += u64::from(shade);
                of_body.count += 1;
            }
        }
        let is_scale = matches!(coloring.legend, Legend::Scale { .. });
        let color_of = |body: &u32| {
            let shade = match shades.get(body) {
                Some(Shades { sum, count, .. }) if is_scale && *count > 0 => ((sum + count / 2) / count) as u8,
                Some(Shades { first, .. }) => first.unwrap_or(OTHERS),
                None => OTHERS,
            };
            coloring.palette.get(usize::from(shade)).copied().unwrap_or(color::OTHERS)
        };
        let pane = |(corners, body): (&[u32; 3], &u32)| Pane {
            corners: corners.map(|corner| DVec3::from(bodies.position[corner as usize])),
            normals: corners.map(|corner| DVec3::from(bodies.normal[corner as usize])),
            colors: [color_of(body); 3],
        };
        Surfaces {
            panes: bodies.triangles.iter().zip(&bodies.body).map(pane).collect(),
            carried,
        }
    }

    /// Their triangles, in place of those of the balls that are these grains: see [`crate::Snapshot::balls`].
    pub fn in_place_of(self, balls: &mut [[f32; 4]]) -> Vec<Pane> {
        for place in self.carried {
            balls[place][3] = -balls[place][3].abs();
        }
        self.panes
    }
}
