//! Tests of measures.

mod bonded;
mod packings;
mod scalars;
mod surfaces;
