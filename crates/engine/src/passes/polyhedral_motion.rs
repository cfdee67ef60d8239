//! Rotation of polyhedral grains, by the angular momentum in space. A grain without torque keeps it to the last bit.

use crate::fields::{Fields, PART, one_each, part_range, parts};
use crate::polyhedra::PolyhedronSnapshot;
use crate::populations::Populations;
use crate::world::array;
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_laws::motion::{inertia, rotational_energy, velocity_ahead};
use seixo_laws::rotation::{angular_momentum, angular_velocity};
use seixo_sweeps::bodies::{FREE, orientation_at, store_orientation, stored_orientation_at, torque_of};
use seixo_sweeps::bonds::integrate_orientation;
use seixo_sweeps::layout::{RECORD, load, recall, store};
use seixo_sweeps::motion::MotionReport;
use seixo_sweeps::shape_motion::rotated_shape;

impl Populations {
    /// Whether there are polyhedral grains.
    pub(crate) fn has_polyhedra(&self) -> bool {
        self.polyhedra.is_some()
    }

    /// Whether grain i is polyhedral.
    pub(crate) fn is_polyhedral(&self, i: usize) -> bool {
        self.grains.fields.shape.get(i).is_some_and(|&shape| shape > 0)
    }

    /// Why a GPU that was not asked for is not taken, if there are polyhedral grains.
    pub(crate) fn why_polyhedra_on_host(&self) -> Option<String> {
        self.has_polyhedra()
            .then(|| "polyhedral grains are on a GPU only with --device gpu".to_owned())
    }

    /// Rotates all own grains of a world with polyhedral ones over one step: these by their angular momentum, spheres by their angular velocity. Grains
    /// of bodies turn with these, which are in place.
    pub(crate) fn rotate_polyhedra(&mut self) {
        let Some(polyhedra) = &self.polyhedra else { return };
        let n = self.grains.fields.len();
        let Fields {
            member,
            shape,
            position,
            velocity,
            spin,
            half_spin,
            torque,
            orientation,
            angular_momentum,
            ..
        } = &mut self.grains.fields;
        let (member, shape, position, velocity) = (&member[..], &shape[..], &position[..], &velocity[..]);
        let bodies = &self.bodies;
        let (half_spin, torque, stepping) = (&half_spin[..], &torque[..], &self.context.stepping);
        let data = (
            Strided {
                items: &mut spin[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut orientation[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut angular_momentum[..],
                per_part: PART * 3,
            },
            one_each(&mut self.grains.motion_reports),
        );
        type Data<'a> = (Strided<'a, f64>, Strided<'a, f64>, Strided<'a, f64>, Strided<'a, MotionReport<f64>>);
        self.context
            .device
            .run(parts(n), data, |part, (spin, orientation, momentum, reports): Data| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    let (k, at) = (i - first, (i - first) * RECORD);
                    if let Some(&m) = member.get(i).filter(|m| **m != FREE) {
                        // Messages move ghosts.
                        if let Some(b) = bodies.of(m) {
                            store_orientation(orientation.items, at, &bodies.orientation_of(m, b));
                        }
                        continue;
                    }
                    let (mass, radius) = (velocity[i * RECORD + 3], position[i * RECORD + 3]);
                    let Some(moments) = polyhedra.moments(shape.get(i), mass, radius) else {
                        integrate_orientation(k, orientation.items, &half_spin[first * 3..], stepping.dt);
                        continue;
                    };
                    let before = stored_orientation_at::<f64>(orientation.items, at);
                    let push = load::<f64>(torque, i * RECORD);
                    let (kept, reads) = (recall::<f64>(momentum.items, 3 * k), recall::<f64>(spin.items, at));
                    let turned = rotated_shape::<f64, f64>(&before, &kept, &reads, &push, &moments, stepping);
                    store(momentum.items, 3 * k, &turned.momentum);
                    store_orientation(orientation.items, at, &turned.orientation);
                    store(spin.items, at, &turned.spin);
                    reports.items[0].damping_work += turned.damping_work;
                }
            });
    }

    /// Principal moments of inertia of grain i \[kg m²\], if it is polyhedral.
    fn moments_of(&self, i: usize) -> Option<Vector3<f64>> {
        let fields = &self.grains.fields;
        let (mass, radius) = (fields.velocity[i * RECORD + 3], fields.position[i * RECORD + 3]);
        self.polyhedra.as_ref()?.moments(fields.shape.get(i), mass, radius)
    }

    /// Angular velocity of grain i at this time, if it is polyhedral \[rad/s\].
    pub(crate) fn angular_velocity_of_polyhedron(&self, i: usize) -> Option<Vector3<f64>> {
        let moments = self.moments_of(i)?;
        let (fields, stepping) = (&self.grains.fields, &self.context.stepping);
        let push = load::<f64>(&fields.torque, i * RECORD);
        let turning = torque_of::<f64>(&load(&fields.spin, i * RECORD), &push, &push, stepping.local_damping);
        let momentum = velocity_ahead::<f64>(&load(&fields.angular_momentum, 3 * i), &turning.rate, stepping.velocity_lead);
        let orientation = orientation_at::<f64>(&fields.orientation, i * RECORD);
        Some(angular_velocity::<f64>(&orientation, &momentum, &moments))
    }

    /// Rotational energy \[J\] and angular momentum about its center \[kg m²/s\] of a free grain with this angular velocity \[rad/s\].
    pub(crate) fn rotation_of(&self, i: usize, spin: &Vector3<f64>) -> (f64, Vector3<f64>) {
        let fields = &self.grains.fields;
        let (mass, radius) = (fields.velocity[i * RECORD + 3], fields.position[i * RECORD + 3]);
        match self.moments_of(i) {
            None => (rotational_energy(mass, radius, spin), spin.times(inertia(mass, radius))),
            Some(moments) => {
                let orientation = orientation_at::<f64>(&fields.orientation, i * RECORD);
                let momentum = angular_momentum::<f64>(&orientation, spin, &moments);
                (0.5 * momentum.dot(spin), momentum)
            }
        }
    }

    /// All polyhedral grains, in the order of their ids.
    pub(crate) fn polyhedron_snapshots(&self) -> Vec<PolyhedronSnapshot> {
        if !self.has_polyhedra() {
            return Vec::new();
        }
        let fields = &self.grains.fields;
        let bodies = self.bodies.all_moving(fields, &self.context.stepping);
        let snapshot = |i: usize| {
            let [x, y, z, radius] = std::array::from_fn(|c| fields.position[i * RECORD + c]);
            PolyhedronSnapshot {
                id: fields.id[i],
                shape: fields.shape[i] - 1,
                radius,
                center: [x, y, z],
                orientation: std::array::from_fn(|c| fields.orientation[i * RECORD + c]),
                velocity: array(&self.velocities(i, &bodies).0),
            }
        };
        let order = self.order_by_id().into_iter().map(|i| i as usize);
        order.filter(|&i| self.is_polyhedral(i)).map(snapshot).collect()
    }

    /// Sets the angular momentum of grain i at half steps, if it is polyhedral, from its angular velocity at this time, which is given as that at half
    /// steps.
    pub(crate) fn set_half_step_momentum(&mut self, i: usize) {
        let Some(moments) = self.moments_of(i) else { return };
        let (fields, stepping) = (&mut self.grains.fields, &self.context.stepping);
        let orientation = orientation_at::<f64>(&fields.orientation, i * RECORD);
        let momentum = angular_momentum::<f64>(&orientation, &load(&fields.half_spin, 3 * i), &moments);
        let push = load::<f64>(&fields.torque, i * RECORD);
        let turning = torque_of::<f64>(&load(&fields.spin, i * RECORD), &push, &push, stepping.local_damping);
        let before = velocity_ahead::<f64>(&momentum, &turning.rate, -stepping.velocity_lead);
        store(&mut fields.angular_momentum, 3 * i, &before);
    }
}
