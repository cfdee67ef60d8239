//! Scans and sorts by key.

/// Replaces each count by the sum of all counts before it; returns the total.
pub fn exclusive_scan(counts: &mut [u32]) -> u32 {
    let mut sum = 0;
    for count in counts {
        let next = sum + *count;
        *count = sum;
        sum = next;
    }
    sum
}

/// Stable counting sort. `order[k]` becomes the index of the k-th smallest key, with equal keys in the order of their index. `first[key]` becomes the
/// place of the first item of the key, with one more entry for the end. Keys are below `keys`.
pub fn stable_order_by_key(key: &[u32], keys: usize, order: &mut Vec<u32>, first: &mut Vec<u32>) {
    first.clear();
    first.resize(keys + 1, 0);
    for &k in key {
        first[k as usize] += 1;
    }
    exclusive_scan(first);
    order.resize(key.len(), 0);
    for (index, &k) in key.iter().enumerate() {
        order[first[k as usize] as usize] = index as u32;
        first[k as usize] += 1;
    }
    // Every entry now holds the end of its key: shift all entries back by one place.
    first.copy_within(..keys, 1);
    first[0] = 0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counting_sort_agrees_with_the_standard_stable_sort(key in prop::collection::vec(0u32..50, 0..400)) {
            let (mut order, mut first) = (Vec::new(), Vec::new());
            stable_order_by_key(&key, 50, &mut order, &mut first);
            let mut expected: Vec<u32> = (0..key.len() as u32).collect();
            expected.sort_by_key(|&i| key[i as usize]);
            prop_assert_eq!(&order, &expected);
            for k in 0..50usize {
                let here = &order[first[k] as usize..first[k + 1] as usize];
                prop_assert_eq!(here.len(), key.iter().filter(|&&x| x as usize == k).count());
                prop_assert!(here.iter().all(|&i| key[i as usize] as usize == k));
            }
        }
    }
}
