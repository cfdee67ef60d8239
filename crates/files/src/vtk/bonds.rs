//! Bonds as lines.

use super::{Document, Values};
use seixo_engine::BondSnapshot;

/// The bonds that hold at one time \[s\] as a `.vtp`: lines between the centers of their grains, with the force on the second of them \[N\], axial
/// force (positive: it pulls) and force across \[N\], bending and torsion moments \[N m\], elastic energy \[J\], the share of the strength that is
/// used, the kind by its number, and the ids of the two grains.
pub fn bonds(bonds: &[BondSnapshot], time: f64) -> Vec<u8> {
    let count = bonds.len();
    let mut document = Document::new(time, "", 2 * count, &format!(r#"NumberOfLines="{count}""#));
    let numbers = |of: fn(&BondSnapshot) -> f64| bonds.iter().map(of).collect::<Vec<f64>>();
    let integers = |of: fn(&BondSnapshot) -> u32| bonds.iter().map(of).collect::<Vec<u32>>();
    let force: Vec<[f64; 3]> = bonds.iter().map(|bond| bond.force).collect();
    document.group(
        r#"CellData Scalars="used""#,
        &[
            ("used", Values::Scalars32(&numbers(|bond| bond.used))),
            ("force", Values::Vectors32(&force)),
            ("tension", Values::Scalars32(&numbers(|bond| bond.tension))),
            ("shear", Values::Scalars32(&numbers(|bond| bond.shear))),
            ("bending", Values::Scalars32(&numbers(|bond| bond.bending))),
            ("torsion", Values::Scalars32(&numbers(|bond| bond.torsion))),
            ("energy", Values::Scalars32(&numbers(|bond| bond.energy))),
            ("kind", Values::Integers(&integers(|bond| bond.kind))),
            ("first", Values::Integers(&integers(|bond| bond.grains[0]))),
            ("second", Values::Integers(&integers(|bond| bond.grains[1]))),
        ],
    );
    let ends: Vec<[f64; 3]> = bonds.iter().flat_map(|bond| bond.ends).collect();
    document.lines(&ends);
    document.finish()
}
