//! Blocks: a solid that is cut into Voronoi cells, each of which is a polyhedral grain with a shape of its own.

use crate::{
    diagnostics::UnlocatedDiagnostic,
    fill::{refuse_too_many, si},
    polyhedra::DrawnPolyhedron,
    rounding::{error_of_rounding, range_of_rounding},
    schema::{Blocks, GrainsSection},
    vocabulary::WholeNumber,
};
use glam::DVec3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use seixo_analysis::{Polyhedron, PolyhedronError};

/// Relaxations of sections that give no number.
const USUAL_RELAXATIONS: u64 = 1;
/// Random points of blocks are drawn from another stream than grains and rocks.
const POINTS: u64 = 0x626c_6f63_6b73_0001;

/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

/// A block at its place.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Center of mass \[m\].
    pub center: [f64; 3],
    /// Its shape, in its size and orientation.
    pub drawn: DrawnPolyhedron,
}

/// The error of a polyhedron, at a key.
fn at(key: &'static str) -> impl Fn(PolyhedronError) -> At {
    move |error| (key, UnlocatedDiagnostic::from_message(&error.to_string()))
}

/// The blocks of a section; none if it has no solid to cut. `stream` is the number of its random stream, and `seed` that of the run.
pub(crate) fn blocks(name: &str, section: &GrainsSection, seed: u64, stream: u64) -> Result<Vec<Block>, At> {
    let Some(request) = &section.blocks else { return Ok(Vec::new()) };
    refuse_other_keys(section)?;
    let count = request.count.0;
    refuse_too_many(count as f64).map_err(|complaint| ("blocks.count", complaint))?;
    let solid = solid(request)?;
    let mut random = ChaCha12Rng::seed_from_u64(request.seed.map_or(seed, |WholeNumber(seed)| seed));
    random.set_stream(stream ^ POINTS);
    let mut points = solid.spread_points(count as usize, || random.random()).map_err(at("blocks"))?;
    let relaxations = request
        .relaxations
        .map_or(USUAL_RELAXATIONS, |WholeNumber(relaxations)| relaxations);
    for _ in 0..relaxations {
        points = solid.relaxed(&points).map_err(at("blocks.count"))?;
    }
    let rounding = request.rounding.si;
    let cells = solid.cells(&points).map_err(at("blocks.count"))?;
    let block = |(k, cell): (usize, &Polyhedron)| -> Result<Block, PolyhedronError> {
        let grain = cell.shrunk(rounding)?.grain_shape(&format!("{name}: block {k}"), rounding)?;
        let center = grain.center.to_array();
        let drawn = DrawnPolyhedron::in_place(grain);
        Ok(Block { center, drawn })
    };
    let blocks: Result<Vec<Block>, PolyhedronError> = cells.iter().enumerate().map(block).collect();
    let blocks = blocks.map_err(|error| {
        // Of radii that all blocks can have.
        let ranges = cells.iter().map(|cell| range_of_rounding(std::slice::from_ref(cell)));
        let [least, most] = ranges.fold([0.0, f64::INFINITY], |[least, most]: [f64; 2], [low, high]| {
            [least.max(low), most.min(high)]
        });
        ("blocks.rounding", error_of_rounding(&error, [least, most], "m"))
    })?;
    match blocks.iter().find_map(|block| block.drawn.shape.flaw()) {
        Some(flaw) => Err(("blocks", UnlocatedDiagnostic::new(flaw).remedy("use fewer blocks, or another seed"))),
        None => Ok(blocks),
    }
}

/// Refuses keys of grains that blocks have from the solid.
fn refuse_other_keys(section: &GrainsSection) -> Result<(), At> {
    let keys = [
        ("shape", section.shape.is_some()),
        ("radius", section.radius.is_some()),
        ("orientation", section.orientation.is_some()),
        ("mass", section.mass.is_some()),
    ];
    keys.into_iter().find(|(_, is_given)| *is_given).map_or(Ok(()), |(key, _)| {
        let complaint = UnlocatedDiagnostic::new(format!("`{key}` does not go with `blocks`: these are cut out of a solid"));
        Err((key, complaint.remedy("remove it")))
    })
}

/// The solid that is cut into blocks.
fn solid(request: &Blocks) -> Result<Polyhedron, At> {
    let [low, high] = [&request.box_.min, &request.box_.max].map(|corner| DVec3::from(si(corner)));
    let edges = high - low;
    if edges.min_element() <= 0.0 {
        let complaint = UnlocatedDiagnostic::new(format!("the box is {} m x {} m x {} m", edges.x, edges.y, edges.z));
        return Err((
            "blocks.box",
            complaint
                .limit("above 0")
                .remedy("write the lower corner as `min` and the upper one as `max`"),
        ));
    }
    let corner = |k: u32| low + edges * DVec3::new(f64::from(k & 1), f64::from((k >> 1) & 1), f64::from(k >> 2));
    let corners: Vec<DVec3> = (0..8).map(corner).collect();
    let mut solid = Polyhedron::around(&corners).map_err(at("blocks.box"))?;
    for cut in &request.cuts {
        let [point, toward] = [si(&cut.point), si(&cut.normal)].map(DVec3::from);
        let Some(away) = (-toward).try_normalize() else {
            let complaint = UnlocatedDiagnostic::new("a normal of length zero has no direction");
            return Err((
                "blocks.cuts",
                complaint.remedy("write the direction from the plane into the solid, as in normal = [0, 0, -1]"),
            ));
        };
        solid = solid.behind(away, away.dot(point)).map_err(at("blocks.cuts"))?;
    }
    Ok(solid)
}
