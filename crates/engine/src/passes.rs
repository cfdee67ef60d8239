//! The passes of a step, and what else concerns several populations at once: each is a method of [`Populations`](crate::populations::Populations).
//!
//! What concerns one population alone is a method of that population, in its own module.

mod bonds;
mod border;
mod broad_phase;
mod cell;
mod checkpoint;
mod contact_list;
mod contact_records;
mod contacts;
mod diffusion;
mod disabled;
mod energies;
mod events;
mod external_forces;
mod fluids;
mod freezing;
mod gear;
mod grains;
mod group_constraints;
mod guard;
mod later_bonds;
mod loads;
mod melting;
mod neighbor_lists;
mod open_boundaries;
mod periodic;
mod polyhedra;
mod polyhedra_saved;
mod polyhedra_walls;
mod polyhedral_motion;
mod prescribed_motion;
mod preview;
mod rigid_motion;
mod servos;
mod skin;
mod walls;

pub(crate) use checkpoint::order_of;
pub(crate) use polyhedra_saved::saved_shape_contacts;
