//! How contacts are directed, and how many a grain has.

use crate::region::Region;
use crate::tensor::{deviatoric, outer};
use glam::{DMat3, DVec3};
use seixo_engine::state::GrainSnapshot;
use seixo_engine::{ContactRecord, Partner};

/// Numbers of contacts that are told apart: 0 to 11, and 12 or more.
pub const SHARES: usize = 13;

/// Directions of the contacts between grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    /// Mean of n ⊗ n over the contacts (Satake 1982); its trace is 1, and it is a third of the unit tensor where no direction is preferred.
    /// Not a number without contacts.
    pub tensor: DMat3,
    /// Contacts counted.
    pub contacts: usize,
}

impl Fabric {
    /// a = √(3/2 A:A) with A = 15/2 dev F: the amplitude by which contacts are more frequent in some directions,
    /// E(n) = (1 + n·A n) / 4π (Rothenburg & Bathurst 1989, in space).
    pub fn anisotropy(&self) -> f64 {
        7.5 * deviatoric(&self.tensor)
    }
}

/// Fabric of the contacts between grains whose contact points are in a region, or of all.
pub fn fabric(region: Option<&Region>, contacts: &[ContactRecord]) -> Fabric {
    let (mut sum, mut count) = (DMat3::ZERO, 0u32);
    for contact in contacts {
        let is_inside = region.is_none_or(|region| region.contains(contact.point.into()));
        if matches!(contact.b, Partner::Grain(_)) && is_inside {
            let normal = DVec3::from(contact.normal);
            sum += outer(normal, normal);
            count += 1;
        }
    }
    Fabric {
        tensor: sum * (1.0 / f64::from(count)),
        contacts: count as usize,
    }
}

/// How many contacts grains have, walls included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordination {
    /// Mean number of contacts; not a number without grains.
    pub mean: f64,
    /// Mean number of those with two or more, that carry something (Thornton 2000); not a number without such grains.
    pub without_rattlers: f64,
    /// Share of the grains with one contact or none.
    pub rattlers: f64,
    /// Share of the grains with 0, 1, …, 11, and with 12 or more contacts.
    pub shares: [f64; SHARES],
}

/// Coordination of the grains whose centers are in a region, or of all.
pub fn coordination(region: Option<&Region>, grains: &GrainSnapshot) -> Coordination {
    let (mut counts, mut contacts) = ([0.0; SHARES], 0.0);
    for (&center, &touches) in grains.position.iter().zip(&grains.coordination) {
        if region.is_none_or(|region| region.contains(center.into())) {
            counts[(touches as usize).min(SHARES - 1)] += 1.0;
            contacts += f64::from(touches);
        }
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
