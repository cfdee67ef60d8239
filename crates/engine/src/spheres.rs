//! What readers see of free spheres, from their fields alone.

use crate::fields::{Fields, computed};
use crate::state::{GrainColumns, GrainSnapshot};
use crate::world::{array, volume_of_sphere};
use seixo_device::Cpu;
use seixo_laws::motion::velocity_ahead;
use seixo_laws::{Real, Vector3};
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::motion::{StepParameters, acceleration, angular_acceleration};

/// Velocity of sphere i at the end of a step, from that between steps and the force at the end \[m/s\].
pub(crate) fn velocity_of_sphere(fields: &Fields, i: usize, stepping: &StepParameters<f64, f64>) -> Vector3<f64> {
    let at = i * RECORD;
    let mass = fields.velocity[at + 3];
    let linear = acceleration(&load(&fields.velocity, at), mass, &load(&fields.force, at), stepping);
    velocity_ahead(&load(&fields.half_velocity, 3 * i), &linear.rate, stepping.velocity_lead)
}

/// Angular velocity of sphere i at the end of a step, from that between steps and the torque at the end \[rad/s\].
pub(crate) fn angular_velocity_of_sphere(fields: &Fields, i: usize, stepping: &StepParameters<f64, f64>) -> Vector3<f64> {
    let at = i * RECORD;
    let (radius, mass) = (fields.position[at + 3], fields.velocity[at + 3]);
    let angular = angular_acceleration(&load(&fields.spin, at), mass, radius, &load(&fields.torque, at), stepping);
    velocity_ahead(&load(&fields.half_spin, 3 * i), &angular.rate, stepping.velocity_lead)
}

/// How spheres move.
#[derive(Clone, Copy)]
pub(crate) struct SphereMotion {
    pub stepping: StepParameters<f64, f64>,
    /// Whether they rotate: they have friction.
    pub rotates: bool,
}

/// These columns of spheres, at the indices of `order`. Fields that no column needs may be empty.
pub(crate) fn snapshot_of_spheres(
    fields: &Fields,
    order: &[u32],
    motion: &SphereMotion,
    columns: GrainColumns,
    device: &Cpu,
) -> GrainSnapshot {
    let count = |is_wanted: bool| if is_wanted { order.len() } else { 0 };
    let of_field = |is_wanted: bool, field: &[f64]| -> Vec<[f64; 3]> {
        let (records, _) = field.as_chunks::<RECORD>();
        let record = |slot: usize| records.get(order[slot] as usize).map_or([0.0; 3], |&[x, y, z, _]| [x, y, z]);
        computed(device, count(is_wanted), record)
    };
    let of_words = |is_wanted: bool, field: &[u32]| -> Vec<u32> { computed(device, count(is_wanted), |slot| field[order[slot] as usize]) };
    let fourth = |is_wanted: bool, field: &[f64]| -> Vec<f64> {
        computed(device, count(is_wanted), |slot| field[RECORD * order[slot] as usize + 3])
    };
    let angular_velocity = |slot: usize| {
        if motion.rotates {
            array(&angular_velocity_of_sphere(fields, order[slot] as usize, &motion.stepping))
        } else {
            [0.0; 3]
        }
    };
    let radius = fourth(true, &fields.position);
    GrainSnapshot {
        id: of_words(true, &fields.id),
        position: of_field(true, &fields.position),
        velocity: computed(device, count(columns.velocity), |slot| {
            array(&velocity_of_sphere(fields, order[slot] as usize, &motion.stepping))
        }),
        angular_velocity: computed(device, count(columns.angular_velocity), angular_velocity),
        force: of_field(columns.force, &fields.force),
        torque: of_field(columns.torque, &fields.torque),
        mass: fourth(columns.mass, &fields.velocity),
        volume: computed(device, count(columns.volume), |slot| volume_of_sphere(radius[slot])),
        material: of_words(columns.material, &fields.material),
        group: of_words(columns.group, &fields.group),
        coordination: computed(device, count(columns.coordination), |slot| {
            f64::whole(fields.force[RECORD * order[slot] as usize + 3])
        }),
        radius,
        ..GrainSnapshot::default()
    }
}
