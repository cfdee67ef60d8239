//! Vector units of processors: functions compiled for the widest available unit, and operations that compilers do not vectorize well.
//!
//! ```
//! use seixo_sweeps::simd::{InLanes, LANES, Lane, SimdLevel, on_best_simd};
//! struct Roots(Lane);
//! impl InLanes for Roots {
//!     #[inline(always)]
//!     fn resolve<U: SimdLevel>(&mut self, unit: U) {
//!         self.0 = unit.inverse_roots(&self.0);
//!     }
//! }
//! let mut roots = Roots([4.0; LANES]);
//! on_best_simd(&mut roots);
//! assert!(roots.0.iter().all(|root| (root - 0.5).abs() < 1e-15));
//! ```

#![allow(
    unsafe_code,
    reason = "functions compiled for processor features are called where the features are present"
)]

use crate::layout::RECORD;
use std::convert::identity;
use std::ops::{Add, Mul, Sub};

/// Records that are transposed into lanes at once.
pub const LANES: usize = 8;

/// A number per lane.
pub type Lane = [f64; LANES];

/// One record per lane, in memory order.
pub type Records = [[f64; RECORD]; LANES];

/// Records with the lanes innermost.
pub type Numbers = [Lane; RECORD];

/// Body of [`SimdLevel::inverse_roots`]: 1/√x from an initial guess. Further arguments are the conversion of a number to the vector type, and
/// multiplication, subtraction and addition.
macro_rules! inverse_roots {
    ($x:expr, $guess:expr, $of:path, $times:path, $minus:path, $plus:path) => {{
        let half = $times($of(0.5), $x);
        let mut y = $guess;
        for _ in 0..3 {
            y = $times(y, $minus($of(1.5), $times($times(half, y), y)));
        }
        $plus(y, $times(y, $minus($of(0.5), $times($times(half, y), y))))
    }};
}

/// Vector unit for which a function is compiled. All units give the same bits.
pub trait SimdLevel: Copy {
    /// Transposes records into lanes, one lane array per number.
    #[inline(always)]
    fn to_lanes(self, records: [&[f64; RECORD]; LANES]) -> Numbers {
        [0, 1, 2, 3].map(|number| records.map(|record| record[number]))
    }

    /// Transposes lanes back into records.
    #[inline(always)]
    fn out_of_lanes(self, numbers: &Numbers) -> Records {
        std::array::from_fn(|lane| [numbers[0][lane], numbers[1][lane], numbers[2][lane], numbers[3][lane]])
    }

    /// 1/√x of positive numbers that are neither huge nor tiny, to one unit in the last place. The initial guess halves the exponent in the bits of x
    /// \[Lomont 2003\]. Three Newton steps follow, and a last step for the remaining difference. It uses products only: a root and a division take a
    /// vector unit three times as long.
    #[inline(always)]
    fn inverse_roots(self, numbers: &Lane) -> Lane {
        numbers.map(|x| {
            let guess = f64::from_bits(FIRST_GUESS.wrapping_sub(x.to_bits() >> 1));
            inverse_roots!(x, guess, identity, f64::mul, f64::sub, f64::add)
        })
    }
}

/// Constant from which half the bits of x are subtracted for the initial guess of 1/√x.
const FIRST_GUESS: u64 = 0x5fe6_eb50_c7b5_37a9;

/// Only vector units that the compiler may assume.
#[derive(Clone, Copy)]
struct Portable;

impl SimdLevel for Portable {}

/// AVX2. A value exists only in functions that are compiled for it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Avx2;

#[cfg(target_arch = "x86_64")]
impl SimdLevel for Avx2 {
    #[inline(always)]
    fn to_lanes(self, records: [&[f64; RECORD]; LANES]) -> Numbers {
        // SAFETY: a value of this type is created only in [`on_best_simd`], if the processor has the feature.
        unsafe { wide::to_lanes(records) }
    }

    #[inline(always)]
    fn out_of_lanes(self, numbers: &Numbers) -> Records {
        // SAFETY: as above.
        unsafe { wide::out_of_lanes(numbers) }
    }

    #[inline(always)]
    fn inverse_roots(self, numbers: &Lane) -> Lane {
        // SAFETY: as above.
        unsafe { wide::inverse_roots(numbers) }
    }
}

/// AVX-512. A value exists only in functions that are compiled for it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Avx512;

#[cfg(target_arch = "x86_64")]
impl SimdLevel for Avx512 {
    #[inline(always)]
    fn to_lanes(self, records: [&[f64; RECORD]; LANES]) -> Numbers {
        // SAFETY: a value of this type is created only in [`on_best_simd`], if the processor has the features.
        unsafe { widest::to_lanes(records) }
    }

    #[inline(always)]
    fn out_of_lanes(self, numbers: &Numbers) -> Records {
        // SAFETY: as above.
        unsafe { widest::out_of_lanes(numbers) }
    }

    #[inline(always)]
    fn inverse_roots(self, numbers: &Lane) -> Lane {
        // SAFETY: as above.
        unsafe { widest::inverse_roots(numbers) }
    }
}

// No closure has vector operations: methods such as `map`, which call it, are not compiled for the vector unit, so it may not be inlined.

/// Four records at a time.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{FIRST_GUESS, LANES, Lane, Numbers, RECORD, Records};
    use std::arch::x86_64::{
        __m256d, _mm256_add_pd, _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_loadu_pd, _mm256_mul_pd, _mm256_permute2f128_pd,
        _mm256_set1_epi64x, _mm256_set1_pd, _mm256_srli_epi64, _mm256_storeu_pd, _mm256_sub_epi64, _mm256_sub_pd, _mm256_unpackhi_pd,
        _mm256_unpacklo_pd,
    };

    /// The transpose of four rows of four numbers.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn transposed([a, b, c, d]: [__m256d; 4]) -> [__m256d; 4] {
        let (ab, ab_above) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let (cd, cd_above) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        [
            _mm256_permute2f128_pd::<0x20>(ab, cd),
            _mm256_permute2f128_pd::<0x20>(ab_above, cd_above),
            _mm256_permute2f128_pd::<0x31>(ab, cd),
            _mm256_permute2f128_pd::<0x31>(ab_above, cd_above),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn four(numbers: &[f64; 4]) -> __m256d {
        // SAFETY: these are four numbers.
        unsafe { _mm256_loadu_pd(numbers.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn to_lanes([a, b, c, d, e, f, g, h]: [&[f64; RECORD]; LANES]) -> Numbers {
        let low = transposed([four(a), four(b), four(c), four(d)]);
        let high = transposed([four(e), four(f), four(g), four(h)]);
        let mut numbers = [[0.0; LANES]; RECORD];
        for (lane, (low, high)) in numbers.iter_mut().zip(low.into_iter().zip(high)) {
            let place = lane.as_mut_ptr();
            // SAFETY: a lane has eight numbers: four, and the next four.
            unsafe {
                _mm256_storeu_pd(place, low);
                _mm256_storeu_pd(place.add(4), high);
            }
        }
        numbers
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn out_of_lanes(numbers: &Numbers) -> Records {
        let mut records = [[0.0; RECORD]; LANES];
        for (half, records) in records.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let [a, b, c, d] = numbers.each_ref().map(|lane| &lane.as_chunks::<4>().0[half]);
            let columns = [four(a), four(b), four(c), four(d)];
            for (record, row) in records.iter_mut().zip(transposed(columns)) {
                // SAFETY: a record is four numbers.
                unsafe { _mm256_storeu_pd(record.as_mut_ptr(), row) };
            }
        }
        records
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn inverse_roots(numbers: &Lane) -> Lane {
        let mut roots = [0.0; LANES];
        for (four, roots) in numbers.as_chunks::<4>().0.iter().zip(roots.as_chunks_mut::<4>().0) {
            let x = self::four(four);
            let halved = _mm256_srli_epi64::<1>(_mm256_castpd_si256(x));
            let guess = _mm256_castsi256_pd(_mm256_sub_epi64(_mm256_set1_epi64x(FIRST_GUESS as i64), halved));
            let y = inverse_roots!(x, guess, _mm256_set1_pd, _mm256_mul_pd, _mm256_sub_pd, _mm256_add_pd);
            // SAFETY: these are four numbers.
            unsafe { _mm256_storeu_pd(roots.as_mut_ptr(), y) };
        }
        roots
    }
}

/// Eight records at a time, two per register.
#[cfg(target_arch = "x86_64")]
pub(crate) mod widest {
    use super::{FIRST_GUESS, LANES, Lane, Numbers, RECORD, Records};
    use std::arch::x86_64::{
        __m512d, _mm256_loadu_pd, _mm256_storeu_pd, _mm512_add_pd, _mm512_castpd_si512, _mm512_castpd256_pd512, _mm512_castpd512_pd256,
        _mm512_castsi512_pd, _mm512_extractf64x4_pd, _mm512_insertf64x4, _mm512_loadu_pd, _mm512_mul_pd, _mm512_permutex2var_pd,
        _mm512_set1_epi64, _mm512_set1_pd, _mm512_setr_epi64, _mm512_shuffle_f64x2, _mm512_srli_epi64, _mm512_storeu_pd, _mm512_sub_epi64,
        _mm512_sub_pd, _mm512_unpackhi_pd, _mm512_unpacklo_pd,
    };

    /// Transposes of four rows of four numbers in the lower halves, and of four in the upper halves.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn transposed([a, b, c, d]: [__m512d; 4]) -> [__m512d; 4] {
        let (ab, ab_above) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
        let (cd, cd_above) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
        let (even, odd) = (
            _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13),
            _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15),
        );
        [
            _mm512_permutex2var_pd(ab, even, cd),
            _mm512_permutex2var_pd(ab_above, even, cd_above),
            _mm512_permutex2var_pd(ab, odd, cd),
            _mm512_permutex2var_pd(ab_above, odd, cd_above),
        ]
    }

    /// Two records: one in the lower half, one in the upper half.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn halves(lower: &[f64; RECORD], upper: &[f64; RECORD]) -> __m512d {
        // SAFETY: a record is four numbers.
        let [lower, upper] = unsafe { [_mm256_loadu_pd(lower.as_ptr()), _mm256_loadu_pd(upper.as_ptr())] };
        _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(lower), upper)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn eight(lane: &Lane) -> __m512d {
        // SAFETY: a lane is eight numbers.
        unsafe { _mm512_loadu_pd(lane.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub(super) fn to_lanes([a, b, c, d, e, f, g, h]: [&[f64; RECORD]; LANES]) -> Numbers {
        let rows = [halves(a, e), halves(b, f), halves(c, g), halves(d, h)];
        let mut numbers = [[0.0; LANES]; RECORD];
        for (lane, column) in numbers.iter_mut().zip(transposed(rows)) {
            // SAFETY: a lane is eight numbers.
            unsafe { _mm512_storeu_pd(lane.as_mut_ptr(), column) };
        }
        numbers
    }

    /// Transposes N records that follow each other in memory, N a multiple of eight, with half of the shuffles that a compiler takes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub(crate) fn all_to_lanes<const N: usize>(records: &[[f64; RECORD]; N], numbers: &mut [[f64; N]; RECORD]) {
        let (front, back) = (
            _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13),
            _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15),
        );
        for (group, records) in records.as_flattened().as_chunks::<{ RECORD * LANES }>().0.iter().enumerate() {
            let [a, b, c, d] = [0, 1, 2, 3].map(|two| &records.as_chunks::<LANES>().0[two]);
            let [a, b, c, d] = [eight(a), eight(b), eight(c), eight(d)];
            let (low, low_back) = (_mm512_permutex2var_pd(a, front, b), _mm512_permutex2var_pd(a, back, b));
            let (high, high_back) = (_mm512_permutex2var_pd(c, front, d), _mm512_permutex2var_pd(c, back, d));
            let columns = [
                _mm512_shuffle_f64x2::<0x44>(low, high),
                _mm512_shuffle_f64x2::<0xee>(low, high),
                _mm512_shuffle_f64x2::<0x44>(low_back, high_back),
                _mm512_shuffle_f64x2::<0xee>(low_back, high_back),
            ];
            for (lane, column) in numbers.iter_mut().zip(columns) {
                let place = lane[group * LANES..][..LANES].as_mut_ptr();
                // SAFETY: these are eight numbers.
                unsafe { _mm512_storeu_pd(place, column) };
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub(super) fn out_of_lanes(numbers: &Numbers) -> Records {
        let [a, b, c, d] = numbers;
        let columns = [eight(a), eight(b), eight(c), eight(d)];
        let mut records = [[0.0; RECORD]; LANES];
        for (k, row) in transposed(columns).into_iter().enumerate() {
            let [lower, upper] = [_mm512_castpd512_pd256(row), _mm512_extractf64x4_pd::<1>(row)];
            // SAFETY: a record is four numbers.
            unsafe { _mm256_storeu_pd(records[k].as_mut_ptr(), lower) };
            // SAFETY: a record is four numbers.
            unsafe { _mm256_storeu_pd(records[k + 4].as_mut_ptr(), upper) };
        }
        records
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub(super) fn inverse_roots(numbers: &Lane) -> Lane {
        let x = eight(numbers);
        let halved = _mm512_srli_epi64::<1>(_mm512_castpd_si512(x));
        let guess = _mm512_castsi512_pd(_mm512_sub_epi64(_mm512_set1_epi64(FIRST_GUESS as i64), halved));
        let y = inverse_roots!(x, guess, _mm512_set1_pd, _mm512_mul_pd, _mm512_sub_pd, _mm512_add_pd);
        let mut roots = [0.0; LANES];
        // SAFETY: a lane is eight numbers.
        unsafe { _mm512_storeu_pd(roots.as_mut_ptr(), y) };
        roots
    }
}

/// Lanes with laws that run on all of them at once.
pub trait InLanes {
    /// Runs the laws. Must always be inlined, so that it is compiled for the unit of its caller.
    fn resolve<U: SimdLevel>(&mut self, unit: U);
}

/// Runs the laws with the widest vector unit of this processor. The unit changes no bit.
#[inline(always)]
pub fn on_best_simd<L: InLanes>(lanes: &mut L) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
        #[inline(never)]
        fn widest<L: InLanes>(lanes: &mut L) {
            lanes.resolve(Avx512);
        }
        #[target_feature(enable = "avx2")]
        #[inline(never)]
        fn wide<L: InLanes>(lanes: &mut L) {
            lanes.resolve(Avx2);
        }
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { widest(lanes) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature that the function is compiled for.
            return unsafe { wide(lanes) };
        }
    }
    lanes.resolve(Portable);
}

/// Prefetches the record of grain i. Partners are scattered in memory, so hardware prefetchers do not find them.
#[inline(always)]
pub fn prefetch<R>(numbers: &[R], i: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = numbers.as_ptr().wrapping_add(i * RECORD);
        // SAFETY: a prefetch has no visible effect and is allowed at any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (numbers, i);
}
