//! Stress by Love and Weber.

use crate::region::Region;
use crate::tensor::{outer, pressure};
use glam::{DMat3, DVec3};
use seixo_engine::state::GrainSnapshot;
use seixo_engine::{BondSnapshot, ContactRecord, Partner};

/// The two parts of a mean stress \[Pa\], positive in compression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stress {
    /// By contacts and bonds.
    pub contact: DMat3,
    /// By grains that move apart from the mean, as in a gas, and from the flow of sides that slide.
    pub kinetic: DMat3,
}

/// A force, and the straight line along which it is carried.
pub(crate) struct Carried {
    /// Force on what is at the end \[N\]; what is at the start gets the opposite.
    pub force: DVec3,
    /// Where the line ends \[m\].
    pub end: DVec3,
    /// From its start to its end \[m\].
    pub branch: DVec3,
}

/// What contacts and bonds carry. Of a bond the first grain is at the start and the second at the end, as its force is that on the second.
pub(crate) fn carried(contacts: &[ContactRecord], bonds: &[BondSnapshot]) -> impl Iterator<Item = Carried> {
    let by_contact = |contact: &ContactRecord| Carried {
        force: contact.force().into(),
        end: contact.center.into(),
        branch: contact.branch.into(),
    };
    let by_bond = |bond: &BondSnapshot| Carried {
        force: bond.force.into(),
        end: bond.ends[1].into(),
        branch: branch_of(bond),
    };
    contacts.iter().map(by_contact).chain(bonds.iter().map(by_bond))
}

/// From the center of a bond's first grain to that of the image of the second next to it \[m\].
pub(crate) fn branch_of(bond: &BondSnapshot) -> DVec3 {
    let [start, end] = bond.ends.map(DVec3::from);
    end - start
}

/// Velocity of grain i apart from the simple shear of its cell \[m/s\], its peculiar velocity \[Irving 1950\]: all of
/// its images have the same. Without shear, its velocity.
pub(crate) fn peculiar(grains: &GrainSnapshot, i: usize) -> DVec3 {
    DVec3::from(grains.velocity[i]) - DVec3::from(grains.cell.streaming(grains.position[i]))
}

/// Mean stress in a region: (1/V) Σ f ⊗ l over contacts and bonds \[Love 1927; Weber 1966\], each with the share of its branch l that is inside,
/// which makes it the exact mean of the field whose flux through every surface is the force across it; and (1/V) Σ m v′ ⊗ v′ over the grains
/// whose centers are inside, v′ being the velocity apart from their mean by mass; where sides slide, of velocities apart from the shear that these impose.
/// Across periodic sides images count as what they are images of.
pub fn stress_in(region: &Region, grains: &GrainSnapshot, contacts: &[ContactRecord], bonds: &[BondSnapshot]) -> Stress {
    let mut stress = Stress {
        contact: DMat3::ZERO,
        kinetic: DMat3::ZERO,
    };
    let region = region.in_cell(&grains.cell);
    for Carried { force, end, branch } in carried(contacts, bonds) {
        stress.contact += outer(force, branch) * region.share_of_line(end - branch, end);
    }
    let moving = |i: usize| {
        let (mass, velocity) = (grains.mass[i], peculiar(grains, i));
        let images = region.images_of(grains.position[i].into());
        images.map(move |_| (mass, velocity))
    };
    let inside: Vec<(f64, DVec3)> = (0..grains.id.len()).flat_map(moving).collect();
    let mass: f64 = inside.iter().map(|(mass, _)| mass).sum();
    let momentum: DVec3 = inside.iter().map(|&(mass, velocity)| velocity * mass).sum();
    for (its, velocity) in inside {
        let apart = velocity - momentum / mass;
        stress.kinetic += outer(apart * its, apart);
    }
    let volume = region.volume();
    stress.contact *= 1.0 / volume;
    stress.kinetic *= 1.0 / volume;
    stress
}

/// Mean stress of contacts and bonds inside each grain \[Pa\], positive in compression: (1/V) Σ f ⊗ (x − x_c) over its own, V the volume of
/// the grain itself. The stress of a packing is the mean of these times the solid fraction. A bond pulls where its line passes from the one
/// grain to the other, at distances from their centers that are as their radii.
pub fn stress_of_grains(grains: &GrainSnapshot, contacts: &[ContactRecord], bonds: &[BondSnapshot]) -> Vec<DMat3> {
    let mut stress = vec![DMat3::ZERO; grains.id.len()];
    let place_of = |id: u32| grains.id.binary_search(&id).ok();
    let mut add = |id: u32, force: DVec3, arm: DVec3| {
        if let Some(i) = place_of(id) {
            stress[i] += outer(force, arm) * (1.0 / grains.volume_of(i));
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
    for bond in bonds {
        if let [Some(i), Some(j)] = bond.grains.map(place_of) {
            let (force, branch) = (DVec3::from(bond.force), branch_of(bond));
            let share = grains.radius[i] / (grains.radius[i] + grains.radius[j]);
            add(bond.grains[0], -force, -branch * share);
            add(bond.grains[1], force, branch * (1.0 - share));
        }
    }
    stress
}

/// Mean pressure of contacts and bonds inside each grain \[Pa\].
pub fn pressure_of_grains(grains: &GrainSnapshot, contacts: &[ContactRecord], bonds: &[BondSnapshot]) -> Vec<f64> {
    stress_of_grains(grains, contacts, bonds).iter().map(pressure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Polyhedron;

    #[test]
    fn a_die_at_rest_has_the_pressure_of_its_weight_over_its_own_volume() {
        let die = Polyhedron::block([13e-3; 3]).unwrap().grain_shape("die", 1.5e-3).unwrap();
        let (half, volume) = (8e-3, die.shape.volume_at(die.radius));
        let weight = 1200.0 * 9.81 * volume;
        let grains = GrainSnapshot {
            id: vec![7],
            position: vec![[0.0, 0.0, half]],
            radius: vec![die.radius],
            shape: vec![1],
            shapes: [die.shape].into(),
            ..GrainSnapshot::default()
        };
        let corner = |[x, y]: [f64; 2]| ContactRecord {
            a: 7,
            b: Partner::Wall(0),
            center: [0.0, 0.0, half],
            point: [x, y, 0.0],
            branch: [-x, -y, half],
            normal: [0.0, 0.0, 1.0],
            overlap: 0.0,
            normal_force: [0.0, 0.0, 0.25 * weight],
            tangential_force: [0.0; 3],
        };
        let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|signs| corner(signs.map(|sign| 6.5e-3 * sign)));
        let found = pressure_of_grains(&grains, &corners, &[])[0];
        // A third of ρ g h, with the center at the height h.
        assert!((found / (1200.0 * 9.81 * half / 3.0) - 1.0).abs() < 1e-12, "{found}");
    }
}
