//! Median and range of repeated measurements.

/// Smallest, median and largest of at least one number.
pub fn spread(numbers: impl IntoIterator<Item = f64>) -> [f64; 3] {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len() - 1;
    // Of an even number there are two in the middle, otherwise these are the same.
    let middle = [sorted[last / 2], sorted[last.div_ceil(2)]];
    [sorted[0], 0.5 * (middle[0] + middle[1]), sorted[last]]
}

/// Median of at least one number.
pub fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let [_, median, _] = spread(numbers);
    median
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_numbers_are_below_the_median() {
        assert_eq!(spread([7.0]), [7.0; 3]);
        assert_eq!(spread([5.0, 2.0]), [2.0, 3.5, 5.0]);
        assert_eq!(spread([9.0, -1.0, 2.0]), [-1.0, 2.0, 9.0]);
        assert_eq!(median([4.0, 1.0, 100.0, 2.0]), 3.0);
    }
}
