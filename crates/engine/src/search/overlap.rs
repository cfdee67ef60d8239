//! Deepest overlap of grains before a simulation.

use super::cells::Cells;
use crate::fields::Fields;
use crate::world::{Search, World};
use seixo_device::Cpu;
use seixo_sweeps::layout::RECORD;

/// Grains of a world with the deepest overlap, relative to the smaller radius: (id, id, overlap \[m\]). Polyhedral grains are left out: only the
/// spheres around them are known here.
pub fn deepest_overlap(world: &World) -> Option<(u32, u32, f64)> {
    let device = Cpu::new(1).ok()?;
    let grains = &world.grains;
    let mut fields = Fields::default();
    fields.id.extend(0..grains.len() as u32);
    for (center, radius) in grains.position.iter().zip(&grains.radius) {
        fields.position.extend([center[0], center[1], center[2], *radius]);
    }
    let mut cells = Cells::new(grains.radius.iter().copied(), Search::Auto, 0.0);
    if grains.is_empty() {
        return None;
    }
    cells.sort(&device, &mut fields, |_| true);
    let carriers = grains.carriers();
    let body = |place: usize| carriers.get(&grains.id[fields.id[place] as usize]);
    let is_sphere = |place: usize| grains.shape.get(fields.id[place] as usize).is_none_or(|&shape| shape == 0);
    let mut deepest: Option<(u32, u32, f64, f64)> = None;
    let mut row = Vec::new();
    for i in (0..fields.len()).filter(|&i| is_sphere(i)) {
        cells.neighbors(i, &fields.position, 0.0, &mut row);
        for &j in row.iter().filter(|&&j| j as usize > i && is_sphere(j as usize)) {
            if body(i).is_some() && body(i) == body(j as usize) {
                continue;
            }
            let (a, b) = (
                &fields.position[i * RECORD..][..RECORD],
                &fields.position[j as usize * RECORD..][..RECORD],
            );
            let distance = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
            let overlap = a[3] + b[3] - distance;
            let share = overlap / a[3].min(b[3]);
            if deepest.is_none_or(|d| share > d.3) {
                deepest = Some((
                    grains.id[fields.id[i] as usize],
                    grains.id[fields.id[j as usize] as usize],
                    overlap,
                    share,
                ));
            }
        }
    }
    deepest.map(|(a, b, overlap, _)| (a.min(b), a.max(b), overlap))
}
