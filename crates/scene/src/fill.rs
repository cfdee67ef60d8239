//! Regions filled with grains that do not overlap: a jittered lattice, or random sequential insertion.

use crate::{
    diagnostics::Complaint,
    schema::{BoxShape, Fill, Radius, Region, Spread, Vector},
    words::Method,
};
use glam::DVec3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use seixo_engine::world::Vec3;
use std::{collections::HashMap, f64::consts::PI, ops::ControlFlow};

/// Memory that a grain with its contacts takes in a run, generously \[bytes\].
const BYTES_PER_GRAIN: f64 = 1000.0;
/// Memory taken for available where the system does not tell \[bytes\].
const MEMORY_IF_UNKNOWN: f64 = 16e9;
/// Closest lattice in units of the largest radius; the slack is what the jitter uses.
const CLOSEST_SPACING: f64 = 2.02;
/// Places tried for a grain before random insertion gives up.
const MOST_TRIES: usize = 5000;

/// A vector of quantities as plain numbers.
pub(crate) fn si<D>(vector: &Vector<D>) -> Vec3 {
    vector.map(|component| component.si)
}

/// Refuses a number of grains that this machine cannot hold, before anything is allocated.
pub(crate) fn refuse_too_many(grains: f64) -> Result<(), Complaint> {
    let needed = grains * BYTES_PER_GRAIN;
    let available = available_memory();
    if needed <= available && grains <= f64::from(u32::MAX) {
        return Ok(());
    }
    let gigabytes = |bytes: f64| {
        if bytes < 1e15 {
            format!("{:.1} GB", bytes / 1e9)
        } else {
            format!("{:.1e} GB", bytes / 1e9)
        }
    };
    let message = format!("{grains:.4e} grains need about {} of memory", gigabytes(needed));
    Err(Complaint::new(message)
        .limit(format!("{} available", gigabytes(available)))
        .remedy("use fewer or larger grains"))
}

fn available_memory() -> f64 {
    let told = || {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    told().map_or(MEMORY_IF_UNKNOWN, |kilobytes| kilobytes * 1024.0)
}

#[derive(Clone, Copy)]
enum Form {
    Box,
    Cylinder,
    Sphere,
}

/// A region in its own frame: centered, the third axis along the cylinder.
struct Space {
    form: Form,
    center: DVec3,
    axes: [DVec3; 3],
    half: DVec3,
}

impl Space {
    fn new(region: &Region) -> Result<Space, Complaint> {
        let upright = DVec3::AXES;
        match region {
            Region::Box(shape) => {
                let (min, max) = corners(shape)?;
                Ok(Space {
                    form: Form::Box,
                    center: (min + max) / 2.0,
                    axes: upright,
                    half: (max - min) / 2.0,
                })
            }
            Region::Cylinder(shape) => {
                let (from, to) = (DVec3::from(si(&shape.from)), DVec3::from(si(&shape.to)));
                let axis = axis_between(from, to)?;
                let (u, v) = axis.any_orthonormal_pair();
                let half = DVec3::new(shape.radius.si, shape.radius.si, (to - from).length() / 2.0);
                Ok(Space {
                    form: Form::Cylinder,
                    center: (from + to) / 2.0,
                    axes: [u, v, axis],
                    half,
                })
            }
            Region::Sphere(shape) => Ok(Space {
                form: Form::Sphere,
                center: DVec3::from(si(&shape.center)),
                axes: upright,
                half: DVec3::splat(shape.radius.si),
            }),
        }
    }

    fn volume(&self) -> f64 {
        let DVec3 { x, y, z } = self.half;
        match self.form {
            Form::Box => 8.0 * x * y * z,
            Form::Cylinder => 2.0 * PI * x * y * z,
            Form::Sphere => 4.0 / 3.0 * PI * x * y * z,
        }
    }

    /// How far a layer at height `z` reaches along y when it keeps `margin` from the surface; negative where there is none.
    fn reach_y(&self, z: f64, margin: f64) -> f64 {
        match self.form {
            _ if z.abs() > self.half.z - margin => -1.0,
            Form::Box | Form::Cylinder => self.half.y - margin,
            Form::Sphere => ((self.half.y - margin).powi(2) - z * z).max(0.0).sqrt(),
        }
    }

    /// How far a row at `y` in the layer at `z` reaches along x.
    fn reach_x(&self, y: f64, z: f64, margin: f64) -> f64 {
        let reach = self.reach_y(z, margin);
        match self.form {
            _ if y.abs() > reach => -1.0,
            Form::Box => self.half.x - margin,
            Form::Cylinder | Form::Sphere => (reach * reach - y * y).max(0.0).sqrt(),
        }
    }

    fn place(&self, local: DVec3) -> Vec3 {
        (self.center + self.axes[0] * local.x + self.axes[1] * local.y + self.axes[2] * local.z).to_array()
    }

    /// Visits the sites of a hexagonal close packing that keep half a spacing from the surface, layer by layer from the bottom.
    fn visit_sites(&self, spacing: f64, mut visit: impl FnMut(DVec3) -> ControlFlow<()>) {
        let margin = spacing / 2.0;
        let (row, layer) = (spacing * 0.75_f64.sqrt(), spacing * (2.0_f64 / 3.0).sqrt());
        for k in 0_u64.. {
            let z = margin - self.half.z + layer * k as f64;
            if z > self.half.z - margin {
                return;
            }
            let (odd, reach) = (k % 2, self.reach_y(z, margin));
            let first_row = margin - self.half.y + row * odd as f64 / 3.0;
            let skipped = ((-reach - first_row) / row).ceil().max(0.0) as u64;
            for j in skipped.. {
                let y = first_row + row * j as f64;
                if y > reach {
                    break;
                }
                let reach = self.reach_x(y, z, margin);
                let first = margin - self.half.x + margin * ((j + odd) % 2) as f64;
                let skipped = ((-reach - first) / spacing).ceil().max(0.0) as u64;
                for i in skipped.. {
                    let x = first + spacing * i as f64;
                    if x > reach {
                        break;
                    }
                    if visit(DVec3::new(x, y, z)).is_break() {
                        return;
                    }
                }
            }
        }
    }

    /// The first `count` sites.
    fn sites(&self, spacing: f64, count: usize) -> Vec<DVec3> {
        let mut sites = Vec::new();
        self.visit_sites(spacing, |site| {
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

/// The corners of a box whose every edge has a length.
pub(crate) fn corners(shape: &BoxShape) -> Result<(DVec3, DVec3), Complaint> {
    let (min, max) = (DVec3::from(si(&shape.min)), DVec3::from(si(&shape.max)));
    if min.cmplt(max).all() {
        return Ok((min, max));
    }
    Err(Complaint::new(format!("the box from {min} to {max} is empty or inside out"))
        .limit("min below max in x, y and z")
        .remedy("exchange or move the corners"))
}

/// The unit vector from one end to the other.
pub(crate) fn axis_between(from: DVec3, to: DVec3) -> Result<DVec3, Complaint> {
    (to - from).try_normalize().ok_or_else(|| {
        Complaint::new(format!("both ends are at {from}"))
            .limit("two different points")
            .remedy("move `from` or `to`")
    })
}

/// Draws radii.
#[derive(Clone, Debug)]
pub(crate) struct Radii {
    low: f64,
    high: f64,
    /// Mean and standard deviation, of a normal distribution.
    normal: Option<[f64; 2]>,
}

impl Radii {
    pub fn new(radius: &Radius) -> Result<Radii, Complaint> {
        match radius {
            Radius::One(one) => Ok(Radii {
                low: one.si,
                high: one.si,
                normal: None,
            }),
            Radius::Spread(Spread::Uniform([low, high])) if low.si <= high.si => Ok(Radii {
                low: low.si,
                high: high.si,
                normal: None,
            }),
            Radius::Spread(Spread::Uniform([low, high])) => {
                let message = format!("the radii from {} m to {} m run backward", low.si, high.si);
                Err(Complaint::new(message).limit("smallest first").remedy("exchange the two"))
            }
            Radius::Spread(Spread::Normal([mean, deviation])) => {
                let (low, high) = (mean.si - 3.0 * deviation.si, mean.si + 3.0 * deviation.si);
                if low > 0.0 {
                    return Ok(Radii {
                        low,
                        high,
                        normal: Some([mean.si, deviation.si]),
                    });
                }
                let message = format!(
                    "three standard deviations of {} m below the mean of {} m leave no radius",
                    deviation.si, mean.si
                );
                Err(Complaint::new(message)
                    .limit("standard deviation below a third of the mean")
                    .remedy("use a smaller standard deviation, or { uniform = [smallest, largest] }"))
            }
        }
    }

    /// Smallest and largest radius \[m\].
    pub fn range(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The mean of r³ \[m³\]; for the normal distribution without its cut.
    pub fn mean_cube(&self) -> f64 {
        match self.normal {
            Some([mean, deviation]) => mean.powi(3) + 3.0 * mean * deviation * deviation,
            None => (self.low + self.high) * (self.low * self.low + self.high * self.high) / 4.0,
        }
    }

    pub fn draw(&self, random: &mut ChaCha12Rng) -> f64 {
        let Some([mean, deviation]) = self.normal else {
            return self.low + (self.high - self.low) * random.random::<f64>();
        };
        loop {
            // Box and Muller, 1958.
            let (u, v): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
            let radius = mean + deviation * (-2.0 * u.ln()).sqrt() * (2.0 * PI * v).cos();
            if (self.low..=self.high).contains(&radius) {
                return radius;
            }
        }
    }

    fn draw_all(&self, amount: Amount, space: &Space, random: &mut ChaCha12Rng) -> Vec<f64> {
        match amount {
            Amount::Count(count) => (0..count).map(|_| self.draw(random)).collect(),
            Amount::Fraction(fraction) => {
                let (mut radii, mut missing) = (Vec::new(), fraction * space.volume());
                while let radius = self.draw(random)
                    && missing > 0.5 * sphere(radius)
                {
                    missing -= sphere(radius);
                    radii.push(radius);
                }
                radii
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Amount {
    Count(u64),
    Fraction(f64),
}

fn sphere(radius: f64) -> f64 {
    4.0 / 3.0 * PI * radius.powi(3)
}

/// Fills a region. The same `seed` and `stream` give the same grains, whatever else the scene holds.
///
/// # Errors
/// When the region is empty, the grains are too many for the machine, or do not fit; then it says which fraction was reached.
pub(crate) fn fill(fill: &Fill, seed: u64, stream: u64) -> Result<Vec<(Vec3, f64)>, Complaint> {
    let space = Space::new(&fill.region)?;
    let radii = Radii::new(&fill.radius)?;
    let amount = match (fill.count, fill.solid_fraction) {
        (Some(count), None) => Amount::Count(count.0),
        (None, Some(fraction)) => Amount::Fraction(fraction.si),
        _ => {
            return Err(Complaint::new("a fill needs `count` or `solid_fraction`, and not both")
                .remedy("write count = 1000, or solid_fraction = 0.3"));
        }
    };
    refuse_too_many(match amount {
        Amount::Count(count) => count as f64,
        Amount::Fraction(fraction) => fraction * space.volume() / (4.0 / 3.0 * PI * radii.mean_cube()),
    })?;
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    random.set_stream(stream);
    let drawn = radii.draw_all(amount, &space, &mut random);
    let largest = drawn.iter().copied().fold(0.0, f64::max);
    if largest > space.half.min_element() {
        let message = format!("a grain of radius {largest} m does not fit into the region");
        return Err(Complaint::new(message)
            .limit(format!("{} m", space.half.min_element()))
            .remedy("enlarge the region or use smaller grains"));
    }
    if drawn.is_empty() {
        return Err(Complaint::new("the fill would hold no grain at all")
            .remedy("raise `solid_fraction`, enlarge the region or use smaller grains"));
    }
    match fill.method.0 {
        Method::Lattice => lattice(&space, drawn, matches!(amount, Amount::Fraction(_)), &mut random),
        Method::Random => insert(&space, drawn, &mut random),
    }
}

/// Says how far a fill came.
fn does_not_fit(space: &Space, placed: &[f64], wanted: &[f64], remedy: &str) -> Complaint {
    let fraction = |radii: &[f64]| radii.iter().map(|radius| sphere(*radius)).sum::<f64>() / space.volume();
    Complaint::new(format!(
        "only {} of {} grains fit: a solid fraction of {:.3} was reached, {:.3} is wanted",
        placed.len(),
        wanted.len(),
        fraction(placed),
        fraction(wanted)
    ))
    .limit(format!("{} grains of these radii", placed.len()))
    .remedy(remedy)
}

/// One grain per lattice site, moved at random within the slack between neighbors: dense from the bottom, or spread over the region.
fn lattice(space: &Space, radii: Vec<f64>, is_spread: bool, random: &mut ChaCha12Rng) -> Result<Vec<(Vec3, f64)>, Complaint> {
    let largest = radii.iter().copied().fold(0.0, f64::max);
    let mut spacing = CLOSEST_SPACING * largest;
    let mut sites = space.sites(spacing, radii.len());
    if sites.len() < radii.len() {
        return Err(does_not_fit(
            space,
            &radii[..sites.len()],
            &radii,
            "enlarge the region, use fewer grains, or let grains of mixed sizes fall in from a larger region",
        ));
    }
    if is_spread {
        // Close packing has √2 sites per cube of the spacing: no wider lattice can hold the grains.
        let mut too_wide = spacing.max(1.1 * (2.0_f64.sqrt() * space.volume() / radii.len() as f64).cbrt());
        for _ in 0..30 {
            let wider = 0.5 * (spacing + too_wide);
            let found = space.sites(wider, radii.len());
            if found.len() == radii.len() {
                (spacing, sites) = (wider, found);
            } else {
                too_wide = wider;
            }
        }
    }
    let slack = 0.999 * (0.5 * spacing - largest);
    let jitter = |random: &mut ChaCha12Rng| loop {
        let step = DVec3::new(random.random(), random.random(), random.random()) * 2.0 - 1.0;
        if step.length_squared() <= 1.0 {
            return step * slack;
        }
    };
    Ok(sites
        .into_iter()
        .zip(radii)
        .map(|(site, radius)| (space.place(site + jitter(random)), radius))
        .collect())
}

/// Large grains first, each at the first of its random places that is free.
fn insert(space: &Space, mut radii: Vec<f64>, random: &mut ChaCha12Rng) -> Result<Vec<(Vec3, f64)>, Complaint> {
    radii.sort_by(|a, b| b.total_cmp(a));
    let edge = 2.0 * radii.first().copied().unwrap_or(1.0);
    let cell_of = |p: DVec3| (p / edge).floor().to_array().map(|index| index as i64);
    let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
    let mut placed: Vec<DVec3> = Vec::with_capacity(radii.len());
    for (index, &radius) in radii.iter().enumerate() {
        let is_free = |place: DVec3| {
            let [x, y, z] = cell_of(place);
            let mut near = (0..27)
                .filter_map(|n| {
                    cells.get(&[
                        x.saturating_add(n % 3 - 1),
                        y.saturating_add(n / 3 % 3 - 1),
                        z.saturating_add(n / 9 - 1),
                    ])
                })
                .flatten();
            near.all(|&other| placed[other].distance(place) >= (radius + radii[other]) * (1.0 + 1e-9))
        };
        let mut candidates =
            (0..MOST_TRIES).map(|_| (DVec3::new(random.random(), random.random(), random.random()) * 2.0 - 1.0) * (space.half - radius));
        let Some(place) = candidates.find(|p| p.x.abs() <= space.reach_x(p.y, p.z, radius) && is_free(*p)) else {
            return Err(does_not_fit(
                space,
                &radii[..index],
                &radii,
                "random insertion ends near 0.35: ask for less, or use method = \"lattice\"",
            ));
        };
        cells.entry(cell_of(place)).or_default().push(index);
        placed.push(place);
    }
    Ok(placed
        .into_iter()
        .zip(radii)
        .map(|(place, radius)| (space.place(place), radius))
        .collect())
}
