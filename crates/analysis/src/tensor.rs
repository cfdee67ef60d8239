//! Tensors of second rank in three dimensions.

use glam::{DMat3, DVec3};

/// The tensor product a ⊗ b, whose component ij is a_i b_j.
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// A third of the trace.
pub fn pressure(tensor: &DMat3) -> f64 {
    (tensor.x_axis.x + tensor.y_axis.y + tensor.z_axis.z) / 3.0
}

/// The symmetric part.
fn symmetric(tensor: &DMat3) -> DMat3 {
    (*tensor + tensor.transpose()) * 0.5
}

/// √(3/2 s:s) of the symmetric deviator s: the difference of axial and radial stress in a triaxial test.
pub fn deviatoric(tensor: &DMat3) -> f64 {
    let deviator = symmetric(tensor) - DMat3::from_diagonal(DVec3::splat(pressure(tensor)));
    let square: f64 = deviator.to_cols_array().iter().map(|x| x * x).sum();
    (1.5 * square).sqrt()
}

/// The components xx, yy, zz, xy, xz, yz of the symmetric part.
pub fn components(tensor: &DMat3) -> [f64; 6] {
    let DMat3 { x_axis, y_axis, z_axis } = symmetric(tensor);
    [x_axis.x, y_axis.y, z_axis.z, x_axis.y, x_axis.z, y_axis.z]
}

/// Principal values and unit directions of the symmetric part, largest value first.
pub fn principal(tensor: &DMat3) -> [(f64, DVec3); 3] {
    seixo_engine::principal(symmetric(tensor).to_cols_array_2d()).map(|(value, direction)| (value, DVec3::from(direction)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_values_are_those_that_built_the_tensor() {
        let turn = DMat3::from_axis_angle(DVec3::new(1.0, -2.0, 0.5).normalize(), 0.7);
        for values in [[5.0, 2.0, -3.0], [1.0, 1.0, 0.0], [4.0, 4.0, 4.0], [0.0; 3]] {
            let tensor = turn * DMat3::from_diagonal(DVec3::from(values)) * turn.transpose();
            for ((value, direction), expected) in principal(&tensor).into_iter().zip(values) {
                assert!((value - expected).abs() < 1e-14, "{value} {expected}");
                assert!((tensor * direction - value * direction).length() < 1e-14 && (direction.length() - 1.0).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn invariants_are_those_of_a_triaxial_test() {
        let tensor = DMat3::from_diagonal(DVec3::new(100.0, 100.0, 340.0));
        assert!((deviatoric(&tensor) - 240.0).abs() < 1e-12 && (pressure(&tensor) - 180.0).abs() < 1e-12);
        assert_eq!(components(&outer(DVec3::X, DVec3::Y * 2.0)), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    }
}
