//! How well groups of grains are mixed.

use crate::region::Region;
use glam::DVec3;
use seixo_engine::state::GrainSnapshot;

/// Indices of mixing over cells, by numbers of grains; not numbers where fewer than two groups are there or no cell holds two grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixing {
    /// Lacey's index \[Lacey 1954\]: 0 where every cell is of one group; 1 is what grains drawn at random give on the average.
    pub lacey: f64,
    /// Mean entropy of the cells over that of the whole: 0 where every cell is of one group, 1 where all have the same shares.
    pub entropy: f64,
    /// Cells with grains.
    pub cells: usize,
}

/// Mixing of the given groups in `cells` that divide the box `bounds`, or else the box around their centers; along periodic axes that is all of
/// the domain, and across their sides images count.
///
/// Lacey: M = (σ₀² − σ²) / (σ₀² − σ_r²) with the variance σ² of a group's share between cells, each weighted by its grains and summed over
/// groups; σ₀² = Σ P (1 − P) when segregated; σ_r² = σ₀² (K − 1) / (N − 1), the exact mean of σ² when N grains fill K cells at random.
pub fn mixing(grains: &GrainSnapshot, groups: &[u32], cells: [usize; 3], bounds: Option<(DVec3, DVec3)>) -> Mixing {
    let members = || {
        (0..grains.id.len()).filter_map(|i| {
            let group = groups.iter().position(|&group| group == grains.group[i])?;
            Some((DVec3::from(grains.position[i]), group))
        })
    };
    let (min, max) = bounds.unwrap_or_else(|| {
        let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (mut low, mut high) = members().fold(start, |(low, high), (center, _)| (low.min(center), high.max(center)));
        for axis in (0..3).filter(|&axis| grains.cell.is_periodic(axis)) {
            low[axis] = grains.cell.low[axis];
            high[axis] = low[axis] + grains.cell.length[axis];
        }
        (low, high)
    });
    let region = Region::Box { min, max }.in_cell(&grains.cell);
    let [low, high] = region.bounds();
    let inside = members().flat_map(|(center, group)| {
        region
            .images_of(center)
            .map(move |image| (center + DVec3::from(image.shift), group))
    });
    let shape = cells.map(|count| count as f64);
    let mut counts = vec![0.0; cells.iter().product::<usize>() * groups.len()];
    for (center, group) in inside {
        let place = (center - low) / (high - low) * DVec3::from(shape);
        // The box may be flat, and the upper faces belong to it.
        let index = |axis: usize| {
            if place[axis] > 0.0 {
                (place[axis] as usize).min(cells[axis] - 1)
            } else {
                0
            }
        };
        let cell = (index(2) * cells[1] + index(1)) * cells[0] + index(0);
        counts[cell * groups.len() + group] += 1.0;
    }
    let filled: Vec<&[f64]> = counts
        .chunks_exact(groups.len())
        .filter(|counts| counts.iter().any(|&count| count > 0.0))
        .collect();
    let of_group = |group: usize| filled.iter().map(|counts| counts[group]).sum::<f64>();
    let all: f64 = (0..groups.len()).map(of_group).sum();
    let whole: Vec<f64> = (0..groups.len()).map(|group| of_group(group) / all).collect();
    let entropy = |shares: &mut dyn Iterator<Item = f64>| -shares.filter(|&p| p > 0.0).map(|p| p * p.ln()).sum::<f64>();
    let (mut variance, mut disorder) = (0.0, 0.0);
    for counts in &filled {
        let number: f64 = counts.iter().sum();
        let apart = counts.iter().zip(&whole).map(|(&count, &share)| (count / number - share).powi(2));
        variance += number / all * apart.sum::<f64>();
        disorder += number / all * entropy(&mut counts.iter().map(|&count| count / number));
    }
    let segregated: f64 = whole.iter().map(|share| share * (1.0 - share)).sum();
    let random = segregated * (filled.len() as f64 - 1.0) / (all - 1.0);
    Mixing {
        lacey: (segregated - variance) / (segregated - random),
        entropy: disorder / entropy(&mut whole.iter().copied()),
        cells: filled.len(),
    }
}
