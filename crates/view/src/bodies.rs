//! Surfaces of bodies that were made from meshes, and of polyhedral grains, drawn in place of their spheres.

use std::collections::BTreeMap;

use glam::DVec3;
use rayon::prelude::*;
use seixo_files::vtk::VtkBodies;

use crate::{
    color::{self, Rgb},
    coloring::{Coloring, Legend, OTHERS, SCALE},
    render::Pane,
};

/// Fewest triangles of a thread.
const SHARE: usize = 1 << 12;

/// Surfaces of bodies, and the grains that they replace.
pub struct Surfaces {
    /// Triangles of the surfaces.
    panes: Vec<Pane>,
    /// Indices of the grains that belong to the bodies.
    carried: Vec<usize>,
}

/// Colors of the grains of a body.
#[derive(Default)]
struct Shades {
    /// Sum of their palette indices on a scale, and the number of grains on the scale.
    sum: u64,
    count: u64,
    first: Option<u8>,
}

impl Surfaces {
    /// Surfaces of bodies, colored by the grains with these ids. On a scale, a body gets the mean of its grains, otherwise the color of the first.
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
        let color_of = |body: u32| {
            let shade = match shades.get(&body) {
                Some(Shades { sum, count, .. }) if is_scale && *count > 0 => ((sum + count / 2) / count) as u8,
                Some(Shades { first, .. }) => first.unwrap_or(OTHERS),
                None => OTHERS,
            };
            coloring.palette.get(usize::from(shade)).copied().unwrap_or(color::OTHERS)
        };
        // Triangles of a body follow each other, so most have the color of the last one.
        let pane = |last: &mut Option<(u32, Rgb)>, (corners, &body): (&[u32; 3], &u32)| {
            let (_, shade) = match *last {
                Some(known) if known.0 == body => known,
                _ => *last.insert((body, color_of(body))),
            };
            Pane {
                corners: corners.map(|corner| DVec3::from(bodies.position[corner as usize])),
                normals: corners.map(|corner| DVec3::from(bodies.normal[corner as usize])),
                colors: [shade; 3],
            }
        };
        let triangles = bodies.triangles.par_iter().zip(&bodies.body).with_min_len(SHARE);
        Surfaces {
            panes: triangles.map_init(|| None, pane).collect(),
            carried,
        }
    }

    /// Triangles of the surfaces. Hides the grains of the bodies in `balls`: see [`crate::Snapshot::balls`].
    pub fn in_place_of(self, balls: &mut [[f32; 4]]) -> Vec<Pane> {
        for place in self.carried {
            balls[place][3] = -balls[place][3].abs();
        }
        self.panes
    }
}
