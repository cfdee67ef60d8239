//! Hash tables of grains \[Silva 2010, § 4.2 and Algorithm 2\]: an unbounded grid of cells, hashed into a fixed number of buckets.
//!
//! The record of a table in `grids` is that of a grid. Its record in `shapes` is: cells x y z up to the farthest grain, buckets, padding, first
//! bucket, padding. Cells are counted from the lowest corner of all grains, so no index is negative.
//!
//! ```
//! use seixo_sweeps::buckets::{bucket_of, bucket_of_grain};
//! // A table of 64 buckets. The first of them is bucket 100.
//! let grids = [0.0, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0];
//! let shapes = [9, 9, 9, 64, 0, 100, 0, 0];
//! // This grain is in the cell 1 2 0.
//! let position = [1.5, 2.5, 0.5, 0.5];
//! let bucket = bucket_of_grain::<f64>(0, &position, &grids, &shapes, 1);
//! assert_eq!(bucket, bucket_of(&shapes, 0, 1, 2, 0));
//! assert!((100..164).contains(&bucket));
//! ```

use crate::cells::{cells_around, class_of};
use crate::layout::load;
use cubecl::prelude::*;
use seixo_laws::{Real, Vector3};

/// The low 32 bits of a product.
#[inline]
fn wrapped_product(a: u32, b: u32) -> u32 {
    a.wrapping_mul(b)
}

mod wrapped_product {
    use cubecl::frontend::MulExpand;
    use cubecl::prelude::*;

    /// The same in a kernel, where products wrap around.
    pub fn expand(scope: &Scope, a: NativeExpand<u32>, b: NativeExpand<u32>) -> NativeExpand<u32> {
        a.__expand_mul_method(scope, b)
    }
}

/// The bucket of the cell x y z of table `g` (\[Silva 2010, Algorithm 2\], with the primes of \[Teschner 2003\]).
#[cube]
#[inline(always)]
pub fn bucket_of(shapes: &[u32], g: usize, x: u32, y: u32, z: u32) -> u32 {
    let mixed = wrapped_product(x, 73856093u32) ^ wrapped_product(y, 19349663u32) ^ wrapped_product(z, 83492791u32);
    shapes[g * 8usize + 5usize] + mixed % shapes[g * 8usize + 3usize]
}

/// The bucket of grain i in the table of its size class.
#[cube]
#[inline(always)]
pub fn bucket_of_grain<R: Real>(i: usize, position: &[R], grids: &[R], shapes: &[u32], number_of_tables: usize) -> u32 {
    let p = load::<R>(position, i * 4usize);
    let g = class_of::<R>(position[i * 4usize + 3usize], grids, number_of_tables);
    let cell = cells_around::<R>(&p, R::new(0.0), grids, shapes, g);
    bucket_of(shapes, g, cell.x_first, cell.y_first, cell.z_first)
}

/// Whether the point p is in the cell x y z of table `g`.
#[cube]
#[inline(always)]
pub fn is_in_cell<R: Real>(p: &Vector3<R>, grids: &[R], shapes: &[u32], g: usize, x: u32, y: u32, z: u32) -> bool {
    let cell = cells_around::<R>(p, R::new(0.0), grids, shapes, g);
    cell.x_first == x && cell.y_first == y && cell.z_first == z
}
