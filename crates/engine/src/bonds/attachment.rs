//! Where bonds of polyhedral grains end: on the line through the centroid of the common face, along its normal, beside the centers of the grains.

use super::common_face::{CommonFace, PlacedShape, common_face};
use super::plan::BondPositions;
use crate::world::CrossSection;
use seixo_laws::Vector3;
use seixo_laws::motion::inertia;
use seixo_sweeps::bodies::orientation_at;
use seixo_sweeps::bonds::ATTACHMENT;
use seixo_sweeps::layout::{RECORD, load, store};
use std::f64::consts::PI;

/// Where a bond ends, and the radii that its law takes for those of the grains.
///
/// The smaller radius is that of the cross-section of a bond of share one, which has the area of the common face. The difference of both is that of the
/// distances of the centers from the face, so that a point bond is in the plane of the face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Attachment {
    /// Vectors from the center of each grain to the end of the bond, in the frame of the grain \[m\].
    pub arms: [Vector3<f64>; 2],
    /// Radii \[m\].
    pub radii: [f64; 2],
}

/// Why no bond joins a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unattached {
    /// One grain is a sphere, the other one a polyhedron.
    Unlike,
    /// The polyhedra have no common face.
    Faceless,
}

impl Unattached {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Unattached::Unlike => "of which one is a sphere and one a polyhedron; bond spheres with spheres, and polyhedra with polyhedra",
            Unattached::Faceless => "which have no common face; put a face of one on a face of the other, or leave the pair out",
        }
    }
}

impl Attachment {
    /// From the numbers of a bond, see [`ATTACHMENT`].
    pub fn of(numbers: &[f64]) -> Attachment {
        let half = ATTACHMENT / 2;
        Attachment {
            arms: [0, half].map(|at| load(numbers, at)),
            radii: [0, half].map(|at| numbers[at + 3]),
        }
    }

    /// At the centers of spheres with these radii \[m\].
    pub fn at_centers(radii: [f64; 2]) -> Attachment {
        Attachment {
            arms: [Vector3::zero(); 2],
            radii,
        }
    }

    /// The numbers of a bond, see [`ATTACHMENT`].
    pub fn numbers(&self) -> [f64; ATTACHMENT] {
        let mut numbers = [0.0; ATTACHMENT];
        for (end, (arm, radius)) in self.arms.iter().zip(self.radii).enumerate() {
            let at = end * (ATTACHMENT / 2);
            store(&mut numbers, at, arm);
            numbers[at + 3] = radius;
        }
        numbers
    }

    /// Distance of both ends between the grains of this pair \[m\].
    pub(super) fn length(&self, state: &BondPositions, [i, j]: [usize; 2]) -> f64 {
        let [arm_i, arm_j] = [(i, 0), (j, 1)].map(|(place, end): (usize, usize)| {
            let orientation = orientation_at::<f64>(&state.orientation, place * RECORD);
            orientation.to_space(&self.arms[end])
        });
        state.across(i, j).plus(&arm_j).minus(&arm_i).length()
    }

    /// Of a bond across this face of two grains, whose centers are `apart`.
    fn across(face: &CommonFace, [i, j]: [&PlacedShape; 2], apart: &Vector3<f64>, section: CrossSection) -> Attachment {
        let from_second = face.center.minus(apart);
        let [near, far] = [face.center.dot(&face.normal), -from_second.dot(&face.normal)];
        let in_space = [
            face.center.minus(&face.normal.times(near)),
            from_second.plus(&face.normal.times(far)),
        ];
        let radius = match section {
            CrossSection::Circle => (face.area / PI).sqrt(),
            CrossSection::Square => 0.5 * face.area.sqrt(),
        };
        Attachment {
            arms: [
                i.orientation.back().to_space(&in_space[0]),
                j.orientation.back().to_space(&in_space[1]),
            ],
            radii: [radius + (near - far).max(0.0), radius + (far - near).max(0.0)],
        }
    }
}

impl BondPositions<'_> {
    /// Grain i, if it is polyhedral.
    fn placed(&self, i: usize) -> Option<PlacedShape<'_>> {
        let index = self.shape.get(i)?.checked_sub(1)?;
        Some(PlacedShape {
            shape: self.shapes.get(index as usize)?,
            scale: self.radius(i),
            orientation: orientation_at::<f64>(&self.orientation, i * RECORD).normalized(),
        })
    }

    /// Whether one of two grains is a sphere and the other one a polyhedron.
    pub(super) fn are_unlike(&self, pair: [usize; 2]) -> bool {
        let [first, second] = pair.map(|i| self.shape.get(i).is_some_and(|shape| *shape > 0));
        first != second
    }

    /// Where a bond of this cross-section joins a pair; `None` at the centers of two spheres. Faces of polyhedra are nowhere farther apart than
    /// `tolerance` times the sum of the rounding radii.
    pub(super) fn attachment(&self, pair: [usize; 2], section: CrossSection, tolerance: f64) -> Result<Option<Attachment>, Unattached> {
        match pair.map(|i| self.placed(i)) {
            [None, None] => Ok(None),
            [Some(i), Some(j)] => {
                let (grains, apart) = ([&i, &j], self.across(pair[0], pair[1]));
                let face = common_face(grains, &apart, tolerance).ok_or(Unattached::Faceless)?;
                Ok(Some(Attachment::across(&face, grains, &apart, section)))
            }
            _ => Err(Unattached::Unlike),
        }
    }

    /// Moment of inertia of grain i \[kg m²\]: the smallest one, if it is polyhedral.
    pub(super) fn moment(&self, i: usize) -> f64 {
        let (mass, radius) = (self.mass[i], self.radius(i));
        match self.placed(i) {
            None => inertia(mass, radius),
            Some(placed) => mass * radius * radius * placed.shape.moments.into_iter().fold(f64::INFINITY, f64::min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::PolyhedralShape;
    use std::borrow::Cow;

    /// A box of 2 x 1 x 1 with a rounding of 0.1, in scales of its bounding sphere.
    fn block() -> (PolyhedralShape, f64) {
        let half = [0.9, 0.4, 0.4];
        let scale = half.iter().map(|x| x * x).sum::<f64>().sqrt() + 0.1;
        let side = |k: u32, axis: usize| if (k >> axis) & 1 == 1 { half[axis] } else { -half[axis] };
        let shape = PolyhedralShape {
            name: "block".into(),
            rounding: 0.1 / scale,
            volume: 2.0 / scale.powi(3),
            moments: [0.1, 0.3, 0.3],
            vertices: (0..8).map(|k| [0, 1, 2].map(|axis| side(k, axis) / scale)).collect(),
            faces: vec![
                vec![0, 4, 6, 2],
                vec![1, 3, 7, 5],
                vec![0, 1, 5, 4],
                vec![2, 6, 7, 3],
                vec![0, 2, 3, 1],
                vec![4, 5, 7, 6],
            ],
            ..PolyhedralShape::default()
        };
        (shape, scale)
    }

    /// Two such blocks, the first at the origin and upright, the second at a place with an orientation.
    fn joined(place: [f64; 3], orientation: [f64; 4], tolerance: f64) -> Result<Option<Attachment>, Unattached> {
        let (shape, scale) = block();
        let position = [[0.0, 0.0, 0.0, scale], [place[0], place[1], place[2], scale]].concat();
        let positions = BondPositions {
            id: &[0, 1],
            group: &[0, 0],
            position: Cow::Owned(position),
            mass: vec![1.0; 2],
            body: vec![None; 2],
            shape: &[1, 1],
            orientation: Cow::Owned([[1.0, 0.0, 0.0, 0.0], orientation].concat()),
            shapes: &[shape],
            sides: (crate::periodic::sides_of(None, 0.0), 0),
        };
        positions.attachment([0, 1], CrossSection::Square, tolerance)
    }

    fn is_near(a: &Vector3<f64>, b: [f64; 3]) -> bool {
        a.minus(&crate::world::vector(b)).length() < 1e-12
    }

    #[test]
    fn blocks_in_a_row_are_joined_from_center_to_center() {
        let found = joined([2.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], 0.05).unwrap().unwrap();
        assert!(found.arms.iter().all(|arm| is_near(arm, [0.0; 3])), "{found:?}");
        // The whole face of 1 x 1 counts, not only the flat part.
        assert!(found.radii.iter().all(|radius| (radius - 0.5).abs() < 1e-12), "{found:?}");
        assert_eq!(Attachment::of(&found.numbers()), found);
    }

    #[test]
    fn a_shifted_block_is_joined_at_the_middle_of_the_common_face() {
        // A quarter turn about z: its end of 1 x 1 is on the long side of the first one, and half of it is beside that.
        let turn = 0.5f64.sqrt();
        let found = joined([1.0, 1.5, 0.0], [turn, 0.0, 0.0, turn], 0.05).unwrap().unwrap();
        // The common face is from x = 0.5 to x = 1, z = -0.5 to 0.5, at y = 0.5.
        assert!(is_near(&found.arms[0], [0.75, 0.0, 0.0]), "{found:?}");
        // From the second center it is 0.25 toward -x, which is y in its frame.
        assert!(is_near(&found.arms[1], [0.0, 0.25, 0.0]), "{found:?}");
        // The centers are 0.5 and 1 from the face.
        let radius = 0.5 * 0.5f64.sqrt();
        assert!(
            (found.radii[0] - radius).abs() < 1e-12 && (found.radii[1] - radius - 0.5).abs() < 1e-12,
            "{found:?}"
        );
    }

    #[test]
    fn faces_that_are_apart_or_aslant_or_beside_each_other_are_not_joined() {
        let upright = [1.0, 0.0, 0.0, 0.0];
        // A gap of 0.009 is below 0.05 times the sum of the rounding radii, and one of 0.011 above.
        assert!(joined([2.009, 0.0, 0.0], upright, 0.05).is_ok());
        assert_eq!(joined([2.011, 0.0, 0.0], upright, 0.05), Err(Unattached::Faceless));
        assert!(joined([2.011, 0.0, 0.0], upright, 0.1).is_ok());
        assert_eq!(joined([2.0, 1.001, 0.0], upright, 0.05), Err(Unattached::Faceless));
        // Turned by 0.04 rad about z, the gap differs by 0.04 over the face.
        let (sine, cosine) = 0.02f64.sin_cos();
        assert_eq!(joined([2.0, 0.0, 0.0], [cosine, 0.0, 0.0, sine], 0.05), Err(Unattached::Faceless));
        assert!(joined([2.0, 0.0, 0.0], [cosine, 0.0, 0.0, sine], 0.2).is_ok());
    }
}
