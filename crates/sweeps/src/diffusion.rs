//! Diffusion through contacts: between grains, from their positions, and from walls, with the stored wall contacts.
//!
//! One sweep serves all scalars of grains that spread by contact; its kind decides how contacts conduct and what a grain can hold.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::diffusion::{HEAT, flow_between, no_flow};
//! let between = |distance: f64, potential_i: f64, potential_j: f64| {
//!     let apart = Vector3 { x: distance, y: 0.0, z: 0.0 };
//!     flow_between::<f64, f64>(&apart, 1.0, 1.0, potential_i, potential_j, 0.3, HEAT)
//! };
//! // Heat flows into the colder of two grains in contact, and as much flows out of the warmer one.
//! assert!(between(1.9, 300.0, 400.0).flow > 0.0);
//! assert_eq!(between(1.9, 300.0, 400.0).flow, -between(1.9, 400.0, 300.0).flow);
//! assert_eq!(between(2.1, 300.0, 400.0), no_flow::<f64>());
//! ```
//!
//! Of polyhedral grains, which have several contacts with another grain or a wall, the radii of all contacts at the end of the last step count together.

use crate::layout::{ELEMENT, RECORD, load};
use crate::pair::{Pair, contact_geometry, depth_of};
use crate::periodic::{PeriodicBoundaries, nearest_image};
use crate::shape_pairs::PairLoad;
use crate::wall::{close_to_wall, row_of_wall};
use cubecl::prelude::*;
use seixo_laws::diffusion::{after, flow, share_per_step};
use seixo_laws::film::{film_area, film_conductance};
use seixo_laws::heat::{conductance, heat_capacity};
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// Kind of diffusion: heat. Its potential is the temperature \[K\], its amount the energy \[J\].
pub const HEAT: u32 = 0;

/// Kind of diffusion: liquid films. Their potential is the thickness \[m\], their amount the volume \[m³\].
pub const FILM: u32 = 1;

/// Flow into a body by diffusion.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct DiffusiveFlow<C: Real> {
    /// Flow into the body \[amount/s\].
    pub flow: C,
    /// Conductance of its contacts \[amount/s per potential\].
    pub conductance: C,
}

/// No flow.
#[cube]
#[inline(always)]
pub fn no_flow<C: Real>() -> DiffusiveFlow<C> {
    DiffusiveFlow::<C> {
        flow: C::new(0.0),
        conductance: C::new(0.0),
    }
}

/// Capacity of a grain: m c for heat \[J/K\], the area of its film \[m²\].
#[cube]
#[inline(always)]
pub fn capacity_of<C: Real>(radius: C, mass: C, specific_capacity: C, #[comptime] kind: u32) -> C {
    let mut capacity = C::new(0.0);
    if comptime!(kind == FILM) {
        capacity = film_area::<C>(specific_capacity, radius);
    } else {
        capacity = heat_capacity::<C>(mass, specific_capacity);
    }
    capacity
}

/// Flow from grain j to grain i with `apart` = x_i − x_j; zero without contact. The flow into j is exactly opposite.
#[cube]
#[inline(always)]
pub fn flow_between<C: Coordinate<R>, R: Real>(
    apart: &Vector3<C>,
    reach_i: C,
    reach_j: C,
    potential_i: C,
    potential_j: C,
    coefficient: R,
    #[comptime] kind: u32,
) -> DiffusiveFlow<C> {
    let mut between = no_flow::<C>();
    let depth = depth_of::<C>(apart, reach_i + reach_j);
    if depth > C::new(0.0) {
        if comptime!(kind == FILM) {
            between.conductance = film_conductance::<C>(C::wide(coefficient), reach_i, reach_j);
        } else {
            let pair = Pair::<R> {
                apart: near_vector::<C, R>(apart),
                depth: C::near(depth),
                velocity: Vector3::<R>::zero(),
                radius_i: C::near(reach_i),
                radius_j: C::near(reach_j),
                // The contact radius does not depend on masses.
                mass_i: R::new(1.0),
                mass_j: R::new(1.0),
            };
            let radius = contact_geometry::<R>(&pair).contact_pair.contact_radius;
            between.conductance = C::wide(conductance::<R>(coefficient, radius));
        }
        between.flow = flow::<C>(between.conductance, potential_i, potential_j);
    }
    between
}

/// Flow into a body through contacts with another one, at the potential `there`. `radius` is the sum of the contact radii, each times the share of its
/// contact \[m\].
#[cube]
#[inline(always)]
pub fn flow_through<C: Coordinate<R>, R: Real>(coefficient: R, radius: R, potential: C, there: C) -> DiffusiveFlow<C> {
    let mut through = no_flow::<C>();
    through.conductance = C::wide(conductance::<R>(coefficient, radius));
    through.flow = flow::<C>(through.conductance, potential, there);
    through
}

/// Heat flow into grain i from the walls in its row `first..end` that have a temperature; negative temperatures mark insulated walls. `wall_contacts` is
/// the result of [`crate::wall::walls_of()`]. The flow of every entry goes to `flows`, which starts at entry `list_first`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn flow_from_walls<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    end: usize,
    list: &[u32],
    list_first: usize,
    elements: &[C],
    walls: &[C],
    wall_contacts: &[C],
    wall_potential: &[C],
    position: &[C],
    potential: &[C],
    material: &[u32],
    materials: u32,
    coefficients: &[R],
    flows: &mut [C],
) -> DiffusiveFlow<C> {
    let mut all = no_flow::<C>();
    let reach = position[i * 4usize + 3usize];
    for k in first..end {
        let mut from_wall = C::new(0.0);
        let e = list[k] as usize * 12usize;
        let of_wall = wall_potential[C::whole(elements[e + 10usize]) as usize];
        if wall_contacts[k * 8usize + 7usize] > C::new(0.0) && of_wall >= C::new(0.0) {
            let row = row_of_wall::<C>(i, material, materials, elements, walls, e);
            let overlap = C::near(reach - wall_contacts[k * 8usize + 3usize]);
            let radius = close_to_wall::<R>(overlap, C::near(reach), R::new(1.0)).contact.contact_radius;
            let through = C::wide(conductance::<R>(coefficients[row], radius));
            from_wall = flow::<C>(through, potential[i], of_wall);
            all.conductance += through;
            all.flow += from_wall;
        }
        flows[k - list_first] = from_wall;
    }
    all
}

/// Change of a grain by a step of diffusion.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct PotentialChange<C: Real> {
    /// Potential after the step.
    pub potential: C,
    /// Σ H Δt / κ, see [`share_per_step()`].
    pub share: C,
}

/// State of a grain of this capacity after a step with this flow.
#[cube]
#[inline(always)]
pub fn diffused<C: Real>(potential: C, all: &DiffusiveFlow<C>, capacity: C, dt: C) -> PotentialChange<C> {
    PotentialChange::<C> {
        potential: after::<C>(potential, all.flow * dt, capacity),
        share: share_per_step::<C>(all.conductance, dt, capacity),
    }
}

/// All grains and their rows of neighbors, as stored on the CPU.
pub struct DiffusionView<'a> {
    /// Records of position.
    pub position: &'a [f64],
    /// Records of velocity, with the masses.
    pub velocity: &'a [f64],
    /// Indices of materials.
    pub material: &'a [u32],
    /// Potentials.
    pub potential: &'a [f64],
    /// Number of materials.
    pub materials: u32,
    /// Coefficient of contacts, by pair of materials.
    pub coefficients: &'a [f64],
    /// Specific capacities, by material.
    pub capacities: &'a [f64],
    /// Periodic sides, and their kind.
    pub sides: (&'a PeriodicBoundaries<f64, f64>, u32),
    /// First entry of every row of neighbors with the end of the last row, and the neighbors.
    pub rows: (&'a [u32], &'a [u32]),
    /// Whether a pair inside a part is in one of its two rows only.
    pub is_once: bool,
    /// Time step \[s\].
    pub dt: f64,
    /// Kind of diffusion, [`HEAT`] or [`FILM`].
    pub kind: u32,
    /// Contacts of polyhedral grains, if there may be any.
    pub shapes: Option<ShapeDiffusionView<'a>>,
}

/// Contacts of polyhedral grains, which rows of neighbors do not have.
#[derive(Clone, Copy)]
pub struct ShapeDiffusionView<'a> {
    /// Shapes of all grains; zero for spheres.
    pub shape: &'a [u32],
    /// Indices of both grains of each pair, and what its contacts do.
    pub pairs: (&'a [[u32; 2]], &'a [PairLoad<f64>]),
    /// First end of every grain with the end of the last, and the ends: twice the index of a pair, plus one for its second grain.
    pub ends: (&'a [u32], &'a [u32]),
    /// Radius of the contacts of each entry of the wall list \[m\]; that of entries of spheres is not read.
    pub wall_radii: &'a [f64],
}

impl ShapeDiffusionView<'_> {
    /// Flow into grain i through its pairs with a polyhedral grain, in the order of the ids of its partners.
    fn through_pairs(&self, i: usize, grains: &DiffusionView) -> DiffusiveFlow<f64> {
        let ((places, loads), (row, ends)) = (self.pairs, self.ends);
        let mut all = no_flow::<f64>();
        if places.is_empty() {
            return all;
        }
        for &end in &ends[row[i] as usize..row[i + 1] as usize] {
            let (pair, own) = (end as usize / 2, end as usize % 2);
            let j = places[pair][1 - own] as usize;
            let coefficient = grains.coefficients[(grains.material[i] * grains.materials + grains.material[j]) as usize];
            let radius = loads[pair].conducting_radius;
            let one = flow_through::<f64, f64>(coefficient, radius, grains.potential[i], grains.potential[j]);
            all.conductance += one.conductance;
            all.flow += one.flow;
        }
        all
    }

    /// Flow into grain i, which is polyhedral, through its contacts of entry k of the wall list.
    fn through_wall(&self, i: usize, k: usize, grains: &DiffusionView, walls: &WallDiffusionView) -> DiffusiveFlow<f64> {
        let e = walls.rows.1[k] as usize * ELEMENT;
        let of_wall = walls.potential[walls.elements[e + 10] as usize];
        if of_wall < 0.0 || self.wall_radii[k] <= 0.0 {
            return no_flow::<f64>();
        }
        let row = row_of_wall::<f64>(i, grains.material, grains.materials, walls.elements, walls.records, e);
        flow_through::<f64, f64>(grains.coefficients[row], self.wall_radii[k], grains.potential[i], of_wall)
    }

    /// Whether grain i is polyhedral.
    fn is_polyhedral(&self, i: usize) -> bool {
        self.shape.get(i).is_some_and(|&shape| shape > 0)
    }
}

/// Flow into grain i from walls. The flow of every entry of its row goes to `flows`, which starts at entry `list_first`.
pub fn flow_into_from_walls(
    i: usize,
    grains: &DiffusionView,
    walls: &WallDiffusionView,
    list_first: usize,
    flows: &mut [f64],
) -> DiffusiveFlow<f64> {
    let (row, list) = walls.rows;
    let (first, end) = (row[i] as usize, row[i + 1] as usize);
    if let Some(shapes) = grains.shapes.filter(|shapes| shapes.is_polyhedral(i)) {
        let mut all = no_flow::<f64>();
        for k in first..end {
            let one = shapes.through_wall(i, k, grains, walls);
            flows[k - list_first] = one.flow;
            all.flow += one.flow;
            all.conductance += one.conductance;
        }
        return all;
    }
    flow_from_walls::<f64, f64>(
        i,
        first,
        end,
        list,
        list_first,
        walls.elements,
        walls.records,
        walls.contact_count,
        walls.potential,
        grains.position,
        grains.potential,
        grains.material,
        grains.materials,
        grains.coefficients,
        flows,
    )
}

/// Wall fields for diffusion.
pub struct WallDiffusionView<'a> {
    /// First entry of every row of elements with the end of the last row, and the elements.
    pub rows: (&'a [u32], &'a [u32]),
    /// Records of elements.
    pub elements: &'a [f64],
    /// Records of walls.
    pub records: &'a [f64],
    /// Records of wall contacts.
    pub contact_count: &'a [f64],
    /// Potentials of walls; negative for walls through which nothing flows.
    pub potential: &'a [f64],
}

/// Output of a part.
pub struct DiffusionOut<'a> {
    /// Potentials of its grains after the step.
    pub potential: &'a mut [f64],
    /// Conductances of its grains.
    pub conductance: &'a mut [f64],
    /// Flows of its entries in the wall list.
    pub wall_flows: &'a mut [f64],
}

/// Advances the potentials of grains `first..end` by one step. Returns the largest share per step among them.
pub fn diffuse_part(grains: &DiffusionView, walls: &WallDiffusionView, (first, end): (usize, usize), out: DiffusionOut) -> f64 {
    let DiffusionOut {
        potential: flow,
        conductance,
        wall_flows,
    } = out;
    flow.fill(0.0);
    conductance.fill(0.0);
    let (row, neighbors) = grains.rows;
    for i in first..end {
        let here = load::<f64>(grains.position, i * RECORD);
        let own_row = grains.material[i] * grains.materials;
        for &j in &neighbors[row[i] as usize..row[i + 1] as usize] {
            let j = j as usize;
            let apart = nearest_image::<f64, f64>(
                &here.minus(&load::<f64>(grains.position, j * RECORD)),
                grains.sides.0,
                grains.sides.1,
            );
            let one = flow_between::<f64, f64>(
                &apart.apart,
                grains.position[i * RECORD + 3],
                grains.position[j * RECORD + 3],
                grains.potential[i],
                grains.potential[j],
                grains.coefficients[(own_row + grains.material[j]) as usize],
                grains.kind,
            );
            flow[i - first] += one.flow;
            conductance[i - first] += one.conductance;
            if grains.is_once && (first..end).contains(&j) {
                flow[j - first] -= one.flow;
                conductance[j - first] += one.conductance;
            }
        }
    }
    let list_first = walls.rows.0[first] as usize;
    let mut largest = 0.0;
    for i in first..end {
        let slot = i - first;
        if let Some(shapes) = &grains.shapes {
            let of_pairs = shapes.through_pairs(i, grains);
            flow[slot] += of_pairs.flow;
            conductance[slot] += of_pairs.conductance;
        }
        let of_walls = flow_into_from_walls(i, grains, walls, list_first, wall_flows);
        let all = DiffusiveFlow {
            flow: flow[slot] + of_walls.flow,
            conductance: conductance[slot] + of_walls.conductance,
        };
        let capacity = capacity_of::<f64>(
            grains.position[i * RECORD + 3],
            grains.velocity[i * RECORD + 3],
            grains.capacities[grains.material[i] as usize],
            grains.kind,
        );
        let change = diffused(grains.potential[i], &all, capacity, grains.dt);
        flow[slot] = change.potential;
        conductance[slot] = all.conductance;
        if change.share > largest {
            largest = change.share;
        }
    }
    largest
}
