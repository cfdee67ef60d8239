//! Fields on a grid by coarse graining (\[Goldhirsch 2010\]; with walls \[Weinhart 2012\]).

use crate::stress::{Carried, carried, peculiar};
use crate::tensor::{outer, pressure};
use glam::{DMat3, DVec3};
use seixo_engine::state::GrainSnapshot;
use seixo_engine::{BondSnapshot, ContactRecord, Image, PeriodicCell};

/// Nodes and weights of Gauss's rule of three points on 0..1.
const GAUSS: [(f64, f64); 3] = [
    (0.112_701_665_379_258_3, 5.0 / 18.0),
    (0.5, 8.0 / 18.0),
    (0.887_298_334_620_741_7, 5.0 / 18.0),
];

/// Points of a grid with one spacing along all axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// The first point \[m\].
    pub origin: DVec3,
    /// Distance of neighboring points \[m\].
    pub spacing: f64,
    /// Points along x, y and z; x runs fastest.
    pub points: [usize; 3],
}

impl Grid {
    /// The middles of the cubes of edge `spacing` that fit between two corners, at least one along each axis.
    pub fn between(min: DVec3, max: DVec3, spacing: f64) -> Grid {
        Grid {
            origin: min + DVec3::splat(0.5 * spacing),
            spacing,
            points: [0, 1, 2].map(|axis| ((max[axis] - min[axis]) / spacing * (1.0 + 1e-12)).max(1.0) as usize),
        }
    }

    /// The last point \[m\].
    fn end(&self) -> DVec3 {
        self.origin + DVec3::from(self.points.map(|points| points as f64 - 1.0)) * self.spacing
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.iter().product()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Volume that each point stands for \[m³\].
    pub fn cell(&self) -> f64 {
        self.spacing.powi(3)
    }
}

/// A tensor as xx xy xz yx yy yz zx zy zz.
type Rows = [f64; 9];

/// Coarse-grained fields at the points of a grid; stresses are positive in compression.
#[derive(Clone, Debug, PartialEq)]
pub struct CoarseFields {
    /// Σ V φ with the volumes V of the grains \[-\].
    pub solid_fraction: Vec<f64>,
    /// ρ = Σ m φ \[kg/m³\].
    pub density: Vec<f64>,
    /// V = Σ m v φ / ρ \[m/s\]; zero where nothing is near.
    pub velocity: Vec<[f64; 3]>,
    /// Σ f ⊗ l ∫ φ over contacts and bonds, the integral along the branch l \[Pa\].
    pub contact_stress: Vec<Rows>,
    /// Σ m (v − V) ⊗ (v − V) φ; where sides slide, of velocities apart from the shear that these impose \[Pa\].
    pub kinetic_stress: Vec<Rows>,
    /// A third of the trace of both stresses \[Pa\].
    pub pressure: Vec<f64>,
    /// Granular temperature, the trace of the kinetic stress over 3 ρ \[m²/s²\]; zero where nothing is near.
    pub temperature: Vec<f64>,
}

/// Lucy's kernel \[Lucy 1977\], a polynomial with two continuous derivatives that ends at a distance of twice its width.
///
/// Its weights are divided by their sum over the points of an endless grid, so that what is spread is all there, to the last digit, on any
/// grid that holds the kernel; on fine grids that is the kernel's own normalization, 105 / (16 π c³).
struct Kernel<'a> {
    grid: &'a Grid,
    reach: f64,
    /// Points inside the grid with their weights; kept, so that spreading does not allocate.
    near: Vec<(usize, f64)>,
}

impl Kernel<'_> {
    /// The images in which the kernel around what lies between two corners reaches the grid.
    fn images(&self, cell: &PeriodicCell, [low, high]: [DVec3; 2]) -> impl Iterator<Item = Image> + use<> {
        let thing = [low - self.reach, high + self.reach];
        let into = [self.grid.origin, self.grid.end()];
        cell.images(thing.map(|corner| corner.to_array()), into.map(|corner| corner.to_array()))
    }

    /// Points near `center` and their weights \[1/m³\].
    fn spread(&mut self, center: DVec3) -> &[(usize, f64)] {
        self.near.clear();
        let Grid { origin, spacing, points } = *self.grid;
        let (place, reach) = ((center - origin) / spacing, self.reach / spacing);
        let [low, high] = [(place - reach).ceil(), (place + reach).floor()];
        let is_inside = |axis: usize, k: i64| (0..points[axis] as i64).contains(&k);
        let is_near = |axis: usize| high[axis] >= 0.0 && low[axis] < points[axis] as f64;
        if !(is_near(0) && is_near(1) && is_near(2)) {
            return &self.near;
        }
        let range = |axis: usize| low[axis] as i64..=high[axis] as i64;
        let mut total = 0.0;
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    let apart = DVec3::new(x as f64, y as f64, z as f64) - place;
                    let share = apart.length() / reach;
                    if share >= 1.0 {
                        continue;
                    }
                    let weight = (1.0 + 3.0 * share) * (1.0 - share).powi(3);
                    total += weight;
                    if is_inside(0, x) && is_inside(1, y) && is_inside(2, z) {
                        let index = (z as usize * points[1] + y as usize) * points[0] + x as usize;
                        self.near.push((index, weight));
                    }
                }
            }
        }
        let scale = 1.0 / (total * self.grid.cell());
        self.near.iter_mut().for_each(|(_, weight)| *weight *= scale);
        &self.near
    }
}

fn rows(tensor: &DMat3) -> Rows {
    tensor.transpose().to_cols_array()
}

/// Coarse-grains grains, contacts and bonds with Lucy's kernel of this width w \[m\], at least the spacing of the grid: the kernel ends at
/// 2 w, and what is finer than w is lost. Along a branch the kernel is integrated by Gauss's rule on pieces no longer than half of w. Across
/// periodic sides images are spread as what they are images of.
pub fn coarse_grain(grid: &Grid, width: f64, grains: &GrainSnapshot, contacts: &[ContactRecord], bonds: &[BondSnapshot]) -> CoarseFields {
    let mut kernel = Kernel {
        grid,
        reach: 2.0 * width,
        near: Vec::new(),
    };
    let mut solid_fraction = vec![0.0; grid.len()];
    let mut density = vec![0.0; grid.len()];
    let mut momentum = vec![DVec3::ZERO; grid.len()];
    let mut drift = vec![DVec3::ZERO; grid.len()];
    let mut flux = vec![DMat3::ZERO; grid.len()];
    let mut contact = vec![DMat3::ZERO; grid.len()];
    for i in 0..grains.id.len() {
        let (mass, center) = (grains.mass[i], DVec3::from(grains.position[i]));
        let volume = grains.volume_of(i);
        let apart = peculiar(grains, i);
        let carried = outer(apart * mass, apart);
        for image in kernel.images(&grains.cell, [center; 2]) {
            let velocity = DVec3::from(grains.velocity[i]) + DVec3::from(image.velocity);
            for &(point, weight) in kernel.spread(center + DVec3::from(image.shift)) {
                solid_fraction[point] += volume * weight;
                density[point] += mass * weight;
                momentum[point] += velocity * (mass * weight);
                drift[point] += apart * (mass * weight);
                flux[point] += carried * weight;
            }
        }
    }
    for Carried { force, end, branch } in carried(contacts, bonds) {
        let virial = outer(force, branch);
        let pieces = (2.0 * branch.length() / width).ceil().max(1.0);
        let start = end - branch;
        for image in kernel.images(&grains.cell, [start.min(end), start.max(end)]) {
            for (piece, (node, part)) in (0..pieces as usize).flat_map(|piece| GAUSS.map(|node| (piece, node))) {
                let at = end - branch * ((piece as f64 + node) / pieces) + DVec3::from(image.shift);
                for &(point, weight) in kernel.spread(at) {
                    contact[point] += virial * (weight * part / pieces);
                }
            }
        }
    }
    let mean = |of: &[DVec3], point: usize| {
        if density[point] > 0.0 {
            of[point] / density[point]
        } else {
            DVec3::ZERO
        }
    };
    // Σ m (v − V) ⊗ (v − V) φ = Σ m v ⊗ v φ − ρ V ⊗ V: one pass over the grains does for both.
    let kinetic: Vec<DMat3> = (0..grid.len())
        .map(|point| flux[point] - outer(mean(&drift, point) * density[point], mean(&drift, point)))
        .collect();
    let temperature = |point: usize| {
        if density[point] > 0.0 {
            pressure(&kinetic[point]) / density[point]
        } else {
            0.0
        }
    };
    CoarseFields {
        velocity: (0..grid.len()).map(|point| mean(&momentum, point).to_array()).collect(),
        contact_stress: contact.iter().map(rows).collect(),
        kinetic_stress: kinetic.iter().map(rows).collect(),
        pressure: contact
            .iter()
            .zip(&kinetic)
            .map(|(contact, kinetic)| pressure(&(*contact + *kinetic)))
            .collect(),
        temperature: (0..grid.len()).map(temperature).collect(),
        solid_fraction,
        density,
    }
}
