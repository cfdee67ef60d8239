//! THE TABLE of grain fields: one line per field makes its storage, its reordering, its section in checkpoints and its share of memory.

use crate::state::{Column, Sections, State};
use seixo_device::{Cpu, Strided};

/// Grains per part: the unit of work, the same on any number of threads.
pub const PART: usize = 1024;

/// Parts of n grains.
pub fn parts(n: usize) -> usize {
    n.div_ceil(PART)
}

/// The first grain of a part and the one after its last.
pub fn part_range(part: usize, n: usize) -> (usize, usize) {
    (part * PART, ((part + 1) * PART).min(n))
}

/// Numbers of all particles, cut into parts.
pub type Numbers<'a> = Strided<'a, f64>;

/// Numbers, so many of which belong to a particle, cut into parts.
pub fn numbers(items: &mut [f64], per_particle: usize) -> Numbers<'_> {
    Strided {
        items,
        per_part: PART * per_particle,
    }
}

/// Items of which each part has one.
pub fn one_each<T>(items: &mut [T]) -> Strided<'_, T> {
    Strided { items, per_part: 1 }
}

/// A number type that fields are made of.
trait Number: Copy + Default + Send + Sync {
    fn column(values: &[Self]) -> Column;
    fn from_column(column: &Column) -> Option<Vec<Self>>;
}

macro_rules! number {
    ($type:ty, $variant:ident) => {
        impl Number for $type {
            fn column(values: &[Self]) -> Column {
                Column::$variant(values.to_vec())
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
    spare.resize(numbers * order.len(), T::default());
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

/// Fields that worlds may do without; their sections of a checkpoint, too.
const OPTIONAL: [&str; 7] = [
    "grains/member",
    "grains/turn",
    "grains/ways",
    "grains/turns",
    "fluid/motion",
    "fluid/multipliers",
    "fluid/copy",
];

/// What cells sort: particles with ids, and records of where they are and how far they reach.
pub trait Sorted {
    /// Ids.
    fn ids(&self) -> &[u32];
    /// Places x y z and radii \[m\]: two particles are near where their distance is below the sum of their radii and the skin.
    fn places(&self) -> &[f64];
    /// Puts particle `order[k]` in place k; those that `order` does not name are dropped.
    fn reorder(&mut self, device: &Cpu, order: &[u32]);
    /// Some of the particles, by their places.
    fn pick(&self, places: &[u32]) -> Self;
}

macro_rules! fields {
    ($(#[$about:meta])* $table:ident, $section:literal, $places:ident: $($(#[$doc:meta])* $name:ident: $type:ty, $numbers:literal, $spare:ident;)+) => {
        $(#[$about])*
        #[derive(Clone, Default)]
        pub struct $table { $($(#[$doc])* pub $name: Vec<$type>,)+ spare_f64: Vec<f64>, spare_u32: Vec<u32> }

        impl Sorted for $table {
            fn ids(&self) -> &[u32] {
                &self.id
            }
            fn places(&self) -> &[f64] {
                &self.$places
            }
            fn reorder(&mut self, device: &Cpu, order: &[u32]) {
                $(gather(device, &mut self.$name, &mut self.$spare, $numbers, order);)+
            }
            fn pick(&self, places: &[u32]) -> $table {
                let mut picked = $table::default();
                $(
                    let from = &self.$name;
                    if !from.is_empty() {
                        picked.$name = places.iter().flat_map(|&place| &from[place as usize * $numbers..][..$numbers]).copied().collect();
                    }
                )+
                picked
            }
        }

        impl $table {
            /// Number of particles.
            pub fn len(&self) -> usize {
                self.id.len()
            }

            /// Appends other particles.
            pub fn append(&mut self, other: &$table) {
                $(self.$name.extend_from_slice(&other.$name);)+
            }

            /// Copies every field into a checkpoint.
            pub fn save(&self, to: &mut dyn Sections) {
                $(
                    let name = concat!($section, "/", stringify!($name));
                    if !self.$name.is_empty() || !OPTIONAL.contains(&name) {
                        to.put(name, Number::column(&self.$name));
                    }
                )+
            }

            /// Reads every field from a checkpoint; `Err` names the one that is missing or of the wrong size.
            pub fn load(state: &State) -> Result<$table, &'static str> {
                let mut fields = $table::default();
                $(
                    let name = concat!($section, "/", stringify!($name));
                    fields.$name = match state.get(name) {
                        None if OPTIONAL.contains(&name) => Vec::new(),
                        column => column.and_then(Number::from_column).ok_or(name)?,
                    };
                )+
                let n = fields.id.len();
                $(if !fields.$name.is_empty() && fields.$name.len() != n * $numbers { return Err(concat!($section, "/", stringify!($name))); })+
                Ok(fields)
            }

            /// Bytes that the fields hold.
            pub fn bytes(&self) -> u64 {
                let mut bytes = self.spare_f64.capacity() * 8 + self.spare_u32.capacity() * 4;
                $(bytes += self.$name.capacity() * size_of::<$type>();)+
                bytes as u64
            }
        }
    };
}

fields! {
    /// All fields of all grains, in the order of the cells. The last name in a line of the table is the buffer it reorders through.
    Fields, "grains", position:
    /// Identity.
    id: u32, 1, spare_u32;
    /// Index of the material.
    material: u32, 1, spare_u32;
    /// Index of the group.
    group: u32, 1, spare_u32;
    /// Which member of a rigid body it is, see [`seixo_sweeps::bodies`]; empty where there are no bodies.
    member: u32, 1, spare_u32;
    /// Center x y z and radius \[m\].
    position: f64, 4, spare_f64;
    /// Velocity at whole steps x y z \[m/s\], mass \[kg\].
    velocity: f64, 4, spare_f64;
    /// Angular velocity at whole steps x y z \[rad/s\]; empty without friction.
    spin: f64, 4, spare_f64;
    /// Velocity at half steps \[m/s\].
    half_velocity: f64, 3, spare_f64;
    /// Angular velocity at half steps \[rad/s\]; empty without friction.
    half_spin: f64, 3, spare_f64;
    /// Force of contacts and loads x y z \[N\], number of touches.
    force: f64, 4, spare_f64;
    /// Torque of contacts and loads x y z \[N m\]; empty without friction.
    torque: f64, 4, spare_f64;
    /// Center when the cells were last sorted \[m\].
    reference: f64, 3, spare_f64;
    /// Orientation, a unit quaternion w x y z; empty without bonds and Gear's method.
    turn: f64, 4, spare_f64;
    /// Second to fourth derivatives of the place; empty but for Gear's method.
    ways: f64, 9, spare_f64;
    /// First to fourth derivatives of the orientation; likewise.
    turns: f64, 16, spare_f64;
    /// Temperature \[K\]; empty where no heat flows.
    temperature: f64, 1, spare_f64;
}

fields! {
    /// All fields of the particles of fluids and of the walls that bound them, in the order of their cells.
    FluidFields, "fluid", reference:
    /// Identity: those of fluids as the world gives them and then as they come, those of walls from 2³¹ on.
    id: u32, 1, spare_u32;
    /// Index of the fluid; with [`seixo_sweeps::fluid::WALL`] beside it of the wall or hull, and with [`seixo_sweeps::fluid::PASSING`] of the inlet or
    /// outlet; [`seixo_sweeps::fluid::SUSPENDED`] marks grains that are smaller than particles.
    kind: u32, 1, spare_u32;
    /// Place x y z \[m\], volume \[m³\], which is negative for particles of walls and for small grains.
    position: f64, 4, spare_f64;
    /// Velocity at whole steps x y z \[m/s\], of particles of walls that which viscosity sees; pressure \[Pa\]. Of small grains what fluid sees of them, see
    /// [`seixo_sweeps::suspension`].
    flow: f64, 4, spare_f64;
    /// Velocity at whole steps x y z \[m/s\], padding; empty where walls stand still.
    motion: f64, 4, spare_f64;
    /// Velocity at half steps \[m/s\], with Euler's methods at whole ones; of particles of walls, the acceleration of the wall there \[m/s²\], of
    /// those in outlets the normal; of small grains, the force of fluids a step before \[N\].
    half_velocity: f64, 3, spare_f64;
    /// Excess of density over that at rest, (ρ − ρ₀)/ρ₀ \[-\]; of incompressible fluids never below zero, as what is thinner has room.
    excess: f64, 1, spare_f64;
    /// Force x y z \[N\], gravity not included, and relative rate of change of the density \[1/s\] or, with Müller's solver, the power that viscosity
    /// takes \[W\]; of small grains, that which drag takes.
    rate: f64, 4, spare_f64;
    /// The latter a step before \[1/s\].
    swelling_before: f64, 1, spare_f64;
    /// Pressure that corrects the density and pressure that keeps the flow free of divergence \[Pa\]; empty but for incompressible fluids.
    multipliers: f64, 2, spare_f64;
    /// 1 for a copy of a particle that another domain owns, else 0; empty where there are no copies.
    copy: u32, 1, spare_u32;
    /// Place when the cells were last sorted x y z, half of the support \[m\].
    reference: f64, 4, spare_f64;
}
