//! Regions filled with grains that do not overlap: on a lattice, by random insertion, as rain, by growth.

mod cells;
mod growth;
mod insertion;
mod lattice;
mod mesh;
mod radii;
mod region;

pub(crate) use mesh::{Enclosed, Mesh, nearest as nearest_on_triangle};
pub(crate) use radii::sizes;

use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    schema::{BoxShape, Fill, Region, Vector},
    vocabulary::Method,
};
use glam::DVec3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use region::Space;
use seixo_engine::{radius_distribution::RadiusDistribution, world::Vec3};
use std::f64::consts::PI;

/// Memory of a grain with its contacts in a run, a generous estimate \[bytes\].
const BYTES_PER_GRAIN: f64 = 1000.0;
/// Largest number of parts excluded from a region: each position is tested against all of them.
const MAX_TAKEN_AWAY: usize = 256;
/// Available memory to assume if the system does not report it \[bytes\].
const MEMORY_IF_UNKNOWN: f64 = 16e9;

/// A vector of quantities as plain numbers.
pub(crate) fn si<D>(vector: &Vector<D>) -> Vec3 {
    vector.map(|component| component.si)
}

/// Refuses a number of grains that does not fit into memory, before anything is allocated.
pub(crate) fn refuse_too_many(grains: f64) -> Result<(), UnlocatedDiagnostic> {
    refuse_too_many_of("grains", grains, "use fewer or larger grains")
}

/// The same for other items that need as much memory as a grain.
pub(crate) fn refuse_too_many_of(what: &str, count: f64, remedy: &str) -> Result<(), UnlocatedDiagnostic> {
    let needed = count * BYTES_PER_GRAIN;
    let available = available_memory();
    if needed <= available && count <= f64::from(u32::MAX) {
        return Ok(());
    }
    let gigabytes = |bytes: f64| {
        if bytes < 1e15 {
            format!("{:.1} GB", bytes / 1e9)
        } else {
            format!("{:.1e} GB", bytes / 1e9)
        }
    };
    let message = format!("{count:.4e} {what} need about {} of memory", gigabytes(needed));
    Err(UnlocatedDiagnostic::new(message)
        .limit(format!("{} available", gigabytes(available)))
        .remedy(remedy))
}

fn available_memory() -> f64 {
    let reported = || {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    reported().map_or(MEMORY_IF_UNKNOWN, |kilobytes| kilobytes * 1024.0)
}

/// The corners of a box of which all edges are positive.
pub(crate) fn corners(shape: &BoxShape) -> Result<(DVec3, DVec3), UnlocatedDiagnostic> {
    let (min, max) = (DVec3::from(si(&shape.min)), DVec3::from(si(&shape.max)));
    if min.cmplt(max).all() {
        return Ok((min, max));
    }
    Err(
        UnlocatedDiagnostic::new(format!("the box from {min} to {max} is empty or inside out"))
            .limit("min below max in x, y and z")
            .remedy("exchange or move the corners"),
    )
}

/// The unit vector from one end to the other.
pub(crate) fn axis_between(from: DVec3, to: DVec3) -> Result<DVec3, UnlocatedDiagnostic> {
    (to - from).try_normalize().ok_or_else(|| {
        UnlocatedDiagnostic::new(format!("both ends are at {from}"))
            .limit("two different points")
            .remedy("move `from` or `to`")
    })
}

/// A region to fill with a fluid, or the space of a solid wall.
pub(crate) struct Inside(Space);

impl Inside {
    /// The inside of a region of a scene; the path of a mesh is made absolute.
    pub fn new(region: &mut Region, findings: &mut CheckState) -> Result<Inside, UnlocatedDiagnostic> {
        Space::new(region, &mut [], None, findings).map(Inside)
    }

    /// Corners of the bounding box, parallel to the axes \[m\].
    pub fn bounds(&self) -> (DVec3, DVec3) {
        self.0.bounds()
    }

    /// Volume \[m³\].
    pub fn volume(&self) -> f64 {
        self.0.volume
    }

    /// Whether a point is inside.
    pub fn holds(&self, place: DVec3) -> bool {
        self.0.holds(self.0.to_local(place.to_array()), 0.0)
    }

    /// Whether a point is outside, at least `distance` \[m\] from the surface.
    pub fn is_beyond(&self, place: DVec3, distance: f64) -> bool {
        self.0.is_beyond(self.0.to_local(place.to_array()), distance)
    }
}

/// State at the start of a fill.
pub(crate) struct Surroundings<'a> {
    /// Start of all random numbers, together with the stream of the fill.
    pub seed: u64,
    /// \[m/s²\].
    pub gravity: Vec3,
    /// Centers and radii of the grains of earlier sections \[m\].
    pub grains: &'a [(Vec3, f64)],
}

/// Size of a shape: each of its grains is placed as the sphere around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapeSize {
    /// Radius of the bounding sphere about the center of mass in the size in which the shape is defined \[m\].
    pub radius: f64,
    /// Volume over that of the bounding sphere \[-\].
    pub solid_share: f64,
}

#[derive(Clone, Copy)]
enum Amount {
    Count(u64),
    Fraction(f64),
}

/// Volume of a sphere \[m³\].
pub(crate) fn sphere(radius: f64) -> f64 {
    4.0 / 3.0 * PI * radius.powi(3)
}

fn volume_of(radii: &[f64]) -> f64 {
    // The sum of nothing is 0, where `sum` has −0.
    radii.iter().fold(0.0, |sum, radius| sum + sphere(*radius))
}

fn draw_all(sizes: &RadiusDistribution, amount: Amount, space: &Space, random: &mut ChaCha12Rng) -> Vec<f64> {
    let mut draw = || sizes.draw(|| random.random());
    match amount {
        Amount::Count(count) => (0..count).map(|_| draw()).collect(),
        Amount::Fraction(fraction) => {
            let (mut radii, mut missing) = (Vec::new(), fraction * space.volume);
            while let radius = draw()
                && missing > 0.5 * sphere(radius)
            {
                missing -= sphere(radius);
                radii.push(radius);
            }
            radii
        }
    }
}

/// Fills a region: centers and radii \[m\]. Without radii in the request, all have the size of their `shape`. The same seed and `stream` give the same
/// grains, independently of the rest of the scene, unless grains of earlier sections block random positions. Paths of files are made absolute.
///
/// # Errors
/// With the key at fault: if the region is empty, is no column for rain, the radii are no valid distribution, or the grains do not fit into memory or
/// into the region. In the last case it states the solid fraction that was reached.
pub(crate) fn fill(
    request: &mut Fill,
    stream: u64,
    shape: Option<ShapeSize>,
    around: &Surroundings,
    findings: &mut CheckState,
) -> Result<Vec<(Vec3, f64)>, (&'static str, UnlocatedDiagnostic)> {
    let whole = |complaint| ("fill", complaint);
    if request.minus.len() > MAX_TAKEN_AWAY {
        let complaint = UnlocatedDiagnostic::new(format!("`minus` takes {} parts away", request.minus.len()));
        let complaint = complaint.limit(format!("{MAX_TAKEN_AWAY} parts"));
        return Err((
            "fill.minus",
            complaint.remedy("take fewer away, or the space between them as one mesh"),
        ));
    }
    let mut space =
        Space::new(&mut request.region, &mut request.minus, request.periodic, findings).map_err(|complaint| ("fill.region", complaint))?;
    let sizes = match (&mut request.radius, shape) {
        (Some(radius), _) => sizes(radius, findings).map_err(|complaint| ("fill.radius", complaint))?,
        (None, Some(shape)) => RadiusDistribution::One(shape.radius),
        (None, None) => {
            let complaint = UnlocatedDiagnostic::new("`radius` is missing, and spheres have no size of their own");
            return Err(whole(complaint.remedy("add radius = \"2 mm\"")));
        }
    };
    let amount = match (request.count, request.solid_fraction) {
        (Some(count), None) => Amount::Count(count.0),
        (None, Some(fraction)) => Amount::Fraction(fraction.si),
        _ => {
            return Err(whole(
                UnlocatedDiagnostic::new("a fill needs `count` or `solid_fraction`, and not both")
                    .remedy("write count = 1000, or solid_fraction = 0.3"),
            ));
        }
    };
    let method = request.method.0;
    if request.lattice.is_some() && method != Method::Lattice {
        let complaint = UnlocatedDiagnostic::new("`lattice` is for method = \"lattice\"");
        return Err(("fill.lattice", complaint.remedy("remove it, or choose that method")));
    }
    refuse_too_many(match amount {
        Amount::Count(count) => count as f64,
        Amount::Fraction(fraction) => fraction * space.volume / (4.0 / 3.0 * PI * sizes.mean_cube()),
    })
    .map_err(whole)?;
    let mut random = ChaCha12Rng::seed_from_u64(around.seed);
    random.set_stream(stream);
    let mut radii = draw_all(&sizes, amount, &space, &mut random);
    let largest = radii.iter().copied().fold(0.0, f64::max);
    if largest > space.largest_radius() {
        let message = format!("a grain of radius {largest} m does not fit into the region");
        return Err(whole(
            UnlocatedDiagnostic::new(message)
                .limit(format!(
                    "{} m, and three diameters from side to side where sides wrap",
                    space.largest_radius()
                ))
                .remedy("enlarge the region or use smaller grains"),
        ));
    }
    if radii.is_empty() {
        return Err(whole(
            UnlocatedDiagnostic::new("the fill would hold no grain at all")
                .remedy("raise `solid_fraction`, enlarge the region or use smaller grains"),
        ));
    }
    let volume = space.volume;
    if method != Method::Lattice {
        radii.sort_by(|a, b| b.total_cmp(a));
    }
    let (places, remedy) = match method {
        Method::Lattice => {
            let lattice = request.lattice.unwrap_or_default().0;
            let is_spread = matches!(amount, Amount::Fraction(_));
            let places = lattice::place(&space, lattice, &radii, is_spread, &mut random);
            let remedy = "enlarge the region, use fewer grains, or method = \"growth\" for grains of mixed sizes";
            (places.map_err(|complaint| ("fill.region", complaint))?, remedy)
        }
        Method::Random => {
            let remedy = match shape {
                None => "random insertion ends near 0.35: ask for less, or use method = \"growth\" or \"lattice\"",
                Some(_) => {
                    "random insertion ends where the spheres around the grains fill some 0.35: ask for less, or use method = \"growth\" or \"lattice\""
                }
            };
            (insertion::insert(&space, &radii, around.grains, &mut random), remedy)
        }
        Method::Rain => {
            let places = insertion::rain(&mut space, &radii, around.grains, around.gravity, &mut random);
            (
                places.map_err(|complaint| ("fill.region", complaint))?,
                "use a wider region, or smaller grains",
            )
        }
        Method::Growth => {
            let places = growth::grow(&space, &radii, &mut random).map_err(|share| {
                let asked = volume_of(&radii) / volume;
                let ([asked, reached], of_spheres) = fractions([asked, asked * share.powi(3)], shape);
                let complaint = UnlocatedDiagnostic::new(format!(
                    "asked for a solid fraction of {asked:.3}, reached {reached:.3}{of_spheres}"
                ));
                whole(
                    complaint
                        .limit("0.64 for equal spheres far from walls, less beside them, more for spheres of several sizes")
                        .remedy("ask for less, fill a larger region, or use method = \"lattice\" for ordered packings of up to 0.7"),
                )
            })?;
            (places, "")
        }
    };
    if places.len() < radii.len() {
        let of_spheres = [&radii[..places.len()], &radii[..]].map(|radii| volume_of(radii) / volume);
        return Err(whole(does_not_fit([places.len(), radii.len()], of_spheres, shape).remedy(remedy)));
    }
    Ok(places.into_iter().map(|at| space.to_space(at).to_array()).zip(radii).collect())
}

/// Reports how far a fill came: the numbers of grains that are placed and wanted, and the shares of the region that they fill as spheres.
fn does_not_fit([placed, wanted]: [usize; 2], of_spheres: [f64; 2], shape: Option<ShapeSize>) -> UnlocatedDiagnostic {
    let ([reached, asked], of_spheres) = fractions(of_spheres, shape);
    UnlocatedDiagnostic::new(format!(
        "only {placed} of {wanted} grains fit: a solid fraction of {reached:.3} was reached, {asked:.3} is wanted{of_spheres}"
    ))
    .limit(format!("{placed} grains of these radii"))
}

/// Solid fractions of grains that fill these shares of a region as spheres, and a text with these shares if they are others.
fn fractions(of_spheres: [f64; 2], shape: Option<ShapeSize>) -> ([f64; 2], String) {
    let Some(shape) = shape else {
        return (of_spheres, String::new());
    };
    let [first, second] = of_spheres;
    let text = format!("; with the spheres around the grains, which `solid_fraction` counts, {first:.3} and {second:.3}");
    (of_spheres.map(|share| share * shape.solid_share), text)
}
