//! Strain of a group of grains: how it is deformed as a whole, fitted to the displacements of its grains.

use crate::region::Region;
use crate::tensor::{outer, principal};
use glam::{DMat3, DVec3};
use seixo_engine::state::GrainSnapshot;

/// Determinant of the second moment of places over the cube of its mean value below which they lie in a plane: some 10⁻⁶ as thick as wide.
const FLAT: f64 = 1e-12;

/// Where grains were when their strain was zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unstrained {
    /// Their ids, ascending.
    pub id: Vec<u32>,
    /// Their centers then \[m\].
    pub position: Vec<[f64; 3]>,
}

impl Unstrained {
    /// The grains of a group as they stand, or those of them whose centers are in a region.
    pub fn of(group: u32, region: Option<&Region>, grains: &GrainSnapshot) -> Unstrained {
        let is_meant = |&k: &usize| grains.group[k] == group && region.is_none_or(|region| region.contains(grains.position[k].into()));
        let meant: Vec<usize> = (0..grains.id.len()).filter(is_meant).collect();
        Unstrained {
            id: meant.iter().map(|&k| grains.id[k]).collect(),
            position: meant.iter().map(|&k| grains.position[k]).collect(),
        }
    }
}

/// How a group of grains is deformed as a whole, positive in compression, as stresses are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strain {
    /// 1 − U, along axes that do not turn with the grains \[-\].
    pub tensor: DMat3,
    /// Lost volume over volume, 1 − det F \[-\].
    pub volumetric: f64,
}

/// Strain of grains since they were unstrained: of the deformation F that takes them nearest to where they are, by least squares,
/// F = Σ (x − x̄) ⊗ (X − X̄) · (Σ (X − X̄) ⊗ (X − X̄))⁻¹, with all grains alike. Of F = R U only the stretch U counts, as in Biot's strain
/// U − 1: a turn of the whole, however far, is none, and along a principal axis it is length gained over length. Grains that left are left
/// out. Not a number for fewer than four grains, and for grains in a plane.
pub fn strain(unstrained: &Unstrained, grains: &GrainSnapshot) -> Strain {
    let now = |id: &u32| grains.id.binary_search(id).ok().map(|index| DVec3::from(grains.position[index]));
    let then = unstrained.id.iter().zip(&unstrained.position);
    let ways: Vec<[DVec3; 2]> = then
        .filter_map(|(id, &then)| Some([DVec3::from(then), now(id)? - DVec3::from(then)]))
        .collect();
    let mean = |k: usize| ways.iter().map(|way| way[k]).sum::<DVec3>() / ways.len() as f64;
    let (center, shift) = (mean(0), mean(1));
    let (mut moment, mut product) = (DMat3::ZERO, DMat3::ZERO);
    for [then, way] in &ways {
        let arm = *then - center;
        moment += outer(arm, arm);
        product += outer(*way - shift, arm);
    }
    let width = (moment.x_axis.x + moment.y_axis.y + moment.z_axis.z) / 3.0;
    let is_solid = moment.determinant() > FLAT * width.powi(3);
    let inverse = if is_solid { moment.inverse() } else { DMat3::NAN };
    // Of displacements, not of places, so that small strains keep their digits: F = 1 + H, and U² = FᵀF = 1 + 2G.
    let gradient = product * inverse;
    let green = (gradient + gradient.transpose() + gradient.transpose() * gradient) * 0.5;
    let mut tensor = DMat3::ZERO;
    for (value, direction) in principal(&green) {
        let stretch = 2.0 * value / (1.0 + (1.0 + 2.0 * value).sqrt());
        tensor += outer(direction, direction) * -stretch;
    }
    Strain {
        tensor,
        volumetric: 1.0 - (DMat3::IDENTITY + gradient).determinant(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grains(places: impl Iterator<Item = DVec3>) -> GrainSnapshot {
        let position: Vec<[f64; 3]> = places.map(|place| place.to_array()).collect();
        GrainSnapshot {
            id: (0..).take(position.len()).collect(),
            group: vec![0; position.len()],
            position,
            ..GrainSnapshot::default()
        }
    }

    /// Places in no order.
    fn places() -> impl Iterator<Item = DVec3> {
        (0..20).map(|k| {
            let k = f64::from(k);
            DVec3::new((1.3 * k).sin(), (2.1 * k).cos(), (0.7 * k * k).sin())
        })
    }

    fn largest(tensor: DMat3) -> f64 {
        assert!(tensor.is_finite(), "{tensor}");
        tensor.to_cols_array().into_iter().map(f64::abs).fold(0.0, f64::max)
    }

    #[test]
    fn an_affine_motion_has_the_strain_of_its_stretch_and_a_turn_has_none() {
        let stretches = [
            DMat3::IDENTITY,
            DMat3::from_cols_array_2d(&[[1.002, 3e-4, -1e-3], [3e-4, 0.99, 2e-3], [-1e-3, 2e-3, 0.995]]),
        ];
        let axis = DVec3::new(1.0, -2.0, 0.5).normalize();
        let before = Unstrained::of(0, None, &grains(places()));
        for stretch in stretches {
            for angle in [0.0, 1e-3, 2.0] {
                let turn = DMat3::from_axis_angle(axis, angle);
                let now = grains(places().map(|place| turn * (stretch * place) + DVec3::new(3.0, -1.0, 0.5)));
                let found = strain(&before, &now);
                let off = largest(found.tensor - (DMat3::IDENTITY - stretch));
                assert!(off < 1e-13, "turned by {angle}: {found:?}");
                assert!((found.volumetric - (1.0 - stretch.determinant())).abs() < 1e-13, "{found:?}");
            }
        }
    }

    #[test]
    fn small_strains_keep_their_digits() {
        let now = grains(places().map(|place| place * (1.0 - 1e-9)));
        let found = strain(&Unstrained::of(0, None, &grains(places())), &now);
        assert!(
            largest(found.tensor - DMat3::IDENTITY * 1e-9) < 1e-15 && (found.volumetric - 3e-9).abs() < 1e-15,
            "{found:?}"
        );
    }

    #[test]
    fn what_left_what_came_and_what_was_elsewhere_does_not_count() {
        let mut start = grains(places());
        start.group[3] = 1;
        let region = Region::Sphere {
            center: DVec3::ZERO,
            radius: 1.2,
        };
        let inside = Unstrained::of(0, Some(&region), &start);
        assert!(!inside.id.contains(&3) && inside.id.len() < 19 && inside.id.len() > 4, "{inside:?}");
        let squeezed = |place: DVec3| if place.length() < 1.2 { place * 0.99 } else { place * 3.0 };
        let mut now = grains(places().map(squeezed));
        now.position[3] = [9.0; 3];
        let gone = inside.id[0] as usize;
        now.id.remove(gone);
        now.position.remove(gone);
        now.id.push(77);
        now.position.push([5.0; 3]);
        let found = strain(&inside, &now);
        assert!(largest(found.tensor - DMat3::IDENTITY * 0.01) < 1e-14, "{found:?}");
    }

    #[test]
    fn too_few_grains_and_grains_in_a_plane_have_none() {
        let flat = || places().map(|place| DVec3::new(place.x, place.y, 1.0));
        let (few, none) = (|| places().take(3), places().take(0));
        for (before, now) in [
            (grains(flat()), grains(flat())),
            (grains(few()), grains(few())),
            (grains(none), grains(places())),
        ] {
            let found = strain(&Unstrained::of(0, None, &before), &now);
            assert!(found.tensor.x_axis.x.is_nan() && found.volumetric.is_nan(), "{found:?}");
        }
    }
}
