//! How contacts are directed, and how many a grain has.

use crate::region::Region;
use crate::tensor::{deviatoric, outer};
use glam::{DMat3, DVec3};
use seixo_engine::state::GrainSnapshot;
use seixo_engine::{ContactRecord, Partner, PeriodicCell};

/// Numbers of contacts that are distinguished: 0 to 11, and 12 or more.
pub const SHARES: usize = 13;

/// Directions of the contacts between grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    /// Mean of n ⊗ n over the contacts \[Satake 1982\]; its trace is 1, and it is a third of the unit tensor where no direction is preferred.
    /// Not a number without contacts.
    pub tensor: DMat3,
    /// Contacts counted.
    pub contacts: usize,
}

impl Fabric {
    /// a = √(3/2 A:A) with A = 15/2 dev F: the amplitude by which contacts are more frequent in some directions,
    /// E(n) = (1 + n·A n) / 4π (\[Rothenburg 1989\], in space).
    pub fn anisotropy(&self) -> f64 {
        7.5 * deviatoric(&self.tensor)
    }
}

/// In how many images a point is inside of a region of a cell, and once where there is no region.
fn counter(region: Option<&Region>, cell: &PeriodicCell) -> impl Fn([f64; 3]) -> usize + use<> {
    let region = region.map(|region| region.in_cell(cell));
    move |point: [f64; 3]| region.map_or(1, |region| region.count(point.into()))
}

/// Fabric of the contacts between grains whose contact points are in a region, or of all, in the cell that the grains are in.
pub fn fabric(region: Option<&Region>, cell: &PeriodicCell, contacts: &[ContactRecord]) -> Fabric {
    let times_inside = counter(region, cell);
    let (mut sum, mut count) = (DMat3::ZERO, 0);
    for contact in contacts.iter().filter(|contact| matches!(contact.b, Partner::Grain(_))) {
        let times = times_inside(contact.point);
        let normal = DVec3::from(contact.normal);
        sum += outer(normal, normal) * times as f64;
        count += times;
    }
    Fabric {
        tensor: sum * (1.0 / count as f64),
        contacts: count,
    }
}

/// How many contacts grains have, walls included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordination {
    /// Mean number of contacts; not a number without grains.
    pub mean: f64,
    /// Mean number of those with two or more, that carry something \[Thornton 2000\]; not a number without such grains.
    pub without_rattlers: f64,
    /// Share of the grains with one contact or none.
    pub rattlers: f64,
    /// Share of the grains with 0, 1, …, 11, and with 12 or more contacts.
    pub shares: [f64; SHARES],
}

/// Coordination of the grains whose centers are in a region, or of all.
pub fn coordination(region: Option<&Region>, grains: &GrainSnapshot) -> Coordination {
    let times_inside = counter(region, &grains.cell);
    let (mut counts, mut contacts) = ([0.0; SHARES], 0.0);
    for (&center, &touches) in grains.position.iter().zip(&grains.coordination) {
        let times = times_inside(center) as f64;
        counts[(touches as usize).min(SHARES - 1)] += times;
        contacts += times * f64::from(touches);
    }
    let all: f64 = counts.iter().sum();
    let idle = counts[0] + counts[1];
    Coordination {
        mean: contacts / all,
        without_rattlers: (contacts - counts[1]) / (all - idle),
        rattlers: idle / all,
        shares: counts.map(|count| count / all),
    }
}
