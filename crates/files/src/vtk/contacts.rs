//! Contacts as lines.

use super::read::{count_of, find, read, time, vectors};
use super::{ArrayStore, Document, Format, Values};
use crate::FilesError;
use seixo_engine::{ContactRecord, Partner};
use std::path::Path;

/// The contacts at one time \[s\] as a `.vtp`: lines between the centers of two grains, or from a wall to a center, with normal force
/// (positive: repulsive) and tangential force \[N\], overlap \[m\], the ids a and b – of a wall its index, where is_wall is 1 – and whether the
/// contact is a link of a force chain.
pub fn contacts(records: &[ContactRecord], is_in_chain: &[bool], time: f64) -> Vec<u8> {
    Format::default().contacts(records, is_in_chain, time)
}

impl Format {
    /// As [`contacts`], in this format.
    pub fn contacts(self, records: &[ContactRecord], is_in_chain: &[bool], time: f64) -> Vec<u8> {
        let count = records.len();
        let mut document = Document::new(ArrayStore::new(self), (time, ""), 2 * count, &format!(r#"NumberOfLines="{count}""#));
        let ends: Vec<[f64; 3]> = records.iter().flat_map(ends_of).collect();
        let normal: Vec<f64> = records.iter().map(along).collect();
        let tangential: Vec<[f64; 3]> = records.iter().map(|record| record.tangential_force).collect();
        let overlap: Vec<f64> = records.iter().map(|record| record.overlap).collect();
        let integers = |of: fn(&ContactRecord) -> u32| records.iter().map(of).collect::<Vec<u32>>();
        let (a, is_wall) = (
            integers(|record| record.a),
            integers(|record| u32::from(matches!(record.b, Partner::Wall(_)))),
        );
        let b = integers(|record| match record.b {
            Partner::Grain(id) => id,
            Partner::Wall(index) => index,
        });
        let chained: Vec<u32> = is_in_chain.iter().map(|&is_link| is_link.into()).collect();
        document.group(
            r#"CellData Scalars="normal_force""#,
            &[
                ("normal_force", Values::Scalars32(&normal)),
                ("tangential_force", Values::Vectors32(&tangential)),
                ("overlap", Values::Scalars32(&overlap)),
                ("is_in_chain", Values::Integers(&chained)),
                ("a", Values::Integers(&a)),
                ("b", Values::Integers(&b)),
                ("is_wall", Values::Integers(&is_wall)),
            ],
        );
        document.lines(&ends);
        document.finish()
    }
}

/// From the center of the other grain, or a wall, to the center of the grain \[m\].
fn ends_of(record: &ContactRecord) -> [[f64; 3]; 2] {
    [[0, 1, 2].map(|k| record.center[k] - record.branch[k]), record.center]
}

/// The normal force, positive where it pushes apart \[N\].
fn along(record: &ContactRecord) -> f64 {
    (0..3).map(|k| record.normal_force[k] * record.normal[k]).sum()
}

/// Contacts of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VtkContacts {
    /// Time \[s\].
    pub time: f64,
    /// Both ends of each line \[m\].
    pub ends: Vec<[[f64; 3]; 2]>,
    /// Normal forces \[N\].
    pub normal_force: Vec<f64>,
    /// Tangential forces \[N\].
    pub tangential_force: Vec<[f64; 3]>,
    /// Whether each is a link of a force chain.
    pub is_in_chain: Vec<bool>,
    /// Id of the grain and of the other grain of each, or its wall by its number.
    pub partners: Vec<(u32, Option<u32>, u32)>,
}

impl VtkContacts {
    /// The contacts at one time \[s\], as they would be read back from a file of [`contacts`].
    pub fn of(records: &[ContactRecord], is_in_chain: Vec<bool>, time: f64) -> VtkContacts {
        let partners = |record: &ContactRecord| match record.b {
            Partner::Grain(id) => (record.a, Some(id), id),
            Partner::Wall(index) => (record.a, None, index),
        };
        VtkContacts {
            time,
            ends: records.iter().map(ends_of).collect(),
            normal_force: records.iter().map(along).collect(),
            tangential_force: records.iter().map(|record| record.tangential_force).collect(),
            is_in_chain,
            partners: records.iter().map(partners).collect(),
        }
    }
}

/// Reads a file that [`contacts`] made.
pub fn read_contacts(path: &Path) -> Result<VtkContacts, FilesError> {
    read(path, |content| {
        let lines = count_of(content.text, "NumberOfLines", "lines")?;
        let points = vectors(find(content, "position")?.values(lines, 6)?);
        let [a, b, is_wall] = ["a", "b", "is_wall"].map(|name| find(content, name)?.values(lines, 1));
        let partners = a?.into_iter().zip(b?).zip(is_wall?);
        Ok(VtkContacts {
            partners: partners
                .map(|((a, b), is_wall)| (a as u32, (is_wall == 0.0).then_some(b as u32), b as u32))
                .collect(),
            time: time(content)?,
            ends: points.as_chunks().0.to_vec(),
            normal_force: find(content, "normal_force")?.values(lines, 1)?,
            tangential_force: vectors(find(content, "tangential_force")?.values(lines, 3)?),
            is_in_chain: find(content, "is_in_chain")?
                .values(lines, 1)?
                .iter()
                .map(|&link| link > 0.0)
                .collect(),
        })
    })
}
