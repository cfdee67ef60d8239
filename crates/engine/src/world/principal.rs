//! Principal values of symmetric tensors.

use super::Vec3;

/// Principal values and unit directions of a symmetric tensor, given by its rows, largest value first; by Jacobi rotations.
pub fn principal(tensor: [[f64; 3]; 3]) -> [(f64, Vec3); 3] {
    let mut matrix = tensor;
    let mut directions = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    // Each sweep squares the relative size of the off-diagonal elements: six are more than double precision needs.
    for (p, q) in [(0, 1), (0, 2), (1, 2)].repeat(6) {
        if matrix[p][q] == 0.0 {
            continue;
        }
        let slant = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
        let tangent = slant.signum() / (slant.abs() + slant.hypot(1.0));
        let cosine = 1.0 / tangent.hypot(1.0);
        let sine = tangent * cosine;
        for row in &mut matrix {
            (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
        }
        for k in 0..3 {
            (matrix[p][k], matrix[q][k]) = (
                cosine * matrix[p][k] - sine * matrix[q][k],
                sine * matrix[p][k] + cosine * matrix[q][k],
            );
            (directions[p][k], directions[q][k]) = (
                cosine * directions[p][k] - sine * directions[q][k],
                sine * directions[p][k] + cosine * directions[q][k],
            );
        }
    }
    let mut principal = [0, 1, 2].map(|k| (matrix[k][k], directions[k]));
    principal.sort_by(|a, b| b.0.total_cmp(&a.0));
    principal
}
