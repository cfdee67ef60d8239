//! The cube root of the laws, which have only square roots.

use seixo_laws::cube_root;

#[test]
fn cubes_of_cube_roots_are_the_numbers_themselves() {
    // Cubes of lengths from below atomic to above planetary size.
    for exponent in -60..60 {
        let x = 1.7f64 * 10f64.powi(exponent) / 3.0;
        let root = cube_root::<f64>(x);
        assert!((root / x.cbrt() - 1.0).abs() < 4e-15, "{x:e}: {root:e}");
    }
    for exponent in -30..30 {
        let x = 1.7f32 * 10f32.powi(exponent) / 3.0;
        let root = cube_root::<f32>(x);
        assert!((root / x.cbrt() - 1.0).abs() < 2e-6, "{x:e}: {root:e} {:e}", x.cbrt());
    }
}
