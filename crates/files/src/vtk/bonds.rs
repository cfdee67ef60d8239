//! Bonds as lines.

use super::read::{count_of, find, find_renamed, read, time, vectors};
use super::{ArrayStore, Document, Format, Values};
use crate::FilesError;
use seixo_engine::BondSnapshot;
use std::path::Path;

/// A number of a bond.
type OfBond = fn(&BondSnapshot) -> f64;

/// Name of the utilization in files of earlier versions.
const EARLIER_UTILIZATION: &str = "used";

/// Numbers of every bond, with the words for them.
const NUMBERS: [(&str, OfBond); 6] = [
    ("utilization", |bond| bond.utilization),
    ("tension", |bond| bond.tension),
    ("shear", |bond| bond.shear),
    ("bending", |bond| bond.bending),
    ("torsion", |bond| bond.torsion),
    ("energy", |bond| bond.energy),
];

/// The bonds that hold at one time \[s\] as a `.vtp`: lines between the centers of their grains, with the force on the second of them \[N\], axial
/// force (positive: it pulls) and force across \[N\], bending and torsion moments \[N m\], elastic energy \[J\], the share of the strength that is
/// used, the kind by its number, and the ids of the two grains.
pub fn bonds(bonds: &[BondSnapshot], time: f64) -> Vec<u8> {
    Format::default().bonds(bonds, time)
}

impl Format {
    /// As [`bonds`], in this format.
    pub fn bonds(self, bonds: &[BondSnapshot], time: f64) -> Vec<u8> {
        let count = bonds.len();
        let mut document = Document::new(ArrayStore::new(self), (time, ""), 2 * count, &format!(r#"NumberOfLines="{count}""#));
        let integers = |of: fn(&BondSnapshot) -> u32| bonds.iter().map(of).collect::<Vec<u32>>();
        let numbers = NUMBERS.map(|(name, of)| (name, bonds.iter().map(of).collect::<Vec<f64>>()));
        let force: Vec<[f64; 3]> = bonds.iter().map(|bond| bond.force).collect();
        let (kind, first, second) = (
            integers(|bond| bond.kind),
            integers(|bond| bond.grains[0]),
            integers(|bond| bond.grains[1]),
        );
        let mut arrays: Vec<(&str, Values)> = numbers.iter().map(|(name, values)| (*name, Values::Scalars32(values))).collect();
        arrays.extend([
            ("force", Values::Vectors32(&force)),
            ("kind", Values::Integers(&kind)),
            ("first", Values::Integers(&first)),
            ("second", Values::Integers(&second)),
        ]);
        document.group(r#"CellData Scalars="utilization""#, &arrays);
        let ends: Vec<[f64; 3]> = bonds.iter().flat_map(|bond| bond.ends).collect();
        document.lines(&ends);
        document.finish()
    }
}

/// Bonds of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VtkBonds {
    /// Time \[s\].
    pub time: f64,
    /// Both ends of each line \[m\].
    pub ends: Vec<[[f64; 3]; 2]>,
    /// Ids of the two grains of each.
    pub grains: Vec<[u32; 2]>,
    /// Forces on the second grain \[N\].
    pub force: Vec<[f64; 3]>,
    /// Kinds, by their numbers.
    pub kind: Vec<u32>,
    /// Further numbers: name, and the value of each bond.
    pub fields: Vec<(String, Vec<f64>)>,
}

impl VtkBonds {
    /// The bonds that hold at one time \[s\], as they would be read back from a file of [`bonds`].
    pub fn of(bonds: &[BondSnapshot], time: f64) -> VtkBonds {
        VtkBonds {
            time,
            ends: bonds.iter().map(|bond| bond.ends).collect(),
            grains: bonds.iter().map(|bond| bond.grains).collect(),
            force: bonds.iter().map(|bond| bond.force).collect(),
            kind: bonds.iter().map(|bond| bond.kind).collect(),
            fields: NUMBERS.map(|(name, of)| (name.to_owned(), bonds.iter().map(of).collect())).into(),
        }
    }
}

/// Reads a file that [`bonds`] made.
pub fn read_bonds(path: &Path) -> Result<VtkBonds, FilesError> {
    read(path, |content| {
        let lines = count_of(content.text, "NumberOfLines", "lines")?;
        let points = vectors(find(content, "position")?.values(lines, 6)?);
        let values = |name: &str| find(content, name)?.values(lines, 1);
        let [first, second] = [values("first")?, values("second")?];
        let mut fields = Vec::new();
        for (name, _) in NUMBERS {
            let array = match name {
                "utilization" => find_renamed(content, name, EARLIER_UTILIZATION),
                _ => find(content, name),
            };
            fields.push((name.to_owned(), array?.values(lines, 1)?));
        }
        Ok(VtkBonds {
            time: time(content)?,
            ends: points.as_chunks().0.to_vec(),
            grains: first.iter().zip(&second).map(|(&a, &b)| [a as u32, b as u32]).collect(),
            force: vectors(find(content, "force")?.values(lines, 3)?),
            kind: values("kind")?.iter().map(|&kind| kind as u32).collect(),
            fields,
        })
    })
}
