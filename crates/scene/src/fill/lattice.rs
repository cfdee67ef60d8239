//! Grains on the sites of a lattice, each displaced at random within its free space.

use super::region::Space;
use crate::{diagnostics::UnlocatedDiagnostic, vocabulary::Lattice};
use glam::DVec3;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use std::ops::ControlFlow;

/// Smallest lattice spacing in units of the largest radius; the random displacement uses the free space.
const CLOSEST_SPACING: f64 = 2.02;
/// Largest number of tested sites in a region for which the length of rows is unknown.
const MAX_SITES: f64 = 1e8;

/// Rows of sites, and rows in layers; every second row and layer is shifted. Lengths are in units of the distance of neighbors.
struct Rows {
    /// Distance of sites, of rows, and of layers.
    step: DVec3,
    /// Shift along x of every second row; layers count as one more row.
    row_shift: f64,
    /// Shift along x and y of every second layer.
    layer_shift: [f64; 2],
}

impl Rows {
    fn new(lattice: Lattice) -> Rows {
        let square = |edge: f64, height: f64| Rows {
            step: DVec3::new(edge, edge, height),
            row_shift: 0.0,
            layer_shift: [edge / 2.0; 2],
        };
        match lattice {
            Lattice::Hexagonal => {
                let row = 0.75_f64.sqrt();
                Rows {
                    step: DVec3::new(1.0, row, (2.0_f64 / 3.0).sqrt()),
                    row_shift: 0.5,
                    layer_shift: [0.0, row / 3.0],
                }
            }
            Lattice::Cubic => Rows {
                layer_shift: [0.0; 2],
                ..square(1.0, 1.0)
            },
            Lattice::BodyCentered => square(2.0 / 3.0_f64.sqrt(), 1.0 / 3.0_f64.sqrt()),
            Lattice::FaceCentered => square(1.0, 0.5_f64.sqrt()),
        }
    }

    /// Visits the sites at least half a spacing from the surface, layer by layer from the bottom.
    fn visit(&self, space: &Space, spacing: f64, mut visit: impl FnMut(DVec3) -> ControlFlow<()>) {
        let (margin, half, is_plain) = (spacing / 2.0, space.half(), space.is_plain());
        let step = self.step * spacing;
        for k in 0_u64.. {
            let z = margin - half.z + step.z * k as f64;
            if z > half.z - margin {
                return;
            }
            let (odd, reach) = (k % 2, space.reach_y(z, margin));
            let first_row = margin - half.y + spacing * self.layer_shift[1] * odd as f64;
            let skipped = ((-reach - first_row) / step.y).ceil().max(0.0) as u64;
            for j in skipped.. {
                let y = first_row + step.y * j as f64;
                if y > reach {
                    break;
                }
                let reach = space.reach_x(y, z, margin);
                let shift = self.row_shift * ((j + odd) % 2) as f64 + self.layer_shift[0] * odd as f64;
                let first = margin - half.x + spacing * shift;
                let skipped = ((-reach - first) / step.x).ceil().max(0.0) as u64;
                for i in skipped.. {
                    let site = DVec3::new(first + step.x * i as f64, y, z);
                    if site.x > reach {
                        break;
                    }
                    if (is_plain || space.holds(site, margin)) && visit(site).is_break() {
                        return;
                    }
                }
            }
        }
    }

    /// The first `count` sites.
    fn sites(&self, space: &Space, spacing: f64, count: usize) -> Vec<DVec3> {
        let mut sites = Vec::new();
        self.visit(space, spacing, |site| {
            sites.push(site);
            if sites.len() < count {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        sites
    }
}

/// One grain per lattice site: dense from the bottom, or distributed over the region. Fewer positions than radii if they do not all fit.
///
/// # Errors
/// If there are too many sites to test.
pub(super) fn place(
    space: &Space,
    lattice: Lattice,
    radii: &[f64],
    is_spread: bool,
    random: &mut ChaCha12Rng,
) -> Result<Vec<DVec3>, UnlocatedDiagnostic> {
    let rows = Rows::new(lattice);
    let largest = radii.iter().copied().fold(0.0, f64::max);
    let mut spacing = CLOSEST_SPACING * largest;
    let looked_at = 8.0 * space.half().element_product() / spacing.powi(3);
    if !space.is_plain() && looked_at > MAX_SITES {
        let message = format!("the box around the region has {looked_at:.1e} places for grains this small");
        return Err(UnlocatedDiagnostic::new(message)
            .limit(format!("{MAX_SITES:.0e}"))
            .remedy("fill a smaller region, or use larger grains"));
    }
    let mut sites = rows.sites(space, spacing, radii.len());
    if sites.len() < radii.len() {
        return Ok(sites);
    }
    if is_spread {
        // Close packing has √2 sites per cube of the spacing: the grains do not fit on a wider lattice.
        let mut too_wide = spacing.max(1.1 * (2.0_f64.sqrt() * space.volume / radii.len() as f64).cbrt());
        for _ in 0..30 {
            let wider = 0.5 * (spacing + too_wide);
            let found = rows.sites(space, wider, radii.len());
            if found.len() == radii.len() {
                (spacing, sites) = (wider, found);
            } else {
                too_wide = wider;
            }
        }
    }
    let slack = 0.999 * (0.5 * spacing - largest);
    let mut jitter = || loop {
        let step = DVec3::new(random.random(), random.random(), random.random()) * 2.0 - 1.0;
        if step.length_squared() <= 1.0 {
            return step * slack;
        }
    };
    Ok(sites.into_iter().map(|site| site + jitter()).collect())
}
