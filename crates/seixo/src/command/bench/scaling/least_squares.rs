//! Least squares with non-negative coefficients; the coefficients are times.

/// Returns the non-negative coefficients that minimize the sum of the squared relative errors. Each row has the values of the columns and the
/// measured sum. A column that others can replace gets a coefficient of zero.
///
/// The solution is that of ordinary least squares on a subset of the columns \[Lawson 1974, ch. 23\]. There are so few columns that all subsets are
/// tried, the smallest first.
pub fn non_negative<const N: usize>(rows: &[([f64; N], f64)]) -> [f64; N] {
    let relative: Vec<[f64; N]> = rows
        .iter()
        .filter(|(_, measured)| *measured > 0.0)
        .map(|(row, measured)| row.map(|x| x / measured))
        .collect();
    let lengths: [f64; N] = std::array::from_fn(|k| relative.iter().map(|row| row[k] * row[k]).sum::<f64>().sqrt());
    let mut choices: Vec<Vec<usize>> = (0..1u32 << N)
        .map(|choice| (0..N).filter(|k| (choice >> k) & 1 == 1).collect())
        .collect();
    choices.sort_by_key(Vec::len);
    let (mut best, mut least) = ([0.0; N], f64::INFINITY);
    for columns in choices {
        let Some(factors) = solved(&relative, &lengths, &columns) else {
            continue;
        };
        let error = |row: &[f64; N]| row.iter().zip(&factors).map(|(x, factor)| x * factor).sum::<f64>() - 1.0;
        let squares: f64 = relative.iter().map(error).map(|error| error * error).sum();
        if factors.iter().all(|factor| *factor >= 0.0) && squares < least {
            (best, least) = (factors, squares);
        }
    }
    best
}

/// Smallest part of a normalized column that must be independent of the columns before it \[-\].
const OWN_SHARE: f64 = 1e-9;

/// Ordinary least squares on a subset of the columns, with these lengths of columns; `None` if a column depends linearly on others.
fn solved<const N: usize>(rows: &[[f64; N]], lengths: &[f64; N], columns: &[usize]) -> Option<[f64; N]> {
    // Gram–Schmidt orthogonalization of the columns. `along` is the projection of the right-hand side, a vector of ones, on each basis vector.
    let mut bases: Vec<Vec<f64>> = Vec::new();
    let mut upper = vec![[0.0; N]; columns.len()];
    let mut along = vec![0.0; columns.len()];
    for (c, &column) in columns.iter().enumerate() {
        if lengths[column] == 0.0 {
            return None;
        }
        let mut left: Vec<f64> = rows.iter().map(|row| row[column] / lengths[column]).collect();
        for (b, base) in bases.iter().enumerate() {
            upper[b][c] = dot(base, &left);
            left.iter_mut().zip(base).for_each(|(x, base)| *x -= upper[b][c] * base);
        }
        let length = dot(&left, &left).sqrt();
        if length < OWN_SHARE {
            return None;
        }
        upper[c][c] = length;
        left.iter_mut().for_each(|x| *x /= length);
        along[c] = left.iter().sum();
        bases.push(left);
    }
    let mut factors = [0.0; N];
    for c in (0..columns.len()).rev() {
        let known: f64 = (c + 1..columns.len())
            .map(|k| upper[c][k] * factors[columns[k]] * lengths[columns[k]])
            .sum();
        factors[columns[c]] = (along[c] - known) / upper[c][c] / lengths[columns[c]];
    }
    Some(factors)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-9 * expected.abs()
    }

    #[test]
    fn known_factors_are_found_whatever_their_size() {
        let known = [3e-9, 5e-5, 2e-11];
        let rows: Vec<([f64; 3], f64)> = (1..7)
            .map(|k| {
                let row = [1e6 / f64::from(k), f64::from(k % 3), 1e5 * f64::from(k * k)];
                (row, row.iter().zip(known).map(|(x, factor)| x * factor).sum())
            })
            .collect();
        let found = non_negative(&rows);
        assert!(found.iter().zip(known).all(|(found, known)| near(*found, known)), "{found:?}");
    }

    #[test]
    fn no_factor_is_negative() {
        // Ordinary least squares would give −1 for the second column.
        let rows = [([1.0, 0.0], 2.0), ([1.0, 1.0], 1.0), ([2.0, 1.0], 3.0)];
        let [first, second] = non_negative(&rows);
        assert!(first > 1.0 && second == 0.0, "{first} {second}");
    }

    #[test]
    fn of_columns_that_cannot_be_distinguished_one_counts() {
        let rows = [([1.0, 2.0, 0.0], 4.0), ([2.0, 4.0, 0.0], 8.0)];
        let [first, second, nothing] = non_negative(&rows);
        assert!(near(first + 2.0 * second, 4.0) && (first == 0.0) != (second == 0.0) && nothing == 0.0);
        assert_eq!(non_negative::<2>(&[]), [0.0; 2]);
    }
}
