//! Scalars that grains carry beside their motion, in one table.
//!
//! A row of [`GrainScalar`] is all that storage, order of cells, GPU buffers, halo, migration, checkpoints, snapshots and frames need to know. What
//! changes a scalar is a pass, see [`crate::state`] for what it shows.
//!
//! ```
//! use seixo_engine::state::{GrainScalar, GrainScalars};
//! let mut scalars = GrainScalars::default();
//! scalars[GrainScalar::Temperature].push(300.0);
//! let carried: Vec<&str> = scalars.carried().map(|(scalar, _)| scalar.name()).collect();
//! assert_eq!(carried, ["temperature"]);
//! ```

use std::ops::{Index, IndexMut, RangeInclusive};

/// A scalar of each grain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GrainScalar {
    /// Temperature \[K\], where heat is conducted.
    Temperature,
    /// Thickness of the liquid film \[m\], where films share their liquid.
    FilmThickness,
}

/// What is known of a scalar.
struct Row {
    scalar: GrainScalar,
    name: &'static str,
    noun: &'static str,
    unit: &'static str,
    /// What grains hold of it.
    amount: &'static str,
    /// Unit of this amount.
    amount_unit: &'static str,
    /// Section of its ledger in checkpoints.
    ledger_section: &'static str,
    /// Value of grains for which none is given; NaN where there is no such value.
    default: f64,
    /// Values that a grain may start with.
    range: RangeInclusive<f64>,
    /// These values in words.
    must: &'static str,
    /// What to do with a value where grains do not carry it.
    without: &'static str,
}

/// The table, in the order of [`GrainScalar`].
const TABLE: &[Row; 2] = &[
    Row {
        scalar: GrainScalar::Temperature,
        name: "temperature",
        noun: "a temperature",
        unit: "K",
        amount: "heat",
        amount_unit: "J",
        ledger_section: "heat/books",
        default: f64::NAN,
        range: 0.0..=1e15,
        must: "zero or positive, in kelvins, as heat is conducted",
        without: "left out, as no heat is conducted; or give the grains of the scene a temperature",
    },
    Row {
        scalar: GrainScalar::FilmThickness,
        name: "film_thickness",
        noun: "a film thickness",
        unit: "m",
        amount: "liquid films",
        amount_unit: "m^3",
        ledger_section: "film/ledger",
        default: 0.0,
        range: 0.0..=1e12,
        must: "zero or positive",
        without: "left out, as grains have no liquid films; or give those of the scene a film_thickness",
    },
];

impl GrainScalar {
    /// Every scalar.
    pub const ALL: [GrainScalar; TABLE.len()] = {
        let mut all = [GrainScalar::Temperature; TABLE.len()];
        let mut k = 0;
        while k < all.len() {
            assert!(TABLE[k].scalar as usize == k, "the table has the order of the enum");
            all[k] = TABLE[k].scalar;
            k += 1;
        }
        all
    };

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Name in scenes, files, checkpoints and frames.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The name as a list of one, for tables of columns with several names.
    pub fn names(self) -> &'static [&'static str] {
        std::slice::from_ref(&self.row().name)
    }

    /// What a value of it is, such as "a temperature".
    pub fn noun(self) -> &'static str {
        self.row().noun
    }

    /// SI unit.
    pub fn unit(self) -> &'static str {
        self.row().unit
    }

    /// What grains hold of it, such as heat.
    pub fn amount(self) -> &'static str {
        self.row().amount
    }

    /// SI unit of the amount that grains hold of it, such as J of heat.
    pub fn amount_unit(self) -> &'static str {
        self.row().amount_unit
    }

    /// Section of its ledger in checkpoints.
    pub(crate) fn ledger_section(self) -> &'static str {
        self.row().ledger_section
    }

    /// The scalar of this name.
    pub fn named(name: &str) -> Option<GrainScalar> {
        GrainScalar::ALL.into_iter().find(|scalar| scalar.name() == name)
    }

    /// Why a grain cannot have this value; `None` if it can.
    pub fn flaw_of(self, value: f64) -> Option<&'static str> {
        let row = self.row();
        (!row.range.contains(&value)).then_some(row.must)
    }

    /// What to do with a value where grains do not carry it.
    pub(crate) fn without(self) -> &'static str {
        self.row().without
    }
}

/// The scalars with which one grain starts, as far as they are given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StartScalars([Option<f64>; TABLE.len()]);

impl StartScalars {
    /// These values, and those of another for what is not given.
    pub fn or(self, other: &StartScalars) -> StartScalars {
        StartScalars(std::array::from_fn(|k| self.0[k].or(other.0[k])))
    }
}

impl Index<GrainScalar> for StartScalars {
    type Output = Option<f64>;
    fn index(&self, scalar: GrainScalar) -> &Option<f64> {
        &self.0[scalar as usize]
    }
}

impl IndexMut<GrainScalar> for StartScalars {
    fn index_mut(&mut self, scalar: GrainScalar) -> &mut Option<f64> {
        &mut self.0[scalar as usize]
    }
}

/// The scalars of many grains: a column each, empty where the world does not have the scalar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GrainScalars([Vec<f64>; TABLE.len()]);

impl GrainScalars {
    /// All columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (GrainScalar, &Vec<f64>)> {
        GrainScalar::ALL.into_iter().zip(&self.0)
    }

    /// All columns, to be changed.
    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = (GrainScalar, &mut Vec<f64>)> {
        GrainScalar::ALL.into_iter().zip(&mut self.0)
    }

    /// The columns that are not empty.
    pub fn carried(&self) -> impl Iterator<Item = (GrainScalar, &Vec<f64>)> {
        self.columns().filter(|(_, column)| !column.is_empty())
    }

    /// Number of columns that are not empty.
    pub(crate) fn carried_count(&self) -> usize {
        self.carried().count()
    }

    /// Appends the scalars of grain k of another table.
    pub fn push_from(&mut self, other: &GrainScalars, k: usize) {
        for (column, from) in self.0.iter_mut().zip(&other.0) {
            column.extend(from.get(k));
        }
    }

    /// Extends the columns of these scalars to n grains that start like this; a value that is not given is the default of the scalar, or NaN,
    /// which no world accepts.
    pub fn extend_to(&mut self, n: usize, start: &StartScalars, scalars: &[GrainScalar]) {
        for &scalar in scalars {
            self[scalar].resize(n, start[scalar].unwrap_or(scalar.row().default));
        }
    }

    /// Appends all scalars of another table.
    pub(crate) fn append(&mut self, other: &GrainScalars) {
        for (column, from) in self.0.iter_mut().zip(&other.0) {
            column.extend_from_slice(from);
        }
    }

    /// The scalars of the grains with these indices.
    pub(crate) fn picked(&self, places: &[u32]) -> GrainScalars {
        let pick = |column: &Vec<f64>| places.iter().filter_map(|&place| column.get(place as usize).copied()).collect();
        GrainScalars(self.0.each_ref().map(pick))
    }
}

impl Index<GrainScalar> for GrainScalars {
    type Output = Vec<f64>;
    fn index(&self, scalar: GrainScalar) -> &Vec<f64> {
        &self.0[scalar as usize]
    }
}

impl IndexMut<GrainScalar> for GrainScalars {
    fn index_mut(&mut self, scalar: GrainScalar) -> &mut Vec<f64> {
        &mut self.0[scalar as usize]
    }
}
