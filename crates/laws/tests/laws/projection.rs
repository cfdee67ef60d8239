//! Pressures of incompressible fluids. Their work equals the prevented compression, and a single pressure has the stated stiffness. The iterations
//! converge to pressures that act only where the fluid would be compressed.

use seixo_laws::Vector3;
use seixo_laws::fluid::{Smoother, Smoothing, Space, dfsph};

type V = Vector3<f64>;

const SMOOTHING: Smoothing = Smoothing::Wendland;
/// Support \[m\].
const SUPPORT: f64 = 0.3;
/// Volume of a particle \[m³\].
const VOLUME: f64 = 1.1e-3;
/// Time step \[s\].
const DT: f64 = 0.01;

/// Particles; those from `fluid` on are wall particles.
struct Cloud {
    places: Vec<V>,
    velocities: Vec<V>,
    densities: Vec<f64>,
    fluid: usize,
    smoother: Smoother<f64>,
}

/// Numbers from −½ to ½, the same in every run.
fn random_numbers() -> impl FnMut() -> f64 {
    let mut state = 7u64;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}

/// A cube of six layers of particles a `spacing` apart, displaced at random; the two lowest are wall particles. Two fluids are mixed.
fn cloud(spacing: f64) -> Cloud {
    let mut random = random_numbers();
    let mut cloud = Cloud {
        places: Vec::new(),
        velocities: Vec::new(),
        densities: Vec::new(),
        fluid: 4 * 36,
        smoother: SMOOTHING.smoother(SUPPORT, Space::Volume),
    };
    for k in 0..216 {
        let site = [k % 6, k / 6 % 6, 5 - k / 36].map(|x| spacing * (f64::from(x) + 0.2 * random()));
        cloud.places.push(V {
            x: site[0],
            y: site[1],
            z: site[2],
        });
        cloud.velocities.push(V {
            x: random(),
            y: random(),
            z: random() - 0.2 * f64::from(5 - k / 36),
        });
        cloud.densities.push(if k % 3 == 0 { 800.0 } else { 1000.0 });
    }
    cloud
}

impl Cloud {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn apart(&self, i: usize, j: usize) -> V {
        self.places[i].minus(&self.places[j])
    }

    /// Neighbors of a particle: all others, or only fluid particles for a wall particle.
    fn partners(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(move |&j| j != i && (i < self.fluid || j < self.fluid))
    }

    /// Forces on all particles by these pressures of the fluid \[N\].
    fn forces(&self, pressures: &[f64]) -> Vec<V> {
        let pressure = |i: usize| pressures.get(i).copied().unwrap_or(0.0);
        let lean = |i: usize, j: usize| {
            let both = pressure(i) + pressure(j);
            dfsph::pressure_term::<f64>(&self.apart(i, j), VOLUME, both, &self.smoother, SMOOTHING)
        };
        let force = |i: usize| self.partners(i).fold(V::zero(), |sum, j| sum.plus(&lean(i, j))).times(-VOLUME);
        (0..self.len()).map(force).collect()
    }

    /// D_i of these velocities or accelerations.
    fn divergence_term(&self, i: usize, moving: &[V]) -> f64 {
        let one = |j: usize| {
            let parting = moving[i].minus(&moving[j]);
            dfsph::divergence_term::<f64>(&self.apart(i, j), &parting, VOLUME, &self.smoother, SMOOTHING)
        };
        self.partners(i).map(one).sum()
    }

    /// Accelerations by these pressures; walls are at rest.
    fn accelerations(&self, pressures: &[f64]) -> Vec<V> {
        let forces = self.forces(pressures);
        let of = |i: usize| {
            if i < self.fluid {
                forces[i].times(1.0 / (VOLUME * self.densities[i]))
            } else {
                V::zero()
            }
        };
        (0..self.len()).map(of).collect()
    }

    /// Density error and A_i.
    fn crowd(&self, i: usize) -> (f64, f64) {
        let (mut density, mut stiffness, mut gradients) = (VOLUME * self.smoother.value(0.0, SMOOTHING), 0.0, V::zero());
        for j in self.partners(i) {
            let lightness = if j < self.fluid { 1.0 / self.densities[j] } else { 0.0 };
            let adds = dfsph::density_term::<f64>(&self.apart(i, j), &V::zero(), VOLUME, lightness, &self.smoother, SMOOTHING);
            density += VOLUME * self.smoother.value(self.apart(i, j).length(), SMOOTHING);
            stiffness += adds.stiffness;
            gradients = gradients.plus(&adds.gradient);
        }
        (density - 1.0, dfsph::stiffness::<f64>(&gradients, self.densities[i], stiffness))
    }
}

#[test]
fn pressures_take_from_the_motion_what_they_keep_from_being_compressed() {
    let cloud = cloud(0.1);
    let mut random = random_numbers();
    let pressures: Vec<f64> = (0..cloud.fluid).map(|_| 1e3 * (random() + 0.5)).collect();
    let forces = cloud.forces(&pressures);
    // Includes moving walls.
    let works = forces.iter().zip(&cloud.velocities).map(|(f, v)| f.dot(v));
    let (power, size) = works.fold((0.0, 0.0), |(sum, size): (f64, f64), work| (sum + work, size + work.abs()));
    let compression: f64 = (0..cloud.fluid)
        .map(|i| VOLUME * pressures[i] * cloud.divergence_term(i, &cloud.velocities))
        .sum();
    // Two hundred particles with as many neighbors each, rounded: 10⁻¹⁶ √(4·10⁴), with a margin.
    assert!((power + compression).abs() < 1e-12 * size, "{power} {compression}");
    assert!(power.abs() > 1e-3 * size, "{power} of {size} is nothing to compare");
    let sum = forces.iter().fold(V::zero(), |all, f| all.plus(f));
    let largest = forces.iter().map(V::length).fold(0.0, f64::max);
    assert!(sum.length() < 1e-12 * largest, "{sum:?} {largest}");
}

#[test]
fn a_pressure_alone_resists_as_said() {
    let cloud = cloud(0.1);
    for i in [0, 17, 60, 100, 143] {
        let mut pressures = vec![0.0; cloud.fluid];
        pressures[i] = 1.0;
        let response = -cloud.divergence_term(i, &cloud.accelerations(&pressures));
        let (_, stiffness) = cloud.crowd(i);
        assert!((response - stiffness).abs() < 1e-12 * stiffness, "{i}: {response} {stiffness}");
    }
}

#[test]
fn iterations_lead_to_pressures_that_push_only_where_there_is_no_room() {
    // Denser than at rest inside, less dense at its faces, and compressed from above.
    let cloud = cloud(0.1);
    let crowds: Vec<(f64, f64)> = (0..cloud.fluid).map(|i| cloud.crowd(i)).collect();
    let mut still = cloud.velocities.clone();
    still[cloud.fluid..].fill(V::zero());
    let sources: Vec<f64> = (0..cloud.fluid)
        .map(|i| dfsph::source::<f64>(crowds[i].0, cloud.divergence_term(i, &still), DT, 1.0, true))
        .collect();
    // On a lattice with this support, waves have up to six times the stiffness of a single pressure.
    let relaxation = 0.1;
    let (mut ahead, mut pressures) = (vec![0.0; cloud.fluid], vec![0.0; cloud.fluid]);
    for _ in 0..500 {
        let accelerations = cloud.accelerations(&ahead);
        for i in 0..cloud.fluid {
            let step = dfsph::step_of_pressure::<f64>(crowds[i].1, relaxation, DT);
            let density_rate = cloud.divergence_term(i, &accelerations);
            let next = dfsph::corrected::<f64>(ahead[i], pressures[i], sources[i], step, density_rate, DT, 0.9);
            (ahead[i], pressures[i]) = (next.ahead, next.pressure);
        }
    }
    let accelerations = cloud.accelerations(&pressures);
    let largest = sources.iter().copied().fold(0.0, f64::max);
    let (mut pushing, mut resting) = (0, 0);
    for i in 0..cloud.fluid {
        let left = sources[i] + DT * DT * cloud.divergence_term(i, &accelerations);
        assert!(pressures[i] >= 0.0 && left < 1e-9 * largest, "{i}: {} {left}", pressures[i]);
        if pressures[i] > 0.0 {
            assert!(left.abs() < 1e-9 * largest, "{i}: {} {left} of {largest}", pressures[i]);
            pushing += 1;
        } else {
            resting += 1;
        }
    }
    assert!(pushing > 10 && resting > 10, "{pushing} {resting}");
}
