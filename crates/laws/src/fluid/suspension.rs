//! Grains that are smaller than the particles of the fluid around them: the fluid does not flow around them but through them, and drag and buoyancy
//! stand for what is not resolved (\[Anderson 1967\]; with particles of fluid as in \[Robinson 2014\]).
//!
//! At a grain of volume V and diameter d, means over the fluid around with the weights V_j W tell its velocity u, its density ρ, its viscosity μ and
//! what its own pressures and viscosities do to a volume of it, E = Σ W f_j / Σ V_j W with the forces f_j on its particles. Σ V W of other grains is the
//! share φ that they fill. On the grain act
//!
//! - buoyancy ρ V (a − g), with the acceleration a of the fluid: what would act on fluid in its place (\[Maxey 1983\], but for
//!   what is smaller by (d/L)² where a flow changes over L). In fluid at rest that is the weight of the fluid displaced;
//! - drag f_d along the slip u − v: with the Reynolds number Re = ρ d |u − v|/μ, 3π μ d (1 + 0.15 Re^0.6875) (u − v), which is Stokes' where Re is small
//!   (\[Schiller 1933\], with the exponent 0.687), but no less than Newton's, with a coefficient of 0.44; times
//!   (1 − φ)^−(β + 1) in a crowd, β = 3.7 − 0.65 exp(−½ (1.5 − lg Re)²) \[Di Felice 1994\].
//!
//! The fluid makes no room for these grains, so its velocity is that of grains and fluid together, and u − v the superficial velocity that Di Felice's
//! function is for. His buoyancy is by the gradient of pressure in the mixture, which makes f_d (1 − φ) of what it is where buoyancy is that of the
//! fluid alone: hence β + 1, with which grains that sink follow Richardson and Zaki's powers of 1 − φ: 4.7 where Re is small, half of it where Re is large.
//!
//! The grain bears f on the fluid, and so do the others: E = ρ (a − g) + φ f/V where they are alike. So buoyancy is V E − φ f, and
//!
//! f = (V E + f_d)/(1 + φ).

use super::{Smoothing, Space};
use crate::real::{Real, cube_root, larger};
use crate::vector::Vector3;
use cubecl::prelude::*;
use std::f64::consts::PI;

/// What the coupling of grains and fluids depends on beside both, derived once on the host.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug, PartialEq)]
pub struct Coupling<R: Real> {
    /// The radius a of a sphere that stirs fluid as a force does which W spreads, see [`reach()`] \[m\].
    pub reach: R,
    /// π.
    pub pi: R,
    /// See [`Space::artificial_over_shear()`].
    pub artificial_over_shear: R,
    /// Time step \[s\].
    pub dt: R,
}

/// The coupling in space with this function that smooths, this support \[m\] and this time step \[s\].
pub fn coupling(smoothing: Smoothing, support: f64, dt: f64) -> Coupling<f64> {
    Coupling {
        reach: reach(smoothing, support),
        pi: PI,
        artificial_over_shear: Space::Volume.artificial_over_shear(),
        dt,
    }
}

/// The radius a \[m\] of a sphere that is as mobile in slow flow as a force which is spread by W, seen in a velocity that is a mean by W: u = f/(6π μ a)
/// with 1/a the mean of 1/|x − y| over two points with the densities W; 715/1536 H for Wendland's function.
pub fn reach(smoothing: Smoothing, support: f64) -> f64 {
    let smoother = smoothing.smoother(support, Space::Volume);
    let shells = 2000;
    let step = support / f64::from(shells);
    let (mut inside, mut inverse) = (0.0, 0.0);
    for k in 0..shells {
        let r = (f64::from(k) + 0.5) * step;
        let shell = 4.0 * PI * r * r * step * smoother.value(r, smoothing);
        // By Newton's theorem the nearer of the two might as well be in the middle.
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
    /// The force of the fluid a step before \[N\].
    pub before: Vector3<R>,
}

/// What the surroundings of a grain are like.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Bath<R: Real> {
    /// Velocity u of the fluid \[m/s\].
    pub velocity: Vector3<R>,
    /// E, what its own pressures and viscosities do to a volume of it \[N/m³\].
    pub push: Vector3<R>,
    /// Its density ρ \[kg/m³\].
    pub density: R,
    /// Its viscosity μ \[Pa s\].
    pub viscosity: R,
    /// With what its artificial viscosity comes to beside it \[Pa s\].
    pub thickness: R,
    /// How far it is around the grain: 1 inside of it, about a half at its surface, 0 outside \[-\].
    pub wetness: R,
    /// The share φ of it that other grains fill \[-\].
    pub crowding: R,
    /// What the grain itself adds to that where the fluid bears it \[-\].
    pub own: R,
}

/// What a fluid does to a grain.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct GrainForce<R: Real> {
    /// Force on the grain \[N\]; on the fluid acts exactly the opposite.
    pub force: Vector3<R>,
    /// Power that drag takes from the motion of both \[W\].
    pub drag_power: R,
}

/// Re = ρ d w/μ \[-\]; zero where there is no viscosity.
#[cube]
#[inline(always)]
fn reynolds<R: Real>(speed: R, density: R, viscosity: R, diameter: R) -> R {
    let mut number = R::new(0.0);
    if viscosity > R::new(0.0) {
        number = density * speed * diameter / viscosity;
    }
    number
}

/// Drag of a sphere alone over its slip \[kg/s\], at this slip \[m/s\].
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

/// 1 − φ, and no less than 3/8: grains that lie as they fall leave some more.
#[cube]
#[inline(always)]
fn voids<R: Real>(crowding: R) -> R {
    larger::<R>(R::new(1.0) - crowding, R::new(0.375))
}

/// By how much drag is larger in a crowd at this Reynolds number, (1 − φ)^−(β + 1).
///
/// Without exponentials and logarithms, which a GPU does not know in double precision: exp(−½ (1.5 − lg Re)²) is taken for sech¹²((ln Re − ln 32)/8),
/// ln(1 − φ) is that of the eighth root, by two terms of its series, and what is left beside (1 − φ)⁻⁴ is Padé's approximation of the exponential. All
/// together is right to 1.2 %.
#[cube]
#[inline(always)]
pub fn hindrance<R: Real>(crowding: R, number: R) -> R {
    let one = R::new(1.0);
    let eighth = R::root(R::root(R::root(number / R::new(32.0))));
    let bump = (eighth + eighth) / (one + eighth * eighth);
    let square = bump * bump;
    let fourth = square * square;
    let power = (R::new(14.0) - R::new(13.0) * fourth * fourth * fourth) / R::new(20.0);

    let left = voids::<R>(crowding);
    let root = R::root(R::root(R::root(left)));
    let y = (root - one) / (root + one);
    let logarithm = R::new(16.0) * y * (one + y * y / R::new(3.0));
    let z = -(power * logarithm);
    let even = R::new(12.0) + z * z;
    let odd = R::new(6.0) * z;
    (even + odd) / ((even - odd) * left * left * left * left)
}

/// The slip that a grain would have in fluid which it does not stir, over that which it has; `met` is its drag over the latter \[kg/s\].
///
/// Its drag acts on the fluid around, whose velocity it then meets. In steady flow that moves along by f_d/(6π a (μ + 0.4 ρ w a)), with the radius a of
/// [`reach()`] and the viscosity that the fluid shows: Oseen's flow about a force that W spreads, whose integral over all waves is met to 3 % until
/// ρ w a/μ = 10 (the idea of \[Balachandar 2019\]). In a crowd neighbors keep a distance, and so fill in for what
/// one stirs: of a wide disturbance is left what hard spheres vary in number over what free points do, (1 − φ)⁴/(1 + 2φ)² (Percus & Yevick's spheres:
/// \[Wertheim 1963\]).
#[cube]
#[inline(always)]
fn undisturbed<R: Real>(met: R, speed: R, bath: &Bath<R>, coupling: &Coupling<R>) -> R {
    let one = R::new(1.0);
    let zero = R::new(0.0);
    let a = coupling.reach;
    let thickness = bath.thickness + bath.density * speed * a * R::new(2.0) / R::new(5.0);
    let mut own = zero;
    if thickness > zero {
        own = met / (R::new(6.0) * coupling.pi * a * thickness);
    }
    let left = voids::<R>(bath.crowding);
    let order = left * left / (one + bath.crowding + bath.crowding);
    one / (one - own * order * order)
}

/// What the fluid around does to a grain.
///
/// Drag may be as stiff as it likes: with k the drag over the slip and λ = k Δt (1/m + (own + φ)/(ρ V)) the share of its slip that it would take in a
/// step, what acts is (f + λ f′)/(1 + λ) with the force f′ of the step before. That is implicit in what drag changes and takes the rest for what it was:
/// stable for all λ, right in steady motion whatever λ is, and to second order where λ is small.
#[cube]
#[inline(always)]
pub fn grain_force<R: Real>(grain: &Grain<R>, bath: &Bath<R>, coupling: &Coupling<R>) -> GrainForce<R> {
    let one = R::new(1.0);
    let slip = bath.velocity.minus(&grain.velocity);
    let speed = slip.length();
    let diameter = cube_root::<R>(R::new(6.0) * grain.volume / coupling.pi);
    let met = resistance::<R>(speed, bath.density, bath.viscosity, diameter, coupling.pi);
    let longer = undisturbed::<R>(met, speed, bath, coupling);
    let free = speed * longer;
    let number = reynolds::<R>(free, bath.density, bath.viscosity, diameter);
    let alone = resistance::<R>(free, bath.density, bath.viscosity, diameter, coupling.pi) * longer;
    let drag = alone * hindrance::<R>(bath.crowding, number) * bath.wetness;
    let displaced = bath.density * grain.volume;
    let stiffness = coupling.dt * drag * (one / grain.mass + (bath.own + bath.crowding) / displaced);
    let pushed = bath.push.times(grain.volume * bath.wetness);
    let now = pushed.plus(&slip.times(drag)).times(one / (one + bath.crowding));
    GrainForce::<R> {
        force: now.plus(&grain.before.times(stiffness)).times(one / (one + stiffness)),
        drag_power: drag * speed * speed,
    }
}
