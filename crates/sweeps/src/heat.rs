//! Heat conduction through contacts: between grains, from their positions, and from walls, with the stored wall contacts.

use crate::layout::{RECORD, extended_coefficients, load};
use crate::pair::{Pair, contact_geometry, depth_of};
use crate::periodic::{PeriodicBoundaries, nearest_image};
use crate::wall::{close_to_wall, row_of_wall};
use cubecl::prelude::*;
use seixo_laws::heat::{conductance, heat_flow, share_per_step, warmed};
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// Heat conduction into a body.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct Conduction<C: Real> {
    /// Heat flow into the body \[W\].
    pub flow: C,
    /// Heat conductance \[W/K\].
    pub conductance: C,
}

/// No heat flow.
#[cube]
#[inline(always)]
pub fn no_conduction<C: Real>() -> Conduction<C> {
    Conduction::<C> {
        flow: C::new(0.0),
        conductance: C::new(0.0),
    }
}

/// Heat flow from grain j to grain i with `apart` = x_i − x_j; zero without contact. The flow into j is exactly opposite.
#[cube]
#[inline(always)]
pub fn conduct_between<C: Coordinate<R>, R: Real>(
    apart: &Vector3<C>,
    reach_i: C,
    reach_j: C,
    temperature_i: C,
    temperature_j: C,
    contact_conductivity: R,
) -> Conduction<C> {
    let mut conduction = no_conduction::<C>();
    let depth = depth_of::<C>(apart, reach_i + reach_j);
    if depth > C::new(0.0) {
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
        conduction.conductance = C::wide(conductance::<R>(contact_conductivity, radius));
        conduction.flow = heat_flow::<C>(conduction.conductance, temperature_i, temperature_j);
    }
    conduction
}

/// Heat flow into grain i from the walls in its row `first..end` that have a temperature; negative temperatures mark insulated walls. `wall_contacts` is
/// the result of [`crate::wall::walls_of()`]. The heat flow of every entry goes to `flows`, which starts at entry `list_first`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn conduct_from_walls<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    end: usize,
    list: &[u32],
    list_first: usize,
    elements: &[C],
    walls: &[C],
    wall_contacts: &[C],
    wall_temperature: &[C],
    position: &[C],
    temperature: &[C],
    material: &[u32],
    materials: u32,
    table: &[R],
    flows: &mut [C],
) -> Conduction<C> {
    let mut all = no_conduction::<C>();
    let reach = position[i * 4usize + 3usize];
    for k in first..end {
        let mut flow = C::new(0.0);
        let e = list[k] as usize * 12usize;
        let of_wall = wall_temperature[C::whole(elements[e + 10usize]) as usize];
        if wall_contacts[k * 8usize + 7usize] > C::new(0.0) && of_wall >= C::new(0.0) {
            let row = row_of_wall::<C>(i, material, materials, elements, walls, e);
            let overlap = C::near(reach - wall_contacts[k * 8usize + 3usize]);
            let radius = close_to_wall::<R>(overlap, C::near(reach), R::new(1.0)).contact.contact_radius;
            let through = C::wide(conductance::<R>(extended_coefficients::<R>(table, row).conductivity, radius));
            flow = heat_flow::<C>(through, temperature[i], of_wall);
            all.conductance += through;
            all.flow += flow;
        }
        flows[k - list_first] = flow;
    }
    all
}

/// Change of a grain by a step of conduction.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct TemperatureChange<C: Real> {
    /// Temperature after the step \[K\].
    pub temperature: C,
    /// Σ H Δt / (m c), see [`share_per_step()`].
    pub share: C,
}

/// State of a grain of heat capacity m c \[J/K\] after a step of this conduction.
#[cube]
#[inline(always)]
pub fn warm<C: Real>(temperature: C, conduction: &Conduction<C>, heat_capacity: C, dt: C) -> TemperatureChange<C> {
    TemperatureChange::<C> {
        temperature: warmed::<C>(temperature, conduction.flow * dt, heat_capacity),
        share: share_per_step::<C>(conduction.conductance, dt, heat_capacity),
    }
}

/// All grains and their rows of neighbors, as stored on the CPU.
pub struct HeatView<'a> {
    /// Records of position.
    pub position: &'a [f64],
    /// Records of velocity, with the masses.
    pub velocity: &'a [f64],
    /// Indices of materials.
    pub material: &'a [u32],
    /// Temperatures \[K\].
    pub temperature: &'a [f64],
    /// Number of materials.
    pub materials: u32,
    /// Interaction table.
    pub table: &'a [f64],
    /// Specific heat capacities by material \[J/(kg K)\].
    pub capacities: &'a [f64],
    /// Periodic sides, and their kind.
    pub sides: (&'a PeriodicBoundaries<f64, f64>, u32),
    /// First entry of every row of neighbors with the end of the last row, and the neighbors.
    pub rows: (&'a [u32], &'a [u32]),
    /// Whether a pair inside a part is in one of its two rows only.
    pub is_once: bool,
    /// Time step \[s\].
    pub dt: f64,
}

/// Wall fields for heat conduction.
pub struct WallHeatView<'a> {
    /// First entry of every row of elements with the end of the last row, and the elements.
    pub rows: (&'a [u32], &'a [u32]),
    /// Records of elements.
    pub elements: &'a [f64],
    /// Records of walls.
    pub records: &'a [f64],
    /// Records of wall contacts.
    pub contact_count: &'a [f64],
    /// Temperatures of walls \[K\]; negative for insulated walls.
    pub temperature: &'a [f64],
}

/// Output of a part.
pub struct HeatOut<'a> {
    /// Temperatures of its grains after the step \[K\].
    pub temperature: &'a mut [f64],
    /// Heat conductances of its grains \[W/K\].
    pub conductance: &'a mut [f64],
    /// Heat flows of its entries in the wall list \[W\].
    pub wall_flows: &'a mut [f64],
}

/// Advances the temperatures of grains `first..end` by one step. Returns the largest share per step among them.
pub fn conduct_part(grains: &HeatView, walls: &WallHeatView, (first, end): (usize, usize), out: HeatOut) -> f64 {
    let HeatOut {
        temperature: flow,
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
            let pair = extended_coefficients::<f64>(grains.table, (own_row + grains.material[j]) as usize);
            let one = conduct_between::<f64, f64>(
                &apart.apart,
                grains.position[i * RECORD + 3],
                grains.position[j * RECORD + 3],
                grains.temperature[i],
                grains.temperature[j],
                pair.conductivity,
            );
            flow[i - first] += one.flow;
            conductance[i - first] += one.conductance;
            if grains.is_once && (first..end).contains(&j) {
                flow[j - first] -= one.flow;
                conductance[j - first] += one.conductance;
            }
        }
    }
    let (row, list) = walls.rows;
    let mut largest = 0.0;
    for i in first..end {
        let of_walls = conduct_from_walls::<f64, f64>(
            i,
            row[i] as usize,
            row[i + 1] as usize,
            list,
            row[first] as usize,
            walls.elements,
            walls.records,
            walls.contact_count,
            walls.temperature,
            grains.position,
            grains.temperature,
            grains.material,
            grains.materials,
            grains.table,
            wall_flows,
        );
        let slot = i - first;
        let all = Conduction {
            flow: flow[slot] + of_walls.flow,
            conductance: conductance[slot] + of_walls.conductance,
        };
        let capacity = grains.velocity[i * RECORD + 3] * grains.capacities[grains.material[i] as usize];
        let warmed = warm(grains.temperature[i], &all, capacity, grains.dt);
        flow[slot] = warmed.temperature;
        conductance[slot] = all.conductance;
        if warmed.share > largest {
            largest = warmed.share;
        }
    }
    largest
}
