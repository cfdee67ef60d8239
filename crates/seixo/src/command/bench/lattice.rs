//! The lattice: grains in contact with their six neighbors from the first step, in a closed box without gravity; or grains bonded to them across a
//! gap, without walls.

use super::case::{self, Jitter};
use seixo_device::{Cpu, Strided};
use seixo_engine::world::{BondSize, Bonded, Bonds, CrossSection, ExpectedGrains, GrainSource, Grains, PairValues, Vec3};
use seixo_laws::bond::BondLaw;
use std::ops::Range;

/// Radius of the grains \[m\].
pub const RADIUS: f64 = 5e-4;
/// Spacing of neighbors in contact \[radii\].
pub const PRESSED: f64 = 1.98;
/// Spacing of bonded neighbors, which are not in contact \[radii\].
pub const BONDED: f64 = 2.05;
/// Largest distance from the lattice site along each axis \[radii\].
const JITTER: f64 = 0.01;
/// Largest initial velocity along each axis \[radii/step\]. In a thousand steps, a grain moves a fifth of the distance that triggers a rebuild of
/// lists.
const SPEED: f64 = 2e-5;
/// Time step \[s\].
pub const STEP: f64 = 1e-6;
/// Number of steps of a collision.
const STEPS_PER_COLLISION: f64 = 40.0;
/// Random numbers of a grain: for its position and its velocity.
const NUMBERS: u64 = 6;
/// Grains that a thread lays out at once, in whole rows.
const BLOCK: usize = 1 << 16;
/// Positions from which the planes between domains follow.
const SAMPLED: usize = 1 << 18;

/// Beam bonds to the six neighbors, too strong to break.
pub fn bonds() -> Bonds {
    Bonds {
        name: "cement".to_owned(),
        between: Bonded::Near {
            groups: vec![0],
            tolerance: 0.1,
        },
        law: BondLaw::Beam,
        section: CrossSection::Circle,
        size: BondSize::Share(1.0),
        youngs_modulus: 1e7,
        stiffness: None,
        of_pairs: PairValues::default(),
        poisson_ratio: 0.2,
        damping_ratio: 0.1,
        damping: None,
        tensile_strength: 1e9,
        cohesion: 1e9,
        friction_angle: 0.5,
        fracture_energy: f64::INFINITY,
        one_piece: false,
        weibull_modulus: None,
        seed: 1,
    }
}

/// Normal stiffness \[N/m\].
pub fn stiffness() -> f64 {
    case::stiffness(2.0 * RADIUS, STEPS_PER_COLLISION * STEP)
}

/// Grains on a lattice: a full cube, or some of them side by side along x.
#[derive(Clone, Copy, Debug)]
pub struct Lattice {
    /// Sites along each axis.
    sites: [usize; 3],
    /// Spacing of neighbors \[radii\].
    spacing: f64,
}

impl Lattice {
    /// A row of cubes with about `particles` grains each, at this spacing \[radii\].
    pub fn row(cubes: usize, particles: usize, spacing: f64) -> Lattice {
        let side = ((particles as f64).cbrt().round() as usize).max(1);
        Lattice {
            sites: [cubes * side, side, side],
            spacing,
        }
    }

    /// Lengths of the box in contact with the grains \[m\].
    pub fn lengths(&self) -> [f64; 3] {
        self.sites.map(|sites| RADIUS * (2.0 + self.spacing * (sites - 1) as f64))
    }

    /// All grains, which all cores lay out.
    pub fn grains(&self) -> Grains {
        // Without further threads, this one lays out all.
        let cores = Cpu::new(0).ok();
        self.laid_out(self.sites.map(|sites| 0..sites), cores.as_ref())
    }

    /// What a world has to announce of the grains.
    pub fn kind(&self) -> ExpectedGrains {
        let grains = self.sites.iter().product::<usize>();
        ExpectedGrains {
            material: 0,
            radius: [RADIUS; 2],
            mass_per_radius: None,
            shape: None,
            speed: 3f64.sqrt() * SPEED * RADIUS / STEP,
            reach: self.lengths().into_iter().fold(0.0, f64::max),
            highest_id: Some((grains - 1) as u32),
        }
    }

    /// The grains on these sites, in rows along x.
    fn laid_out(&self, [across, along, up]: [Range<usize>; 3], cores: Option<&Cpu>) -> Grains {
        let (length, rows) = (across.len(), along.len() * up.len());
        let count = length * rows;
        if count == 0 {
            return Grains::default();
        }
        let (mut id, mut position, mut velocity) = (vec![0; count], vec![[0.0; 3]; count], vec![[0.0; 3]; count]);
        let rows_at_once = (BLOCK / length).max(1);
        let lay_out = |part: usize, (id, position, velocity): (Strided<u32>, Strided<Vec3>, Strided<Vec3>)| {
            let columns = id.items.chunks_mut(length).zip(position.items.chunks_mut(length));
            for (row, ((id, position), velocity)) in columns.zip(velocity.items.chunks_mut(length)).enumerate() {
                let row = part * rows_at_once + row;
                let (y, z) = (along.start + row % along.len(), up.start + row / along.len());
                let first = across.start + self.sites[0] * (y + self.sites[1] * z);
                let mut jitter = Jitter(1);
                jitter.skip(NUMBERS * first as u64);
                for (k, ((id, center), motion)) in id.iter_mut().zip(position).zip(velocity).enumerate() {
                    *id = (first + k) as u32;
                    let cell = [across.start + k, y, z];
                    *center = cell.map(|site| RADIUS * (1.0 + self.spacing * site as f64 + JITTER * jitter.next()));
                    *motion = [0.0; 3].map(|_: f64| SPEED * RADIUS / STEP * jitter.next());
                }
            }
        };
        let per_part = rows_at_once * length;
        let data = (
            Strided {
                items: &mut id[..],
                per_part,
            },
            Strided {
                items: &mut position[..],
                per_part,
            },
            Strided {
                items: &mut velocity[..],
                per_part,
            },
        );
        match cores {
            Some(cores) => cores.run(rows.div_ceil(rows_at_once), data, lay_out),
            None => lay_out(0, data),
        }
        Grains {
            id,
            position,
            velocity,
            angular_velocity: vec![[0.0; 3]; count],
            radius: vec![RADIUS; count],
            material: vec![0; count],
            group: vec![0; count],
            ..Grains::default()
        }
    }
}

impl GrainSource for Lattice {
    fn sample(&self) -> Vec<Vec3> {
        let mut jitter = Jitter(1);
        let place = |_| {
            self.sites.map(|sites| {
                let site = 0.5 * (1.0 + jitter.next()) * sites as f64 - 0.5;
                RADIUS * (1.0 + self.spacing * site)
            })
        };
        (0..SAMPLED).map(place).collect()
    }

    fn grains_in(&self, low: Vec3, high: Vec3, cores: &Cpu) -> Grains {
        // At least the sites whose grains may be in the box: no grain is a whole spacing away from its own.
        let sites = [0, 1, 2].map(|axis| {
            let near = |x: f64, beyond: f64| ((x / RADIUS - 1.0) / self.spacing + beyond).clamp(0.0, self.sites[axis] as f64) as usize;
            near(low[axis], -1.0)..near(high[axis], 2.0)
        });
        self.laid_out(sites, Some(cores))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of three cubes of 8³ grains.
    fn row() -> Lattice {
        Lattice::row(3, 512, PRESSED)
    }

    #[test]
    fn a_row_has_one_grain_on_each_site_in_its_box() {
        let (grains, lengths) = (row().grains(), row().lengths());
        assert!(grains.id.iter().copied().eq(0..1536));
        for (k, center) in grains.position.iter().enumerate() {
            let site = [k % 24, k / 24 % 8, k / 192].map(|site| RADIUS * (1.0 + PRESSED * site as f64));
            for axis in 0..3 {
                assert!((center[axis] - site[axis]).abs() <= JITTER * RADIUS, "{k}: {center:?}");
                assert!((-JITTER..=JITTER).contains(&((lengths[axis] - center[axis]) / RADIUS - 1.0).min(0.0)));
            }
        }
        let kind = row().kind();
        assert_eq!((kind.highest_id, kind.reach), (Some(1535), lengths[0]));
        let speed = |v: &Vec3| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(grains.velocity.iter().all(|v| speed(v) <= kind.speed));
    }

    #[test]
    fn boxes_that_fill_space_have_each_grain_once_and_as_in_the_whole() {
        let (whole, cores) = (row().grains(), Cpu::new(2).unwrap());
        let far = f64::INFINITY;
        let mut found = Vec::new();
        for [from, to] in [[-far, 0.0042], [0.0042, 0.0113], [0.0113, far]] {
            let (low, high) = ([from, -far, -far], [to, far, far]);
            let grains = row().grains_in(low, high, &cores);
            assert!(grains.id.is_sorted() && grains.len() < whole.len());
            for (k, &id) in grains.id.iter().enumerate() {
                let own = id as usize;
                assert_eq!(
                    (grains.position[k], grains.velocity[k], grains.radius[k]),
                    (whole.position[own], whole.velocity[own], whole.radius[own])
                );
                if (from..to).contains(&grains.position[k][0]) {
                    found.push(id);
                }
            }
        }
        found.sort_unstable();
        assert_eq!(found, whole.id);
    }

    #[test]
    fn a_sample_shows_where_the_grains_are() {
        let (sample, lengths) = (row().sample(), row().lengths());
        for axis in 0..3 {
            let below = sample.iter().filter(|place| place[axis] < 0.25 * lengths[axis]).count();
            assert!((below as f64 / sample.len() as f64 - 0.25).abs() < 0.01, "{axis}: {below}");
            let inside = 0.0..lengths[axis];
            assert!(sample.iter().all(|place| inside.contains(&place[axis])));
        }
    }
}
