//! Least squares whose factors are times, so that none of them is negative.

/// The factors, none of them negative, with which the columns of these rows add up best to what stands behind each row: the sum of the squares of relative
/// errors is the least. A column that others make up for has a factor of zero.
///
/// Of this problem \[Lawson 1974, ch. 23\] the solution is that of common least squares on some of
/// the columns; there are so few of them that all choices are tried, the shortest first.
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

/// Smallest share of a column that the columns before it must leave \[-\], for it to be told apart from them.
const OWN_SHARE: f64 = 1e-9;

/// The factors of common least squares on some of the columns, which are as long as told; none where one of them follows from the others.
fn solved<const N: usize>(rows: &[[f64; N]], lengths: &[f64; N], columns: &[usize]) -> Option<[f64; N]> {
    // Columns become perpendicular one after the other (Gram and Schmidt), together with what they do not make up for of ones.
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
        // Common least squares would give the second column −1.
        let rows = [([1.0, 0.0], 2.0), ([1.0, 1.0], 1.0), ([2.0, 1.0], 3.0)];
        let [first, second] = non_negative(&rows);
        assert!(first > 1.0 && second == 0.0, "{first} {second}");
    }

    #[test]
    fn of_columns_that_cannot_be_told_apart_one_counts() {
        let rows = [([1.0, 2.0, 0.0], 4.0), ([2.0, 4.0, 0.0], 8.0)];
        let [first, second, nothing] = non_negative(&rows);
        assert!(near(first + 2.0 * second, 4.0) && (first == 0.0) != (second == 0.0) && nothing == 0.0);
        assert_eq!(non_negative::<2>(&[]), [0.0; 2]);
    }
}
