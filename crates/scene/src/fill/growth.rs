//! Dense packings: spheres grow in steps. After each step they are pushed apart until none overlaps (after \[Desmond 2009\]), by the relaxation FIRE
//! \[Bitzek 2006\] with linear springs and unit masses.

use super::{cells::Cells, insertion::insert, region::Space, volume_of};
use glam::DVec3;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;

/// Solid fraction of the initial random insertion.
const START: f64 = 0.1;
/// Solid fraction from which on careful growth is slow and has random displacements: spheres move past each other, as in a fluid, before they jam.
const SLOW: f64 = 0.4;
/// Random displacements in units of the radii: 1000 equal spheres then jam at a solid fraction 0.015 higher than without them. A value of 0.3 gains
/// half of that, 1 a third.
const SHAKE: f64 = 0.5;

/// Rates of growth, as shares of the final radii.
struct Pace {
    /// In a step below [`SLOW`], and above.
    growth: [f64; 2],
    /// Smallest step, which is not halved further.
    least: f64,
    is_shaken: bool,
}

/// A fast growth, which is sufficient for most, then a slow one to the density of random packings.
const PACES: [Pace; 2] = [
    Pace {
        growth: [0.05, 0.05],
        least: 0.01,
        is_shaken: false,
    },
    Pace {
        growth: [0.05, 0.001],
        least: 1e-4,
        is_shaken: true,
    },
];
/// Excess of the distance to which spheres are pushed apart, so that the last overlaps vanish in finite time.
const SWELL: f64 = 5e-4;
/// Steps of relaxation after which a step of growth counts as too large.
const MAX_STEPS: u32 = 2000;
/// Skin of the neighbor lists, in units of the smallest radius.
const SKIN: f64 = 0.4;
/// First and largest time step, in units of √(mass/stiffness); the fastest mode of a dozen springs has an angular frequency of some 3 in these units.
const FIRST_TIME_STEP: f64 = 0.1;
const LARGEST_TIME_STEP: f64 = 0.4;

/// Positions for spheres of descending radii.
///
/// # Errors
/// If they do not fit: the share of their radii at which they still did.
pub(super) fn grow(space: &Space, radii: &[f64], random: &mut ChaCha12Rng) -> Result<Vec<DVec3>, f64> {
    let wanted = volume_of(radii) / space.volume;
    let first = (START / wanted).cbrt().min(1.0);
    let small: Vec<f64> = radii.iter().map(|radius| radius * first).collect();
    let start = insert(space, &small, &[], random);
    let mut reached = 0.0_f64;
    if start.len() < radii.len() {
        return Err(reached);
    }
    for pace in PACES {
        let mut packing = Packing::new(space, radii, start.clone());
        let scale = packing.grow(&pace, first, SLOW / wanted, random);
        if scale == 1.0 {
            return Ok(packing.at.into_iter().map(|at| space.wrapped(at)).collect());
        }
        reached = reached.max(scale);
    }
    Err(reached)
}

struct Packing<'a> {
    space: &'a Space,
    radii: &'a [f64],
    at: Vec<DVec3>,
    velocity: Vec<DVec3>,
    force: Vec<DVec3>,
    /// Pairs of spheres that may overlap, and spheres that may overlap a surface.
    pairs: Vec<(u32, u32)>,
    at_surface: Vec<u32>,
    /// Positions at the last rebuild of the lists.
    listed: Vec<DVec3>,
}

impl Packing<'_> {
    fn new<'a>(space: &'a Space, radii: &'a [f64], at: Vec<DVec3>) -> Packing<'a> {
        Packing {
            space,
            radii,
            velocity: vec![DVec3::ZERO; at.len()],
            force: vec![DVec3::ZERO; at.len()],
            pairs: Vec::new(),
            at_surface: Vec::new(),
            listed: Vec::new(),
            at,
        }
    }

    /// Grows the spheres from a share of their radii, slowly from a share of their volumes on, until they have their size or are jammed. Returns the
    /// share of their radii that they reach.
    fn grow(&mut self, pace: &Pace, from: f64, slow: f64, random: &mut ChaCha12Rng) -> f64 {
        let (mut scale, mut growth) = (from, f64::INFINITY);
        while scale < 1.0 && growth >= pace.least {
            let usual = pace.growth[usize::from(scale.powi(3) > slow)];
            growth = growth.min(usual);
            let before = self.at.clone();
            // Halved steps mean that jamming is near: random displacements would only lead away from it.
            if pace.is_shaken && growth == pace.growth[1] {
                for (at, radius) in self.at.iter_mut().zip(self.radii) {
                    let step = DVec3::new(random.random(), random.random(), random.random()) * 2.0 - 1.0;
                    *at += step * SHAKE * scale * *radius;
                }
            }
            let larger = (scale + growth).min(1.0);
            if self.relax(larger) {
                scale = larger;
            } else {
                self.at = before;
                growth *= 0.5;
            }
        }
        scale
    }

    /// Skin of the neighbor lists.
    fn skin(&self, scale: f64) -> f64 {
        SKIN * scale * self.radii.last().copied().unwrap_or(1.0)
    }

    fn list(&mut self, scale: f64) {
        let (space, skin) = (self.space, self.skin(scale));
        let largest = scale * self.radii.first().copied().unwrap_or(1.0);
        let mut cells = Cells::new(largest, SWELL + SKIN / 2.0);
        for ((index, at), radius) in (0_u32..).zip(&mut self.at).zip(self.radii) {
            *at = space.wrapped(*at);
            for image in space.images(*at, 2.0 * largest + skin) {
                cells.add(index, image, scale * radius);
            }
        }
        self.pairs.clear();
        self.at_surface.clear();
        let mut near = Vec::new();
        for (i, (&at, &radius)) in self.at.iter().zip(self.radii).enumerate() {
            // Radii descend, so larger classes come first; periodic images cause duplicates.
            near.clear();
            near.extend(cells.near(at, scale * radius).filter(|j| (*j as usize) < i));
            near.sort_unstable();
            near.dedup();
            let is_near = |j: &&u32| {
                let other = **j as usize;
                let reach = (radius + self.radii[other]) * scale * (1.0 + SWELL) + skin;
                space.between(at, self.at[other]).length_squared() < reach * reach
            };
            self.pairs.extend(near.iter().filter(is_near).map(|j| (i as u32, *j)));
            let (mut is_at_surface, reach) = (false, radius * scale * (1.0 + SWELL) + skin);
            space.visit_faces(at, reach, |face| is_at_surface |= face.clearance < reach);
            if is_at_surface {
                self.at_surface.push(i as u32);
            }
        }
        self.listed.clone_from(&self.at);
    }

    /// Computes the forces; returns whether any two spheres, or a sphere and a surface, overlap.
    fn push_apart(&mut self, scale: f64) -> bool {
        let mut is_overlapping = false;
        self.force.fill(DVec3::ZERO);
        for &(i, j) in &self.pairs {
            let (i, j) = (i as usize, j as usize);
            let apart = self.space.between(self.at[j], self.at[i]);
            let touch = (self.radii[i] + self.radii[j]) * scale;
            let reach = touch * (1.0 + SWELL);
            let squared = apart.length_squared();
            if squared < reach * reach {
                let distance = squared.sqrt();
                is_overlapping |= distance < touch;
                let push = apart.try_normalize().unwrap_or(DVec3::X) * (reach - distance);
                self.force[i] += push;
                self.force[j] -= push;
            }
        }
        for &i in &self.at_surface {
            let i = i as usize;
            let touch = self.radii[i] * scale;
            let reach = touch * (1.0 + SWELL);
            let force = &mut self.force[i];
            self.space.visit_faces(self.at[i], reach, |face| {
                if face.clearance < reach {
                    is_overlapping |= face.clearance < touch;
                    *force += face.inward * (reach - face.clearance);
                }
            });
        }
        is_overlapping
    }

    /// Moves spheres of `scale` times their radii until none overlaps; returns whether that succeeded.
    fn relax(&mut self, scale: f64) -> bool {
        // [Bitzek 2006], with its parameters.
        let (mut mixing, mut time_step, mut downhill) = (0.1, FIRST_TIME_STEP, 0);
        self.velocity.fill(DVec3::ZERO);
        self.list(scale);
        for _ in 0..MAX_STEPS {
            let moved = 0.5 * self.skin(scale);
            let mut pairs = self.at.iter().zip(&self.listed);
            if pairs.any(|(at, listed)| at.distance_squared(*listed) > moved * moved) {
                self.list(scale);
            }
            if !self.push_apart(scale) {
                let mut balls = self.at.iter().zip(self.radii);
                return balls.all(|(at, radius)| self.space.holds(*at, radius * scale * (1.0 - 1e-9)));
            }
            let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
            let (power, force) = (dot(&self.force, &self.velocity), dot(&self.force, &self.force));
            if power > 0.0 {
                let turned = mixing * (dot(&self.velocity, &self.velocity) / force).sqrt();
                for (velocity, force) in self.velocity.iter_mut().zip(&self.force) {
                    *velocity = *velocity * (1.0 - mixing) + *force * turned;
                }
                downhill += 1;
                if downhill > 5 {
                    time_step = (time_step * 1.1).min(LARGEST_TIME_STEP);
                    mixing *= 0.99;
                }
            } else {
                (mixing, time_step, downhill) = (0.1, 0.5 * time_step, 0);
                self.velocity.fill(DVec3::ZERO);
            }
            for ((at, velocity), force) in self.at.iter_mut().zip(&mut self.velocity).zip(&self.force) {
                *velocity += *force * time_step;
                *at += *velocity * time_step;
            }
        }
        false
    }
}
