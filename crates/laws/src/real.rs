//! The scalar of all laws and sweeps.
//!
//! ```
//! use seixo_laws::{Real, cube_root, larger};
//! // A cube of 27 m³ has edges of 3 m.
//! assert!((cube_root::<f64>(27.0) - 3.0).abs() < 1e-12);
//! // Half of the roundoff is lost when it is added to 1.
//! assert!(1.0 + f64::roundoff() > 1.0 && 1.0 + 0.5 * f64::roundoff() == 1.0);
//! // A first number that is NaN is not taken.
//! assert_eq!(larger::<f64>(f64::NAN, 2.0), 2.0);
//! ```

use cubecl::prelude::*;

/// A floating-point number for laws, natively and in GPU kernels.
///
/// A separate trait is needed: generic `Float` methods do not run natively, and a plain `Float` bound makes kernels use a dynamic scalar. `R::new`
/// takes an `f32`. Pass it only numbers that `f32` represents exactly; all others come from the host.
#[cube]
pub trait Real: Float + LaunchArg<RuntimeArg = Self, CompilationArg = ()> {
    /// Square root.
    fn root(x: Self) -> Self;
    /// 1/√x of a positive number; one instruction on a GPU.
    fn inverse_root(x: Self) -> Self;
    /// 1/x of a positive number; on a GPU faster than a division.
    fn inverse(x: Self) -> Self;
    /// Distance from 1 to the next larger number.
    fn roundoff() -> Self;
    /// Largest integer not above a non-negative x, as an index; negative x gives 0.
    fn whole(x: Self) -> u32;
    /// An integer as a number; exact below 2²⁴.
    fn counted(n: u32) -> Self;
    /// An integer of either sign as a number; exact below 2²⁴.
    fn signed(n: i32) -> Self;
}

#[cube]
impl Real for f32 {
    #[inline]
    fn root(x: f32) -> f32 {
        x.sqrt()
    }
    #[inline]
    fn inverse_root(x: f32) -> f32 {
        inverse_root_single(x)
    }
    #[inline]
    fn inverse(x: f32) -> f32 {
        let first = first_factor(x);
        first * second_factor(first)
    }
    #[inline]
    fn roundoff() -> f32 {
        1.1920929e-7f32
    }
    #[inline]
    fn whole(x: f32) -> u32 {
        f32::max(x, 0.0) as u32
    }
    #[inline]
    fn counted(n: u32) -> f32 {
        n as f32
    }
    #[inline]
    fn signed(n: i32) -> f32 {
        n as f32
    }
}

#[cube]
impl Real for f64 {
    #[inline]
    fn root(x: f64) -> f64 {
        x.sqrt()
    }
    #[inline]
    fn inverse_root(x: f64) -> f64 {
        inverse_root_double(x)
    }
    #[inline]
    fn inverse(x: f64) -> f64 {
        1.0 / x
    }
    #[inline]
    fn roundoff() -> f64 {
        2.220446049250313e-16f64
    }
    #[inline]
    fn whole(x: f64) -> u32 {
        f64::max(x, 0.0) as u32
    }
    #[inline]
    fn counted(n: u32) -> f64 {
        n as f64
    }
    #[inline]
    fn signed(n: i32) -> f64 {
        n as f64
    }
}

/// Defines a function whose GPU instruction CubeCL does not run natively.
macro_rules! inverse_root {
    ($name:ident, $type:ty) => {
        #[inline]
        fn $name(x: $type) -> $type {
            1.0 / x.sqrt()
        }

        mod $name {
            use cubecl::prelude::*;

            /// The same function in a kernel.
            pub fn expand(scope: &Scope, x: NativeExpand<$type>) -> NativeExpand<$type> {
                x.__expand_inverse_sqrt_method(scope)
            }
        }
    };
}
inverse_root!(inverse_root_single, f32);
inverse_root!(inverse_root_double, f64);

/// First of two factors of 1/x: natively 1/x, as one division costs less than a root and a division, and in a kernel 1/√x, which is one instruction.
#[inline]
fn first_factor(x: f32) -> f32 {
    1.0 / x
}

mod first_factor {
    use cubecl::prelude::*;

    /// The same function in a kernel.
    pub fn expand(scope: &Scope, x: NativeExpand<f32>) -> NativeExpand<f32> {
        x.__expand_inverse_sqrt_method(scope)
    }
}

/// Second of two factors of 1/x: natively 1, and in a kernel the first again.
#[inline]
fn second_factor(_first: f32) -> f32 {
    1.0
}

mod second_factor {
    use cubecl::prelude::*;

    /// The same function in a kernel.
    pub fn expand(_scope: &Scope, first: NativeExpand<f32>) -> NativeExpand<f32> {
        first
    }
}

/// The larger of two numbers; `b` if one is NaN. One instruction natively, where CubeCL's `max` compares by an ordering.
#[cube]
#[inline(always)]
pub fn larger<R: Real>(a: R, b: R) -> R {
    let mut most = b;
    if a > b {
        most = a;
    }
    most
}

/// The smaller of two numbers; `b` if one is NaN.
#[cube]
#[inline(always)]
pub fn smaller<R: Real>(a: R, b: R) -> R {
    let mut least = b;
    if a < b {
        least = a;
    }
    least
}

/// A number between two others, at this share of the way from `a` to `b`.
#[cube]
#[inline(always)]
pub fn blend<R: Real>(a: R, b: R, share: R) -> R {
    a + (b - a) * share
}

/// Cube root of a positive number, from square roots: x^{1/3} = x^{1/4} x^{1/16} x^{1/64} …, truncated and refined by Halley's iteration. Each
/// iteration cubes the error.
#[cube]
#[inline(always)]
pub fn cube_root<R: Real>(x: R) -> R {
    let fourth = R::root(R::root(x));
    let sixteenth = R::root(R::root(fourth));
    let sixty_fourth = R::root(R::root(sixteenth));
    let mut root = fourth * sixteenth * sixty_fourth;
    for _k in 0..4u32 {
        let cube = root * root * root;
        // The quotient comes first: it is near one, whereas a product of small numbers may lose digits.
        root *= (cube + x + x) / (cube + cube + x);
    }
    root
}

/// Coordinates with a precision of their own. Positions may need more digits than laws.
#[cube]
pub trait Coordinate<R: Real>: Real {
    /// A short distance in the precision of laws.
    fn near(distance: Self) -> R;
    /// A number of the laws in the precision of coordinates.
    fn wide(number: R) -> Self;
    /// What has to be kept of a number beside one near it, which is stored anyway: the difference in the precision of laws. If that is the precision of
    /// coordinates, too, the number itself.
    ///
    /// A number that [`Coordinate::with_rest()`] returned loses nothing if it is kept beside the same one again.
    fn rest(number: Self, near: R) -> R;
    /// The number near this one that has this [`Coordinate::rest()`].
    fn with_rest(near: R, rest: R) -> Self;
}

#[cube]
impl Coordinate<f64> for f64 {
    #[inline]
    fn near(distance: f64) -> f64 {
        distance
    }
    #[inline]
    fn wide(number: f64) -> f64 {
        number
    }
    #[inline]
    fn rest(number: f64, _near: f64) -> f64 {
        number
    }
    #[inline]
    fn with_rest(_near: f64, rest: f64) -> f64 {
        rest
    }
}

#[cube]
impl Coordinate<f32> for f64 {
    #[inline]
    fn near(distance: f64) -> f32 {
        distance as f32
    }
    #[inline]
    fn wide(number: f32) -> f64 {
        number as f64
    }
    #[inline]
    fn rest(number: f64, near: f32) -> f32 {
        let stored = near as f64;
        (number - stored) as f32
    }
    #[inline]
    fn with_rest(near: f32, rest: f32) -> f64 {
        let stored = near as f64;
        stored + rest as f64
    }
}

#[cube]
impl Coordinate<f32> for f32 {
    #[inline]
    fn near(distance: f32) -> f32 {
        distance
    }
    #[inline]
    fn wide(number: f32) -> f32 {
        number
    }
    #[inline]
    fn rest(number: f32, _near: f32) -> f32 {
        number
    }
    #[inline]
    fn with_rest(_near: f32, rest: f32) -> f32 {
        rest
    }
}
