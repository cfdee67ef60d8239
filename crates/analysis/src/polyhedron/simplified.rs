//! Polyhedra with fewer faces.

use super::{Polyhedron, PolyhedronError, RESOLUTION, size_of};
use glam::DVec3;

/// Fewest faces of a polyhedron.
const FEWEST: usize = 4;

impl Polyhedron {
    /// A polyhedron inside with at most this many faces. It starts with a tetrahedron of its vertices. Then the vertex that is farthest outside is added,
    /// again and again, while there are few enough faces.
    ///
    /// # Errors
    /// If less than 4 faces are wanted, or as [`Polyhedron::around`].
    pub fn simplified(&self, most_faces: usize) -> Result<Polyhedron, PolyhedronError> {
        if most_faces < FEWEST {
            return Err(PolyhedronError::TooFewFaces { faces: most_faces });
        }
        if self.faces.len() <= most_faces {
            return Ok(self.clone());
        }
        let mut chosen = self.first_four();
        let mut found = Polyhedron::around(&chosen)?;
        while let Some(vertex) = self.farthest_outside(&found) {
            chosen.push(vertex);
            let next = Polyhedron::around(&chosen)?;
            if next.faces.len() > most_faces {
                break;
            }
            found = next;
        }
        Ok(found)
    }

    /// Four vertices far apart: the one farthest from the middle, then those farthest from a point, a line and a plane.
    fn first_four(&self) -> Vec<DVec3> {
        let middle = self.vertices.iter().sum::<DVec3>() / self.vertices.len() as f64;
        let first = self.farthest(|at| at.distance_squared(middle));
        let second = self.farthest(|at| at.distance_squared(first));
        let third = self.farthest(|at| (at - first).cross(second - first).length_squared());
        let normal = (second - first).cross(third - first);
        let fourth = self.farthest(|at| (at - first).dot(normal).abs());
        vec![first, second, third, fourth]
    }

    /// The vertex at which this is largest; the first of several.
    fn farthest(&self, of: impl Fn(DVec3) -> f64) -> DVec3 {
        let mut found = (self.vertices[0], of(self.vertices[0]));
        for &vertex in &self.vertices[1..] {
            let value = of(vertex);
            if value > found.1 {
                found = (vertex, value);
            }
        }
        found.0
    }

    /// The vertex that is farthest outside of another polyhedron; none if all are inside but for rounding.
    fn farthest_outside(&self, inner: &Polyhedron) -> Option<DVec3> {
        let height = |at: DVec3| {
            let heights = inner.faces.iter().map(|face| face.normal.dot(at) - face.offset);
            heights.fold(f64::NEG_INFINITY, f64::max)
        };
        let vertex = self.farthest(height);
        let size = size_of(self.vertices.iter().copied());
        (height(vertex) > RESOLUTION * size).then_some(vertex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// A ball of many faces.
    fn ball() -> Polyhedron {
        let points = (0..400).map(|k| {
            let height = 1.0 - (2.0 * f64::from(k) + 1.0) / 400.0;
            let (sine, cosine) = (2.399_963 * f64::from(k)).sin_cos();
            let aside = (1.0 - height * height).sqrt();
            DVec3::new(aside * cosine, aside * sine, height)
        });
        Polyhedron::around(&points.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn fewer_faces_keep_most_of_a_ball() {
        let ball = ball();
        let whole = ball.swept(0.0).unwrap().volume;
        let mut least = 0.0;
        for (faces, share) in [(4, 0.05), (20, 0.3), (60, 0.6)] {
            let simple = ball.simplified(faces).unwrap();
            assert!(simple.faces().len() <= faces, "{} of {faces}", simple.faces().len());
            let volume = simple.swept(0.0).unwrap().volume;
            assert!(volume < whole && whole < 4.0 / 3.0 * PI, "{volume} of {whole}");
            assert!(volume > share * whole && volume > least, "{faces}: {volume} of {whole}");
            least = volume;
            // It is inside: no vertex of it is outside of the ball.
            assert_eq!(simple.farthest_outside(&ball), None);
        }
    }

    #[test]
    fn what_has_few_faces_stays_and_less_than_four_are_refused() {
        let block = Polyhedron::block([4.0, 2.0, 1.0]).unwrap();
        assert_eq!(block.simplified(6).unwrap(), block);
        assert!(block.simplified(5).unwrap().faces().len() <= 5);
        assert_eq!(block.simplified(3), Err(PolyhedronError::TooFewFaces { faces: 3 }));
    }
}
