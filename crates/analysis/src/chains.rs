//! Force chains: which grains carry more than their share, one behind the other.

use crate::stress::stress_of_grains;
use crate::tensor::principal;
use glam::DVec3;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::{BondSnapshot, ContactRecord, Partner};
use std::f64::consts::FRAC_1_SQRT_2;

/// Grains of the shortest chain.
const SHORTEST: usize = 3;

/// The force chains of a packing.
#[derive(Clone, Debug, PartialEq)]
pub struct Chains {
    /// Whether each contact is a link of a chain.
    pub is_link: Vec<bool>,
    /// Grains in each chain.
    pub lengths: Vec<usize>,
}

/// Force chains after \[Peters 2005\].
///
/// Grains are taken whose largest principal stress, by contacts and bonds, is above the mean of all that are loaded. Two of them that touch are linked if the line
/// between their centers is within 45° of the direction of that stress in both; what is linked and has three grains or more is a chain.
/// The source walks from grain to grain and needs the angle at one end only; asking it of both makes the answer independent of where the
/// walk begins, and lets chains branch where stresses turn.
pub fn force_chains(grains: &GrainSnapshot, contacts: &[ContactRecord], bonds: &[BondSnapshot]) -> Chains {
    let loads: Vec<(f64, DVec3)> = stress_of_grains(grains, contacts, bonds)
        .iter()
        .map(|stress| principal(stress)[0])
        .collect();
    let loaded: Vec<f64> = loads.iter().map(|load| load.0).filter(|&load| load > 0.0).collect();
    let mean = loaded.iter().sum::<f64>() / loaded.len() as f64;
    let index = |id: u32| grains.id.binary_search(&id).ok();
    let linked = |contact: &ContactRecord| {
        let Partner::Grain(b) = contact.b else { return None };
        let ends = [index(contact.a)?, index(b)?];
        let along = |&i: &usize| loads[i].1.dot(contact.normal.into()).abs() >= FRAC_1_SQRT_2;
        ends.iter().all(|i| loads[*i].0 > mean && along(i)).then_some(ends)
    };
    let links: Vec<Option<[usize; 2]>> = contacts.iter().map(linked).collect();
    let mut chain_of: Vec<usize> = (0..loads.len()).collect();
    for [a, b] in links.iter().flatten() {
        let [first, second] = [*a, *b].map(|grain| first_of(&mut chain_of, grain));
        chain_of[first.max(second)] = first.min(second);
    }
    let mut lengths = vec![0; loads.len()];
    for grain in 0..loads.len() {
        lengths[first_of(&mut chain_of, grain)] += 1;
    }
    let mut is_long = |[grain, _]: [usize; 2]| lengths[first_of(&mut chain_of, grain)] >= SHORTEST;
    Chains {
        is_link: links.into_iter().map(|link| link.is_some_and(&mut is_long)).collect(),
        lengths: lengths.into_iter().filter(|&length| length >= SHORTEST).collect(),
    }
}

/// The first grain of the chain that a grain is in; the way there is shortened.
fn first_of(chain_of: &mut [usize], mut grain: usize) -> usize {
    while chain_of[grain] != grain {
        chain_of[grain] = chain_of[chain_of[grain]];
        grain = chain_of[grain];
    }
    grain
}
