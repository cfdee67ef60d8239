//! Tables of the fields of grains and fluid particles. One line per field defines its storage, its reordering, its section in checkpoints and its
//! memory.

use crate::scalars::GrainScalars;
use crate::state::{Column, Sections, State};
use seixo_device::{Cpu, Strided};

/// Grains per part, the unit of work; the same for any number of threads.
pub const PART: usize = 1024;

/// Number of parts of n grains.
pub fn parts(n: usize) -> usize {
    n.div_ceil(PART)
}

/// Index of the first grain of a part, and of the one after its last.
pub fn part_range(part: usize, n: usize) -> (usize, usize) {
    (part * PART, ((part + 1) * PART).min(n))
}

/// Replaces `starts` by the first entry of each part, and the end of the last one, of the rows that `row` begins and ends.
pub fn start_parts(row: &[u32], starts: &mut Vec<u32>) {
    let n = row.len() - 1;
    starts.clear();
    starts.extend((0..parts(n)).map(|part| row[part * PART]).chain([row[n]]));
}

/// Values of all particles, divided into parts.
pub type Numbers<'a> = Strided<'a, f64>;

/// Divides values, of which each particle has `per_particle`, into parts.
pub fn numbers(items: &mut [f64], per_particle: usize) -> Numbers<'_> {
    Strided {
        items,
        per_part: PART * per_particle,
    }
}

/// Divides items of which each part has one.
pub fn one_each<T>(items: &mut [T]) -> Strided<'_, T> {
    Strided { items, per_part: 1 }
}

/// Items that a thread writes at once; fewer are not worth a second thread.
const BLOCK: usize = 1 << 14;

/// Sets `items` to the results of `of` for 0 to n − 1, on all threads. Memory for n items is used again: the system takes longer to provide new memory
/// than threads take to write to it.
pub fn refill<T: Copy + Send>(device: &Cpu, items: &mut Vec<T>, n: usize, of: impl Fn(usize) -> T + Sync) {
    if items.len() != n {
        // The old memory is free before the new is allocated.
        *items = Vec::new();
        *items = computed(device, n, of);
        return;
    }
    let write = |block: usize, items: &mut [T]| {
        for (k, item) in items.iter_mut().enumerate() {
            *item = of(block * BLOCK + k);
        }
    };
    if n <= BLOCK {
        return write(0, &mut items[..]);
    }
    let data = (Strided {
        items: &mut items[..],
        per_part: BLOCK,
    },);
    device.run(n.div_ceil(BLOCK), data, |block, (to,): (Strided<T>,)| write(block, to.items));
}

/// The results of `of` for 0 to n − 1, computed on all threads.
pub fn computed<T: Copy + Send>(device: &Cpu, n: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    device.collect(n, of)
}

/// A copy that all threads of a device make, or this one alone.
fn copied<T: Number>(device: Option<&Cpu>, values: &[T]) -> Vec<T> {
    device.map_or_else(|| values.to_vec(), |device| computed(device, values.len(), |k| values[k]))
}

/// A number type of fields.
trait Number: Copy + Default + Send + Sync {
    fn column(device: Option<&Cpu>, values: &[Self]) -> Column;
    fn from_column(column: &Column) -> Option<Vec<Self>>;
}

macro_rules! number {
    ($type:ty, $variant:ident) => {
        impl Number for $type {
            fn column(device: Option<&Cpu>, values: &[Self]) -> Column {
                Column::$variant(copied(device, values))
            }
            fn from_column(column: &Column) -> Option<Vec<Self>> {
                match column {
                    Column::$variant(values) => Some(values.clone()),
                    _ => None,
                }
            }
        }
    };
}
number!(f64, F64);
number!(u32, U32);

fn gather<T: Number>(device: &Cpu, field: &mut Vec<T>, spare: &mut Vec<T>, numbers: usize, order: &[u32]) {
    if field.is_empty() {
        return;
    }
    let needed = numbers * order.len();
    // A larger room would stay with the field.
    if spare.capacity() != needed {
        *spare = vec![T::default(); needed];
    }
    spare.resize(needed, T::default());
    let from: &[T] = field;
    device.run(
        parts(order.len()),
        (Strided {
            items: &mut spare[..],
            per_part: PART * numbers,
        },),
        |part, (to,): (Strided<T>,)| {
            let (first, end) = part_range(part, order.len());
            for (slot, &source) in order[first..end].iter().enumerate() {
                let source = source as usize * numbers;
                to.items[slot * numbers..(slot + 1) * numbers].copy_from_slice(&from[source..source + numbers]);
            }
        },
    );
    std::mem::swap(field, spare);
}

/// The records of so many numbers of particles in several columns, each given by its column and its index there. Records that a column lacks are
/// zero; if all columns are empty, so is this one.
fn gathered<T: Number>(device: &Cpu, columns: &[&[T]], numbers: usize, order: &[(u32, u32)]) -> Vec<T> {
    if columns.iter().all(|column| column.is_empty()) {
        return Vec::new();
    }
    computed(device, numbers * order.len(), |k| {
        let (column, place) = order[k / numbers];
        let number = columns[column as usize].get(place as usize * numbers + k % numbers);
        number.copied().unwrap_or_default()
    })
}

/// Optional fields, which are optional sections of a checkpoint, too.
const OPTIONAL: [&str; 10] = [
    "grains/member",
    "grains/turn",
    "grains/ways",
    "grains/turns",
    "grains/external",
    "grains/shape",
    "grains/momentum",
    "fluid/motion",
    "fluid/multipliers",
    "fluid/copy",
];

/// Fields that are zero for particles without values if others have some.
const ZERO_WHERE_ABSENT: [&str; 3] = ["grains/external", "grains/shape", "grains/momentum"];

/// Numbers of the load that is given to a single grain: force x y z \[N\], torque x y z \[N m\].
pub const GIVEN_LOAD: usize = 6;

/// Particles that cells sort: with ids, positions and radii.
pub trait Sorted {
    /// Ids.
    fn ids(&self) -> &[u32];
    /// Positions x y z and radii \[m\]: two particles are near if their distance is below the sum of their radii and the skin.
    fn places(&self) -> &[f64];
    /// Moves particle `order[k]` to index k; particles that are not in `order` are removed.
    fn reorder(&mut self, device: &Cpu, order: &[u32]);
    /// Copies the particles with these indices.
    fn pick(&self, places: &[u32]) -> Self;
    /// Copies particles of several tables, on all threads: each is given by the number of its table and its index there.
    fn gathered(device: &Cpu, tables: &[&Self], order: &[(u32, u32)]) -> Self;
}

macro_rules! fields {
    ($(#[$about:meta])* $table:ident, $section:literal, $places:ident $(, $(#[$nested_doc:meta])* $nested:ident)?: $($(#[$doc:meta])* $saved:literal $name:ident: $type:ty, $numbers:literal, $spare:ident;)+) => {
        $(#[$about])*
        #[derive(Clone, Default)]
        pub struct $table { $($(#[$doc])* pub $name: Vec<$type>,)+ $($(#[$nested_doc])* pub $nested: GrainScalars,)? spare_f64: Vec<f64>, spare_u32: Vec<u32> }

        impl Sorted for $table {
            fn ids(&self) -> &[u32] {
                &self.id
            }
            fn places(&self) -> &[f64] {
                &self.$places
            }
            fn reorder(&mut self, device: &Cpu, order: &[u32]) {
                $(gather(device, &mut self.$name, &mut self.$spare, $numbers, order);)+
                $(for (_, column) in self.$nested.columns_mut() {
                    gather(device, column, &mut self.spare_f64, 1, order);
                })?
                // Room to sort is needed only here.
                (self.spare_f64, self.spare_u32) = (Vec::new(), Vec::new());
            }
            fn pick(&self, places: &[u32]) -> $table {
                let mut picked = $table::default();
                $(
                    let from = &self.$name;
                    if !from.is_empty() {
                        picked.$name.reserve_exact(places.len() * $numbers);
                        for &place in places {
                            picked.$name.extend_from_slice(&from[place as usize * $numbers..][..$numbers]);
                        }
                    }
                )+
                $(picked.$nested = self.$nested.picked(places);)?
                picked
            }
            fn gathered(device: &Cpu, tables: &[&$table], order: &[(u32, u32)]) -> $table {
                let mut all = $table::default();
                $(
                    let columns: Vec<&[$type]> = tables.iter().map(|table| &table.$name[..]).collect();
                    all.$name = gathered(device, &columns, $numbers, order);
                )+
                $(for (scalar, column) in all.$nested.columns_mut() {
                    let columns: Vec<&[f64]> = tables.iter().map(|table| &table.$nested[scalar][..]).collect();
                    *column = gathered(device, &columns, 1, order);
                })?
                all
            }
        }

        impl $table {
            /// Number of particles.
            pub fn len(&self) -> usize {
                self.id.len()
            }

            /// Appends other particles.
            pub fn append(&mut self, other: &$table) {
                let (own, all) = (self.len(), self.len() + other.len());
                $(
                    let may_be_absent = ZERO_WHERE_ABSENT.contains(&concat!($section, "/", $saved));
                    let is_padded = may_be_absent && !(self.$name.is_empty() && other.$name.is_empty());
                    if is_padded {
                        self.$name.resize(own * $numbers, <$type>::default());
                    }
                    self.$name.extend_from_slice(&other.$name);
                    if is_padded {
                        self.$name.resize(all * $numbers, <$type>::default());
                    }
                )+
                $(self.$nested.append(&other.$nested);)?
            }

            /// Copies every field into a checkpoint, on all threads of the device if there is one.
            pub fn save(&self, device: Option<&Cpu>, to: &mut dyn Sections) {
                $(
                    let name = concat!($section, "/", $saved);
                    if !self.$name.is_empty() || !OPTIONAL.contains(&name) {
                        to.put(name, Number::column(device, &self.$name));
                    }
                )+
                $(for (scalar, column) in self.$nested.carried() {
                    to.put(&format!("{}/{}", $section, scalar.name()), Number::column(device, column));
                })?
            }

            /// Reads every field from a checkpoint; `Err` contains the name of a field that is missing or of the wrong size.
            pub fn load(state: &State) -> Result<$table, String> {
                let mut fields = $table::default();
                $(
                    let name = concat!($section, "/", $saved);
                    fields.$name = match state.get(name) {
                        None if OPTIONAL.contains(&name) => Vec::new(),
                        column => column.and_then(Number::from_column).ok_or_else(|| name.to_owned())?,
                    };
                )+
                let n = fields.id.len();
                $(if !fields.$name.is_empty() && fields.$name.len() != n * $numbers { return Err(concat!($section, "/", $saved).to_owned()); })+
                $(for (scalar, column) in fields.$nested.columns_mut() {
                    let name = format!("{}/{}", $section, scalar.name());
                    let Some(saved) = state.get(&name) else { continue };
                    let found = Number::from_column(saved).filter(|found: &Vec<f64>| found.is_empty() || found.len() == n);
                    *column = found.ok_or(name)?;
                })?
                Ok(fields)
            }

            /// Memory of the fields \[bytes\].
            pub fn bytes(&self) -> u64 {
                let mut bytes = self.spare_f64.capacity() * 8 + self.spare_u32.capacity() * 4;
                $(bytes += self.$name.capacity() * size_of::<$type>();)+
                $(bytes += self.$nested.columns().map(|(_, column)| column.capacity() * size_of::<f64>()).sum::<usize>();)?
                bytes as u64
            }
        }
    };
}

fields! {
    /// All fields of all grains, in the order of the cells. The last name in a line of the table is the buffer it reorders through.
    Fields, "grains", position,
    /// Scalars that grains carry.
    scalars:
    /// Unique id.
    "id" id: u32, 1, spare_u32;
    /// Index of the material.
    "material" material: u32, 1, spare_u32;
    /// Index of the group.
    "group" group: u32, 1, spare_u32;
    /// Member index in the table of rigid bodies, see [`seixo_sweeps::bodies`]; empty without bodies.
    "member" member: u32, 1, spare_u32;
    /// Center x y z and radius \[m\].
    "position" position: f64, 4, spare_f64;
    /// Velocity at whole steps x y z \[m/s\], mass \[kg\].
    "velocity" velocity: f64, 4, spare_f64;
    /// Angular velocity at whole steps x y z \[rad/s\]; empty without friction.
    "spin" spin: f64, 4, spare_f64;
    /// Velocity at half steps \[m/s\].
    "half_velocity" half_velocity: f64, 3, spare_f64;
    /// Angular velocity at half steps \[rad/s\]; empty without friction.
    "half_spin" half_spin: f64, 3, spare_f64;
    /// Force of contacts and loads x y z \[N\], number of contacts.
    "force" force: f64, 4, spare_f64;
    /// Torque of contacts and loads x y z \[N m\]; empty without friction.
    "torque" torque: f64, 4, spare_f64;
    /// Center at the last rebuild \[m\].
    "reference" reference: f64, 3, spare_f64;
    /// Orientation, a unit quaternion w x y z; empty without bonds, Gear's method and polyhedral grains.
    "turn" orientation: f64, 4, spare_f64;
    /// Second to fourth derivatives of the position; empty without Gear's method.
    "ways" position_derivatives: f64, 9, spare_f64;
    /// First to fourth derivatives of the orientation; empty without Gear's method.
    "turns" orientation_derivatives: f64, 16, spare_f64;
    /// Force \[N\] and torque \[N m\] that a program gave to each grain, included in force and torque; empty unless it gave some.
    "external" given_load: f64, 6, spare_f64;
    /// 0 for a sphere, k for the shape k − 1 of [`crate::world::World::shapes`]; empty without polyhedral grains.
    "shape" shape: u32, 1, spare_u32;
    /// Angular momentum of polyhedral grains in space at half steps \[kg m²/s\]; empty without them.
    "momentum" angular_momentum: f64, 3, spare_f64;
}

impl Fields {
    /// Grains of which only ids and positions with radii \[m\] are known, so that cells can sort them.
    pub fn of_places(id: Vec<u32>, position: Vec<f64>) -> Fields {
        Fields {
            id,
            position,
            ..Fields::default()
        }
    }
}

fields! {
    /// All fields of the fluid, wall and body boundary particles, in the order of their cells.
    FluidFields, "fluid", reference:
    /// Unique id: fluid particles have ids of the world, then ids in the order of their entry; wall particles have ids from 2³¹ on.
    "id" id: u32, 1, spare_u32;
    /// Index of the fluid. With [`seixo_sweeps::fluid::WALL`] it is that of the wall or body, and with [`seixo_sweeps::fluid::OPEN_BOUNDARY`] that of
    /// the inlet or outlet. [`seixo_sweeps::fluid::SUSPENDED`] marks suspended grains.
    "kind" kind: u32, 1, spare_u32;
    /// Position x y z \[m\]; volume \[m³\], negative for wall particles and suspended grains.
    "position" position: f64, 4, spare_f64;
    /// Velocity at whole steps x y z \[m/s\], for wall particles that of the viscous force; pressure \[Pa\]. For suspended grains, values for the
    /// fluid, see [`seixo_sweeps::suspension`].
    "flow" velocity_pressure: f64, 4, spare_f64;
    /// Velocity at whole steps x y z \[m/s\], padding; empty if walls are at rest.
    "motion" particle_velocity: f64, 4, spare_f64;
    /// Velocity at half steps, or at whole steps with Euler's methods \[m/s\]. For wall particles, the acceleration of the wall there \[m/s²\];
    /// in outlets, the normal; for suspended grains, the force of fluids in the previous step \[N\].
    "half_velocity" half_velocity: f64, 3, spare_f64;
    /// Excess of density over the rest density, (ρ − ρ₀)/ρ₀ \[-\]; never negative for incompressible fluids, in which lower densities cause no
    /// pressure.
    "excess" density_error: f64, 1, spare_f64;
    /// Force without gravity x y z \[N\], and relative rate of change of the density \[1/s\] or, with Müller's solver, power dissipated by viscosity
    /// \[W\]; for suspended grains, power dissipated by drag.
    "rate" force_density_rate: f64, 4, spare_f64;
    /// Relative rate of change of the density in the previous step \[1/s\].
    "swelling_before" previous_density_rate: f64, 1, spare_f64;
    /// Pressures for the density and for the divergence-free velocity \[Pa\]; empty without incompressible fluids.
    "multipliers" pressures: f64, 2, spare_f64;
    /// 1 for a ghost particle, otherwise 0; empty without ghost particles.
    "copy" ghost: u32, 1, spare_u32;
    /// Position at the last rebuild x y z, half of the support \[m\].
    "reference" reference: f64, 4, spare_f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_the_same_on_any_number_of_threads() {
        for threads in [1, 3] {
            let cpu = Cpu::new(threads).unwrap();
            let mut column = vec![7; 3];
            for n in [0, 3, BLOCK, 3 * BLOCK + 1] {
                let expected: Vec<u32> = (0..n as u32).map(|k| k + 1).collect();
                refill(&cpu, &mut column, n, |k| k as u32 + 1);
                assert_eq!(column, expected);
                assert_eq!(computed(&cpu, n, |k| k as u32 + 1), expected);
            }
        }
    }

    #[test]
    fn particles_of_several_tables_are_gathered_in_any_order() {
        let table = |ids: &[u32], loads: bool| Fields {
            id: ids.to_vec(),
            reference: ids.iter().flat_map(|&id| [f64::from(id), 1.0, -1.0]).collect(),
            given_load: if loads { vec![2.0; GIVEN_LOAD * ids.len()] } else { Vec::new() },
            ..Fields::default()
        };
        let (here, there) = (table(&[5, 3], false), table(&[4], true));
        for threads in [1, 3] {
            let all = Fields::gathered(&Cpu::new(threads).unwrap(), &[&here, &there], &[(0, 1), (1, 0), (0, 0)]);
            assert_eq!(all.id, [3, 4, 5]);
            assert_eq!(all.reference, [3.0, 1.0, -1.0, 4.0, 1.0, -1.0, 5.0, 1.0, -1.0]);
            let loads = [[0.0; GIVEN_LOAD], [2.0; GIVEN_LOAD], [0.0; GIVEN_LOAD]];
            assert_eq!(all.given_load, loads.as_flattened());
            assert!(all.spin.is_empty());
        }
    }

    #[test]
    fn memory_of_the_right_length_is_used_again() {
        let cpu = Cpu::new(2).unwrap();
        let mut column = vec![0.0; 2 * BLOCK];
        let memory = column.as_ptr();
        refill(&cpu, &mut column, 2 * BLOCK, |k| k as f64);
        assert_eq!(column.as_ptr(), memory);
    }
}
