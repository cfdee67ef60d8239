//! Stress by Love and Weber.

use crate::ball;
use crate::region::Region;
use crate::tensor::{outer, pressure};
use glam::{DMat3, DVec3};
use seixo_engine::state::GrainSnapshot;
use seixo_engine::{ContactRecord, Partner};

/// The two parts of a mean stress \[Pa\], positive in compression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stress {
    /// By contacts.
    pub contact: DMat3,
    /// By grains that move apart from the mean, as in a gas.
    pub kinetic: DMat3,
}

/// Mean stress in a region: (1/V) Σ f ⊗ l over contacts (Love 1927, Weber 1966), each with the share of its branch l that is inside, which
/// makes it the exact mean of the field whose flux through every surface is the force across it; and (1/V) Σ m v′ ⊗ v′ over the grains whose
/// centers are inside, v′ being the velocity apart from their mean by mass.
pub fn stress_in(region: &Region, grains: &GrainSnapshot, contacts: &[ContactRecord]) -> Stress {
    let mut stress = Stress {
        contact: DMat3::ZERO,
        kinetic: DMat3::ZERO,
    };
    for contact in contacts {
        let (center, branch) = (DVec3::from(contact.center), DVec3::from(contact.branch));
        let share = region.share_of_line(center - branch, center);
        stress.contact += outer(contact.force().into(), branch) * share;
    }
    let inside: Vec<usize> = (0..grains.id.len())
        .filter(|&i| region.contains(grains.position[i].into()))
        .collect();
    let mass: f64 = inside.iter().map(|&i| grains.mass[i]).sum();
    let momentum: DVec3 = inside.iter().map(|&i| DVec3::from(grains.velocity[i]) * grains.mass[i]).sum();
    for i in inside {
        let apart = DVec3::from(grains.velocity[i]) - momentum / mass;
        stress.kinetic += outer(apart * grains.mass[i], apart);
    }
    let volume = region.volume();
    stress.contact *= 1.0 / volume;
    stress.kinetic *= 1.0 / volume;
    stress
}

/// Mean stress of contacts inside each grain \[Pa\], positive in compression: (1/V) Σ f ⊗ (x − x_c) over its own contacts, V the volume of
/// the grain itself. The stress of a packing is the mean of these times the solid fraction.
pub fn stress_of_grains(grains: &GrainSnapshot, contacts: &[ContactRecord]) -> Vec<DMat3> {
    let mut stress = vec![DMat3::ZERO; grains.id.len()];
    let mut add = |id: u32, force: DVec3, arm: DVec3| {
        if let Ok(i) = grains.id.binary_search(&id) {
            stress[i] += outer(force, arm) * (1.0 / ball::volume(grains.radius[i]));
        }
    };
    for contact in contacts {
        let force = DVec3::from(contact.force());
        let arm = DVec3::from(contact.center) - DVec3::from(contact.point);
        add(contact.a, force, arm);
        if let Partner::Grain(id) = contact.b {
            add(id, -force, arm - DVec3::from(contact.branch));
        }
    }
    stress
}

/// Mean pressure of contacts inside each grain \[Pa\].
pub fn pressure_of_grains(grains: &GrainSnapshot, contacts: &[ContactRecord]) -> Vec<f64> {
    stress_of_grains(grains, contacts).iter().map(pressure).collect()
}
