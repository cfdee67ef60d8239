//! Suspension: unresolved coupling of grains that are smaller than the fluid particles around them. The fluid flows through the grains, and drag and
//! buoyancy represent the unresolved flow (\[Anderson 1967\]; with fluid particles as in \[Robinson 2014\]).
//!
//! At a grain of volume V and diameter d, means over the surrounding fluid with the weights V_j W give the velocity u, the density ρ and the
//! viscosity μ. They also give the force density of the fluid's own pressures and viscosities, E = Σ W f_j / Σ V_j W with the forces f_j on its
//! particles. Σ V W of other grains is their volume fraction φ. On the grain act:
//!
//! - Buoyancy ρ V (a − g), with the acceleration a of the fluid: the force that would act on fluid in its place (\[Maxey 1983\], without terms
//!   smaller by (d/L)², where a flow changes over L). In fluid at rest it is the weight of the displaced fluid.
//! - Drag f_d along the slip velocity u − v. With the Reynolds number Re = ρ d |u − v|/μ it is 3π μ d (1 + 0.15 Re^0.6875) (u − v), which is Stokes'
//!   drag at small Re (\[Schiller 1933\], with the exponent 0.687). It is no less than Newton's drag with a coefficient of 0.44. In a suspension it
//!   is multiplied by (1 − φ)^−(β + 1), β = 3.7 − 0.65 exp(−½ (1.5 − lg Re)²) \[Di Felice 1994\].
//!
//! The fluid particles are not displaced by these grains. So their velocity is that of the mixture, and u − v is the superficial velocity for which
//! Di Felice's function is made. His buoyancy is by the pressure gradient in the mixture. This makes his f_d smaller by the factor 1 − φ than with
//! the buoyancy of the fluid alone; hence β + 1. With it, sedimenting grains follow Richardson and Zaki's powers of 1 − φ: 4.7 at small Re, half of
//! it at large Re.
//!
//! The grain exerts f on the fluid, and so do the others: E = ρ (a − g) + φ f/V if they are alike. So buoyancy is V E − φ f, and
//!
//! f = (V E + f_d)/(1 + φ).
//!
//! ```
//! use seixo_laws::fluid::suspension::{hindrance, resistance};
//! use std::f64::consts::PI;
//! let (density, viscosity, diameter) = (1000.0, 1e-3, 1e-4);
//! let slow = resistance::<f64>(1e-9, density, viscosity, diameter, PI);
//! // A slow grain meets Stokes' drag.
//! assert!((slow / (3.0 * PI * viscosity * diameter) - 1.0).abs() < 1e-4);
//! // A single grain is not hindered. The more grains there are, the more drag each of them has.
//! assert!((hindrance::<f64>(0.0, 1.0) - 1.0).abs() < 1e-12);
//! assert!(hindrance::<f64>(0.1, 1.0) > 1.0 && hindrance::<f64>(0.3, 1.0) > hindrance::<f64>(0.1, 1.0));
//! ```

use super::{Smoothing, Space};
use crate::real::{Real, cube_root, larger};
use crate::vector::Vector3;
use cubecl::prelude::*;
use std::f64::consts::PI;

/// Coefficients of the coupling of grains and fluids, derived once on the host.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug, PartialEq)]
pub struct Coupling<R: Real> {
    /// Radius a of the sphere that disturbs the fluid as much as a force spread by W, see [`reach()`] \[m\].
    pub reach: R,
    /// π.
    pub pi: R,
    /// See [`Space::artificial_over_shear()`].
    pub artificial_over_shear: R,
    /// Time step \[s\].
    pub dt: R,
}

/// The coupling in space for this smoothing function, support \[m\] and time step \[s\].
pub fn coupling(smoothing: Smoothing, support: f64, dt: f64) -> Coupling<f64> {
    Coupling {
        reach: reach(smoothing, support),
        pi: PI,
        artificial_over_shear: Space::Volume.artificial_over_shear(),
        dt,
    }
}

/// Radius a of a sphere with the mobility of a force that is spread by W, in slow flow, where the velocity is a mean with W: u = f/(6π μ a) \[m\].
/// 1/a is the mean of 1/|x − y| over two points with the densities W. For Wendland's function it gives a = 715/1536 H.
pub fn reach(smoothing: Smoothing, support: f64) -> f64 {
    let smoother = smoothing.smoother(support, Space::Volume);
    let shells = 2000;
    let step = support / f64::from(shells);
    let (mut inside, mut inverse) = (0.0, 0.0);
    for k in 0..shells {
        let r = (f64::from(k) + 0.5) * step;
        let shell = 4.0 * PI * r * r * step * smoother.value(r, smoothing);
        // By Newton's theorem the nearer of the two points may be moved to the center.
        inverse += 2.0 * shell * (inside + 0.5 * shell) / r;
        inside += shell;
    }
    1.0 / inverse
}

/// A grain in a fluid.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Grain<R: Real> {
    /// Velocity v \[m/s\].
    pub velocity: Vector3<R>,
    /// V \[m³\].
    pub volume: R,
    /// Mass \[kg\].
    pub mass: R,
    /// Force of the fluid in the step before \[N\].
    pub before: Vector3<R>,
}

/// Mean properties of the fluid around a grain.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct LocalFluid<R: Real> {
    /// Velocity u of the fluid \[m/s\].
    pub velocity: Vector3<R>,
    /// E: force density of the fluid's own pressures and viscosities \[N/m³\].
    pub push: Vector3<R>,
    /// Density ρ \[kg/m³\].
    pub density: R,
    /// Viscosity μ \[Pa s\].
    pub viscosity: R,
    /// Viscosity including the equivalent of the artificial viscosity \[Pa s\].
    pub thickness: R,
    /// Share of fluid around the grain: 1 inside the fluid, about a half at its surface, 0 outside \[-\].
    pub wetness: R,
    /// Volume fraction φ of the other grains \[-\].
    pub solid_fraction: R,
    /// Contribution of the grain itself to the volume fraction at the fluid particles that it acts on \[-\].
    pub own: R,
}

/// Force of a fluid on a grain.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct GrainForce<R: Real> {
    /// Force on the grain \[N\]; the force on the fluid is exactly opposite.
    pub force: Vector3<R>,
    /// Power that drag dissipates \[W\].
    pub drag_power: R,
}

/// Re = ρ d w/μ \[-\]; zero without viscosity.
#[cube]
#[inline(always)]
fn reynolds<R: Real>(speed: R, density: R, viscosity: R, diameter: R) -> R {
    let mut number = R::new(0.0);
    if viscosity > R::new(0.0) {
        number = density * speed * diameter / viscosity;
    }
    number
}

/// Drag of a single sphere over its slip velocity, at this slip velocity \[m/s\], in \[kg/s\].
#[cube]
#[inline(always)]
pub fn resistance<R: Real>(speed: R, density: R, viscosity: R, diameter: R, pi: R) -> R {
    let half = R::root(reynolds::<R>(speed, density, viscosity, diameter));
    let eighth = R::root(R::root(half));
    let inertia = half * eighth * R::root(eighth) * R::new(3.0) / R::new(20.0);
    let viscous = R::new(3.0) * pi * viscosity * diameter * (R::new(1.0) + inertia);
    let turbulent = pi * density * speed * diameter * diameter * R::new(11.0) / R::new(200.0);
    larger::<R>(viscous, turbulent)
}

/// 1 − φ, at least 3/8; settled grains leave more voids.
#[cube]
#[inline(always)]
fn voids<R: Real>(solid_fraction: R) -> R {
    larger::<R>(R::new(1.0) - solid_fraction, R::new(0.375))
}

/// Factor on drag in a suspension at this Reynolds number, (1 − φ)^−(β + 1) \[-\].
///
/// A GPU has no exponentials and logarithms in double precision, so they are replaced. exp(−½ (1.5 − lg Re)²) is approximated by sech¹²((ln Re − ln
/// 32)/8). ln(1 − φ) is eight times that of the eighth root, by two terms of its series. The factor beside (1 − φ)⁻⁴ is a Padé approximation of the
/// exponential. The total error is at most 1.2 %.
#[cube]
#[inline(always)]
pub fn hindrance<R: Real>(solid_fraction: R, number: R) -> R {
    let one = R::new(1.0);
    let eighth = R::root(R::root(R::root(number / R::new(32.0))));
    let bump = (eighth + eighth) / (one + eighth * eighth);
    let square = bump * bump;
    let fourth = square * square;
    let power = (R::new(14.0) - R::new(13.0) * fourth * fourth * fourth) / R::new(20.0);

    let left = voids::<R>(solid_fraction);
    let root = R::root(R::root(R::root(left)));
    let y = (root - one) / (root + one);
    let logarithm = R::new(16.0) * y * (one + y * y / R::new(3.0));
    let z = -(power * logarithm);
    let even = R::new(12.0) + z * z;
    let odd = R::new(6.0) * z;
    (even + odd) / ((even - odd) * left * left * left * left)
}

/// Slip velocity of a grain in undisturbed fluid over that in the fluid that it disturbs \[-\]; `met` is its drag over the latter \[kg/s\].
///
/// The drag of the grain acts on the surrounding fluid, whose velocity the grain reads. In steady flow this velocity changes by f_d/(6π a (μ + 0.4 ρ
/// w a)), with the radius a of [`reach()`] and the viscosity including the artificial one. This is Oseen's flow about a force that W spreads. It
/// agrees with the integral over all waves to 3 % up to ρ w a/μ = 10 (the idea of \[Balachandar 2019\]).
///
/// In a suspension neighbors keep a distance and compensate a part of the disturbance. Of a wide disturbance there remains the number variance of
/// hard spheres over that of free points, (1 − φ)⁴/(1 + 2φ)² (Percus & Yevick's spheres: \[Wertheim 1963\]).
#[cube]
#[inline(always)]
fn undisturbed<R: Real>(met: R, speed: R, bath: &LocalFluid<R>, coupling: &Coupling<R>) -> R {
    let one = R::new(1.0);
    let zero = R::new(0.0);
    let a = coupling.reach;
    let thickness = bath.thickness + bath.density * speed * a * R::new(2.0) / R::new(5.0);
    let mut own = zero;
    if thickness > zero {
        own = met / (R::new(6.0) * coupling.pi * a * thickness);
    }
    let left = voids::<R>(bath.solid_fraction);
    let order = left * left / (one + bath.solid_fraction + bath.solid_fraction);
    one / (one - own * order * order)
}

/// Force of the surrounding fluid on a grain.
///
/// Any stiffness of drag is stable. With k the drag over the slip velocity, a step would take the share λ = k Δt (1/m + (own + φ)/(ρ V)) of the slip.
/// The force is (f + λ f′)/(1 + λ) with the force f′ of the step before. This is implicit in the change by drag, and takes all other terms from the
/// step before. It is stable for all λ, exact in steady motion, and of second order for small λ.
#[cube]
#[inline(always)]
pub fn grain_force<R: Real>(grain: &Grain<R>, bath: &LocalFluid<R>, coupling: &Coupling<R>) -> GrainForce<R> {
    let one = R::new(1.0);
    let slip = bath.velocity.minus(&grain.velocity);
    let speed = slip.length();
    let diameter = cube_root::<R>(R::new(6.0) * grain.volume / coupling.pi);
    let met = resistance::<R>(speed, bath.density, bath.viscosity, diameter, coupling.pi);
    let longer = undisturbed::<R>(met, speed, bath, coupling);
    let free = speed * longer;
    let number = reynolds::<R>(free, bath.density, bath.viscosity, diameter);
    let alone = resistance::<R>(free, bath.density, bath.viscosity, diameter, coupling.pi) * longer;
    let drag = alone * hindrance::<R>(bath.solid_fraction, number) * bath.wetness;
    let displaced = bath.density * grain.volume;
    let stiffness = coupling.dt * drag * (one / grain.mass + (bath.own + bath.solid_fraction) / displaced);
    let pushed = bath.push.times(grain.volume * bath.wetness);
    let now = pushed.plus(&slip.times(drag)).times(one / (one + bath.solid_fraction));
    GrainForce::<R> {
        force: now.plus(&grain.before.times(stiffness)).times(one / (one + stiffness)),
        drag_power: drag * speed * speed,
    }
}
