//! Surfaces of bodies that were made from meshes, at the current positions of the bodies.

use seixo_engine::BodySnapshot;
use seixo_files::vtk::VtkBodies;
use seixo_scene::{Outlined, Outlines};
use seixo_view::SmoothMesh;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Surfaces of the bodies of a scene that were made from meshes.
pub(super) struct Surfaces {
    /// Meshes in the body frames, in units of their radii.
    meshes: Vec<SmoothMesh>,
    /// Bodies with a mesh, by their ids.
    outlined: BTreeMap<u32, Outlined>,
}

impl Surfaces {
    /// Creates the surfaces from these meshes; `None` if no body was made from a mesh.
    pub fn of(outlines: &Outlines) -> Option<Arc<Surfaces>> {
        let of_bodies = outlines.bodies().iter().map(|outlined| (outlined.body, outlined.clone()));
        (!outlines.is_empty()).then(|| {
            Arc::new(Surfaces {
                meshes: outlines.meshes().iter().map(|mesh| SmoothMesh::new(mesh)).collect(),
                outlined: of_bodies.collect(),
            })
        })
    }

    /// Returns the surfaces of these bodies at this time \[s\]; bodies without a mesh are left out.
    pub fn at(&self, bodies: &[BodySnapshot], time: f64) -> VtkBodies {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_analysis::solid_of_mesh;
    use seixo_engine::Simulation;

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
        let surfaces = Surfaces::of(&scene.outlines).unwrap();
        let mut simulation = Simulation::new(scene.world, scene.settings).unwrap();
        let start = simulation.bodies();
        simulation.advance(200).unwrap();
        let bodies = simulation.bodies();
        let seen = surfaces.at(&bodies, simulation.time());
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
        // Without meshes there are no surfaces.
        assert!(Surfaces::of(&Outlines::default()).is_none());
    }
}
