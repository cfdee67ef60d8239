//! What grains, contacts, bonds and particles of fluids add up to: pure functions over snapshots and contact records, nothing of files or scenes.
//!
//! Stresses and strains are positive in compression, as in soil mechanics: a pressure is a third of a trace, and at rest div σ = ρ g.
//! `docs/reference/probes.md` has the formulas with their sources.
//!
//! ```
//! use glam::{DMat3, DVec3};
//! use seixo_analysis::{deviatoric, pressure};
//!
//! // A triaxial test: 100 kPa on all sides, and 240 kPa more along z.
//! let stress = DMat3::from_diagonal(DVec3::new(100e3, 100e3, 340e3));
//! assert!((pressure(&stress) - 180e3).abs() < 1e-6);
//! assert!((deviatoric(&stress) - 240e3).abs() < 1e-6);
//! ```

mod ball;
mod center;
mod chains;
mod coarse;
mod dead_zone;
mod fabric;
mod fragments;
mod mixing;
mod plane;
mod polyhedron;
mod region;
mod repose;
mod rigid_motion;
mod scalar;
mod solid;
mod solid_fraction;
mod strain;
mod stress;
mod surface;
mod tensor;

pub use center::center_of_group;
pub use chains::{Chains, force_chains};
pub use coarse::{CoarseFields, Grid, coarse_grain};
pub use dead_zone::{DeadZone, MeanFlow, SpeedLimit};
pub use fabric::{Coordination, Fabric, SHARES, coordination, fabric};
pub use fragments::{Fragment, FragmentSizes, Fragments, fragments};
pub use mixing::{Mixing, mixing};
pub use plane::Plane;
pub use polyhedron::{
    ConvexParts, GrainShape, Outside, Polyhedron, PolyhedronEdge, PolyhedronError, PolyhedronFace, ShapeSurface, grain_shape_of_parts,
    solid_of_parts,
};
pub use region::Region;
pub use repose::{DrumAngle, Repose, drum_angle, repose};
pub use rigid_motion::RigidMotion;
pub use scalar::Scalar;
pub use solid::{Plate, Solid, connected_parts, plate_of_disks, plate_of_outline, solid_of_apart, solid_of_mesh, solid_of_spheres};
pub use solid_fraction::solid_fraction;
pub use strain::{Strain, Unstrained, strain};
pub use stress::{Stress, pressure_of_grains, stress_in, stress_of_grains};
pub use surface::{FreeSurface, SurfaceError, SurfaceOptions, free_surface};
pub use tensor::{components, deviatoric, outer, pressure, principal};
