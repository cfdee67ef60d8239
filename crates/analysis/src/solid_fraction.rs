//! The share of a region that grains fill.

use crate::polyhedron::ShapeSolid;
use crate::region::{Region, RegionInCell};
use glam::{DQuat, DVec3};
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{PolyhedralShape, volume_of_sphere};
use std::cell::OnceCell;

/// A polyhedral grain in space.
struct PlacedShape<'a> {
    shape: &'a PolyhedralShape,
    /// What is cut, made where the first grain of the shape is cut.
    solid: &'a OnceCell<ShapeSolid>,
    /// Center of mass \[m\].
    center: DVec3,
    /// Radius of the bounding sphere \[m\].
    scale: f64,
    orientation: DQuat,
}

impl PlacedShape<'_> {
    /// Its volume inside a region, of all of its images together \[m³\].
    fn volume_in(&self, region: &RegionInCell) -> f64 {
        let (scale, whole) = (self.scale, self.shape.volume_at(self.scale));
        let mut volume = 0.0;
        for image in region.reaching(self.center - scale, self.center + scale) {
            let center = self.center + DVec3::from(image.shift);
            volume += match region.region().planes() {
                Some(planes) => self.volume_behind(planes, center, whole),
                None => {
                    let radius = (whole / volume_of_sphere(1.0)).cbrt();
                    region.region().volume_of_ball(center, radius)
                }
            };
        }
        volume
    }

    /// Volume of its image at this center behind all of these planes, of its whole volume \[m³\].
    fn volume_behind(&self, planes: [(DVec3, f64); 6], center: DVec3, whole: f64) -> f64 {
        let to_shape = self.orientation.conjugate();
        let cuts = planes.map(|(normal, offset)| (to_shape * normal, (offset - normal.dot(center)) / self.scale));
        if cuts.iter().any(|&(_, offset)| offset <= -1.0) {
            return 0.0;
        }
        if cuts.iter().all(|&(_, offset)| offset >= 1.0) {
            return whole;
        }
        let near: Vec<(DVec3, f64)> = cuts.into_iter().filter(|&(_, offset)| offset < 1.0).collect();
        let solid = self.solid.get_or_init(|| ShapeSolid::of(self.shape));
        solid.volume_inside(&near) * self.scale.powi(3)
    }
}

/// Volume of the grains inside a region over its volume \[-\]; where grains overlap, both count. Polyhedra that a box cuts count with the part of their
/// shape that is inside. A round region cuts the ball of the same volume about their center of mass.
pub fn solid_fraction(region: &Region, grains: &GrainSnapshot) -> f64 {
    let region = region.in_cell(&grains.cell);
    let solids: Vec<OnceCell<ShapeSolid>> = grains.shapes.iter().map(|_| OnceCell::new()).collect();
    let volume_of = |k: usize| {
        let (center, radius) = (DVec3::from(grains.position[k]), grains.radius[k]);
        let Some(shape) = grains.shape_of(k) else {
            return region.volume_of_ball(center, radius);
        };
        let [w, x, y, z] = grains.orientation[k];
        let placed = PlacedShape {
            shape,
            solid: &solids[grains.shape[k] as usize - 1],
            center,
            scale: radius,
            orientation: DQuat::from_xyzw(x, y, z, w),
        };
        placed.volume_in(&region)
    };
    (0..grains.position.len()).map(volume_of).sum::<f64>() / region.volume()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Polyhedron, RigidMotion};
    use std::f64::consts::PI;

    const EDGE: f64 = 16e-3;

    /// Four dice side by side, and a capsule far away along x.
    fn dice_and_capsule() -> GrainSnapshot {
        let die = Polyhedron::block([13e-3; 3]).unwrap().grain_shape("die", 1.5e-3).unwrap();
        let ends = [-12e-3, 12e-3].map(|z| DVec3::Z * z);
        let capsule = Polyhedron::segment(ends).grain_shape("capsule", 8e-3).unwrap();
        let turn = |rotation| {
            let turn = DQuat::from_mat3(&rotation);
            [turn.w, turn.x, turn.y, turn.z]
        };
        let mut orientation = vec![turn(die.rotation); 4];
        orientation.push(turn(capsule.rotation));
        GrainSnapshot {
            id: (0..5).collect(),
            position: vec![[0.0; 3], [EDGE, 0.0, 0.0], [0.0, EDGE, 0.0], [EDGE, EDGE, 0.0], [0.1, 0.0, 0.0]],
            radius: vec![die.radius, die.radius, die.radius, die.radius, capsule.radius],
            shape: vec![1, 1, 1, 1, 2],
            shapes: [die.shape, capsule.shape].into(),
            orientation,
            ..GrainSnapshot::default()
        }
    }

    #[test]
    fn polyhedra_fill_what_their_shapes_fill() {
        let grains = dice_and_capsule();
        let between = |min: [f64; 3], max: [f64; 3]| Region::Box {
            min: DVec3::from(min) * 1e-3,
            max: DVec3::from(max) * 1e-3,
        };
        // Inside one die.
        let inner = between([-4.0; 3], [4.0; 3]);
        assert!((solid_fraction(&inner, &grains) - 1.0).abs() < 1e-9);
        // In the middle of four: full but for what the four round edges along z leave free. Those across are above and below.
        let middle = between([-4.0, -4.0, -4.0], [20.0, 20.0, 4.0]);
        let groove = (1.0 - 0.25 * PI) * 1.5 * 1.5;
        let expected = 1.0 - 4.0 * groove / (24.0 * 24.0);
        let found = solid_fraction(&middle, &grains);
        assert!((found - expected).abs() < 1e-3, "{found} {expected}");
        // A box around the capsule, and around the same one that is turned with it.
        let around = between([90.0, -10.0, -25.0], [110.0, 10.0, 25.0]);
        let volume = PI * 64.0 * 24.0 + 4.0 / 3.0 * PI * 512.0;
        let expected = volume / (20.0 * 20.0 * 50.0);
        assert!((solid_fraction(&around, &grains) / expected - 1.0).abs() < 1e-9);
        let about = RigidMotion::new([0.0; 3], [1.0, 0.0, 0.0, 0.0]);
        assert!((solid_fraction(&around.moved(&about), &grains) / expected - 1.0).abs() < 1e-9);
        // Half of it.
        let half = between([90.0, -10.0, -25.0], [110.0, 10.0, 0.0]);
        assert!((solid_fraction(&half, &grains) / expected - 1.0).abs() < 1e-3);
        // A ball around all of it.
        let ball = Region::Sphere {
            center: DVec3::X * 0.1,
            radius: 0.03,
        };
        let expected = volume / (4.0 / 3.0 * PI * 27_000.0);
        assert!((solid_fraction(&ball, &grains) / expected - 1.0).abs() < 1e-9);
        assert!((grains.volume_of(4) / (volume * 1e-9) - 1.0).abs() < 1e-9);
    }
}
