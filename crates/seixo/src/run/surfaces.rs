//! Surfaces of bodies that were made from meshes, and of polyhedral grains, at their current positions.

use seixo_analysis::ShapeSurface;
use seixo_engine::world::PolyhedralShape;
use seixo_engine::{BodySnapshot, PolyhedronSnapshot, Simulation};
use seixo_files::vtk::{VtkBodies, VtkPolyhedra};
use seixo_scene::{Outlined, Outlines};
use seixo_view::SmoothMesh;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most triangles of polyhedral grains that viewers are given with round edges: each takes some 200 bytes in a picture.
const MOST_ROUND: usize = 2_000_000;

/// Surfaces of the bodies of a scene that were made from meshes, and of its polyhedral grains.
pub(super) struct Surfaces {
    /// Meshes in the body frames, in units of their radii.
    meshes: Vec<SmoothMesh>,
    /// Bodies with a mesh, by their ids.
    outlined: BTreeMap<u32, Outlined>,
    /// Surfaces of the shapes of polyhedral grains.
    shapes: Vec<ShapeSurface>,
    /// The same with sharp edges, for pictures of many grains.
    sharp: Vec<ShapeSurface>,
}

/// Bodies and polyhedral grains at one time.
pub(super) struct Poses {
    pub bodies: Vec<BodySnapshot>,
    pub polyhedra: Vec<PolyhedronSnapshot>,
}

impl Poses {
    /// Takes them from an observed simulation.
    pub fn of(simulation: &Simulation) -> Poses {
        Poses {
            bodies: simulation.bodies(),
            polyhedra: simulation.polyhedra(),
        }
    }

    /// Takes them from a simulation without an observation; `None` if the host does not have them.
    pub fn now(simulation: &Simulation) -> Option<Poses> {
        let bodies = simulation.bodies_now()?;
        Some(Poses {
            bodies,
            polyhedra: simulation.polyhedra(),
        })
    }
}

impl Surfaces {
    /// Creates the surfaces from these meshes of bodies and shapes of grains; `None` if there are neither.
    pub fn of(outlines: &Outlines, shapes: &[PolyhedralShape]) -> Option<Arc<Surfaces>> {
        let of_bodies = outlines.bodies().iter().map(|outlined| (outlined.body, outlined.clone()));
        (!outlines.is_empty() || !shapes.is_empty()).then(|| {
            Arc::new(Surfaces {
                meshes: outlines.meshes().iter().map(|mesh| SmoothMesh::new(mesh)).collect(),
                outlined: of_bodies.collect(),
                shapes: shapes.iter().map(ShapeSurface::of).collect(),
                sharp: shapes.iter().map(ShapeSurface::sharp).collect(),
            })
        })
    }

    /// Whether there are bodies that were made from meshes.
    pub fn has_bodies(&self) -> bool {
        !self.outlined.is_empty()
    }

    /// Whether there are polyhedral grains.
    pub fn has_polyhedra(&self) -> bool {
        !self.shapes.is_empty()
    }

    /// Returns all surfaces at this time \[s\] as those of bodies, for viewers. Above two million triangles, polyhedral grains have sharp edges.
    pub fn at(&self, poses: &Poses, time: f64) -> VtkBodies {
        let triangles = |grain: &PolyhedronSnapshot| self.shapes.get(grain.shape as usize).map_or(0, |shape| shape.triangles.len());
        let is_round = poses.polyhedra.iter().map(triangles).sum::<usize>() <= MOST_ROUND;
        let shapes = if is_round { &self.shapes } else { &self.sharp };
        let bodies = self.of_bodies(&poses.bodies, time);
        bodies.with_polyhedra(&placed(shapes, &poses.polyhedra, time))
    }

    /// Returns the surfaces of these bodies at this time \[s\]; bodies without a mesh are left out.
    pub fn of_bodies(&self, bodies: &[BodySnapshot], time: f64) -> VtkBodies {
        let mut all = VtkBodies {
            time,
            ..VtkBodies::default()
        };
        for body in bodies {
            let Some(outlined) = self.outlined.get(&body.id) else { continue };
            let SmoothMesh {
                position,
                normal,
                triangles,
            } = &self.meshes[outlined.mesh];
            let first = all.position.len() as u32;
            let corners = position.iter().map(|corner| body.place(corner.map(|x| x * outlined.radius)));
            all.position.extend(corners);
            all.normal.extend(normal.iter().map(|&normal| body.turned(normal)));
            all.triangles
                .extend(triangles.iter().map(|corners| corners.map(|corner| first + corner)));
            all.body.resize(all.triangles.len(), body.id);
            all.carried.extend(outlined.carries.iter().map(|&grain| [grain, body.id]));
        }
        all
    }

    /// Returns the surfaces of these polyhedral grains at this time \[s\].
    pub fn of_polyhedra(&self, grains: &[PolyhedronSnapshot], time: f64) -> VtkPolyhedra {
        placed(&self.shapes, grains, time)
    }
}

/// Places the surfaces of shapes at these polyhedral grains at this time \[s\].
fn placed(shapes: &[ShapeSurface], grains: &[PolyhedronSnapshot], time: f64) -> VtkPolyhedra {
    let mut all = VtkPolyhedra {
        time,
        ..VtkPolyhedra::default()
    };
    for grain in grains {
        let Some(shape) = shapes.get(grain.shape as usize) else {
            continue;
        };
        let first = all.position.len() as u32;
        all.position.extend(shape.position.iter().map(|&point| grain.place(point)));
        all.normal.extend(shape.normal.iter().map(|&normal| grain.turned(normal)));
        all.triangles
            .extend(shape.triangles.iter().map(|corners| corners.map(|corner| first + corner)));
        all.id.resize(all.triangles.len(), grain.id);
        all.velocity.resize(all.triangles.len(), grain.velocity);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_analysis::solid_of_mesh;

    const SCENE: &str = r#"
[run]
until = 1
[material.clay]
density = 2000
youngs_modulus = 1e7
poisson_ratio = 0.2
[interaction.clay-clay]
restitution = 0.5
friction = 0.3
[shape.wedge]
mesh = "wedge.obj"
spheres = { radius = 0.2 }
[grains.dust]
material = "clay"
at = [[0, 0, 9], [0, 9, 0]]
radius = 0.1
[grains.wedges]
material = "clay"
shape = "wedge"
at = [[1, 2, 3], [-4, 0, 0]]
radius = 0.8
orientation = { axis = [1, 2, -1], angle = "70 deg" }
velocity = [3, -1, 0.5]
angular_velocity = [4, 1, -8]
"#;
    /// A corner cut off a block, far from the origin.
    const WEDGE: &str = "v 5 0 0\nv 9 0 0\nv 5 3 0\nv 5 0 3.5\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

    #[test]
    fn a_surface_weighs_what_its_body_weighs_and_moves_along_with_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("wedge.obj"), WEDGE).unwrap();
        let scene = seixo_scene::load_text(SCENE, &folder.path().join("scene.toml"), &[]).unwrap();
        let surfaces = Surfaces::of(&scene.outlines, &scene.world.shapes).unwrap();
        let mut simulation = Simulation::new(scene.world, scene.settings).unwrap();
        let start = simulation.bodies();
        simulation.advance(200).unwrap();
        let bodies = simulation.bodies();
        let seen = surfaces.of_bodies(&bodies, simulation.time());
        assert_eq!((seen.time, bodies.len(), seen.triangles.len()), (simulation.time(), 2, 8));
        for (body, before) in bodies.iter().zip(&start) {
            let of_body = seen.triangles.iter().zip(&seen.body).filter(|(_, id)| **id == body.id);
            let triangles: Vec<_> = of_body
                .map(|(corners, _)| corners.map(|corner| seen.position[corner as usize]))
                .collect();
            let solid = solid_of_mesh(&triangles);
            assert!((2000.0 * solid.volume / body.mass - 1.0).abs() < 1e-9, "{solid:?}, {body:?}");
            let away = |center: [f64; 3]| (0..3).map(|k| (center[k] - solid.center[k]).abs()).fold(0.0, f64::max);
            assert!(away(body.center) < 1e-9 && away(before.center) > 1e-3, "{solid:?}, {body:?}");
            // Its moment of inertia about the axis of the largest moment is that of the rotated body.
            let axis = body.turned([1.0, 0.0, 0.0]);
            let moment: f64 = (0..3)
                .flat_map(|i| (0..3).map(move |k| (i, k)))
                .map(|(i, k)| axis[i] * solid.inertia.col(k)[i] * axis[k])
                .sum();
            assert!((2000.0 * moment / body.moments[0] - 1.0).abs() < 1e-9, "{solid:?}, {body:?}");
            assert!(before.orientation != body.orientation);
        }
        // Normals are those of the faces, and the carried grains are those of the frames.
        for corners in &seen.triangles {
            let [a, b, c] = corners.map(|corner| seen.position[corner as usize]);
            let normal = seen.normal[corners[0] as usize];
            for to in [b, c] {
                let along: f64 = (0..3).map(|k| normal[k] * (to[k] - a[k])).sum();
                assert!(along.abs() < 1e-9, "{along}");
            }
        }
        let grains = simulation.snapshot();
        let carried = grains.id.iter().zip(&grains.body).filter(|(_, body)| **body >= 0);
        let carried: Vec<[u32; 2]> = carried.map(|(&id, &body)| [id, body as u32]).collect();
        assert_eq!(seen.carried, carried);
        // Viewers get the same.
        assert!(surfaces.has_bodies() && !surfaces.has_polyhedra());
        assert_eq!(surfaces.at(&Poses::of(&simulation), simulation.time()), seen);
        // Without meshes and shapes there are no surfaces.
        assert!(Surfaces::of(&Outlines::default(), &[]).is_none());
    }

    const STONES: &str = r#"
[run]
until = 1
[material.stone]
density = 2500
youngs_modulus = 1e7
poisson_ratio = 0.2
[interaction.stone-stone]
restitution = 0.5
friction = 0.3
[shape.brick]
kind = "polyhedron"
box = [4, 2, 1]
rounding = 0.1
[grains.bricks]
material = "stone"
shape = "brick"
at = [[1, 2, 3], [-6, 0, 0]]
orientation = { axis = [1, 2, -1], angle = "70 deg" }
velocity = [3, -1, 0.5]
angular_velocity = [4, 1, -8]
[grains.dust]
material = "stone"
at = [[0, 0, 9]]
radius = 0.1
"#;

    #[test]
    fn the_surface_of_a_polyhedral_grain_moves_and_rotates_with_it() {
        let scene = seixo_scene::load_text(STONES, "scene.toml".as_ref(), &[]).unwrap();
        let surfaces = Surfaces::of(&scene.outlines, &scene.world.shapes).unwrap();
        assert!(surfaces.has_polyhedra() && !surfaces.has_bodies());
        let mut simulation = Simulation::new(scene.world, scene.settings).unwrap();
        simulation.advance(200).unwrap();
        let (grains, poses) = (simulation.snapshot(), Poses::now(&simulation).unwrap());
        let seen = surfaces.of_polyhedra(&poses.polyhedra, simulation.time());
        let shown: Vec<u32> = poses.polyhedra.iter().map(|stone| stone.id).collect();
        assert_eq!(
            (shown.len(), seen.id.len(), seen.velocity.len()),
            (2, seen.triangles.len(), seen.triangles.len())
        );
        for stone in &poses.polyhedra {
            let place = grains.id.iter().position(|&id| id == stone.id).unwrap();
            assert_eq!(
                (grains.position[place], grains.orientation[place]),
                (stone.center, stone.orientation)
            );
            let of_stone = seen.triangles.iter().zip(seen.id.iter().zip(&seen.velocity));
            let of_stone: Vec<_> = of_stone.filter(|(_, (id, _))| **id == stone.id).collect();
            assert!(of_stone.iter().all(|(_, (_, velocity))| **velocity == grains.velocity[place]));
            let triangles: Vec<_> = of_stone
                .iter()
                .map(|(corners, _)| corners.map(|corner| seen.position[corner as usize]))
                .collect();
            // Its edges are cut where they are round, and its faces are where they are.
            let solid = solid_of_mesh(&triangles);
            assert!((0.98..1.0).contains(&(2500.0 * solid.volume / grains.mass[place])), "{solid:?}");
            let away = (0..3).map(|k| (stone.center[k] - solid.center[k]).abs()).fold(0.0, f64::max);
            assert!(away < 1e-9, "{solid:?}, {stone:?}");
            // Along its longest edge, the faces are two lengths from its center, wherever it has turned to.
            let along = stone.turned([0.0, 0.0, 1.0]);
            let reach = |corner: &[f64; 3]| (0..3).map(|k| along[k] * (corner[k] - stone.center[k])).sum::<f64>();
            let farthest = triangles.as_flattened().iter().map(reach).fold(0.0, f64::max);
            assert!((farthest - 2.0).abs() < 1e-9, "{farthest}");
        }
        // Viewers draw them in place of their bounding spheres.
        let drawn = surfaces.at(&poses, simulation.time());
        assert_eq!((drawn.triangles.len(), &drawn.position), (seen.triangles.len(), &seen.position));
        assert_eq!(drawn.carried.iter().map(|pair| pair[0]).collect::<Vec<_>>(), shown);
    }

    #[test]
    fn viewers_get_sharp_edges_where_there_are_very_many_grains() {
        let scene = seixo_scene::load_text(STONES, "scene.toml".as_ref(), &[]).unwrap();
        let surfaces = Surfaces::of(&scene.outlines, &scene.world.shapes).unwrap();
        let simulation = Simulation::new(scene.world, scene.settings).unwrap();
        let mut poses = Poses::now(&simulation).unwrap();
        let (of_grain, stone) = (surfaces.shapes[0].triangles.len(), poses.polyhedra[0]);
        let fit = MOST_ROUND / of_grain;
        let triangles = |grains: usize| {
            poses.polyhedra = (0..grains as u32).map(|id| PolyhedronSnapshot { id, ..stone }).collect();
            surfaces.at(&poses, 0.0).triangles.len()
        };
        assert_eq!([fit, fit + 1].map(triangles), [fit * of_grain, (fit + 1) * 12]);
    }
}
