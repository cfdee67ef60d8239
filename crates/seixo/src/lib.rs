//! Seixo, a particle engine: scene file in, checked numbers and pictures out.
