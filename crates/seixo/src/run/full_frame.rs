//! Complete state of a simulation, as in the files of a frame.

use super::frames::{Corners, has_grains, within_planes};
use super::surfaces::{Poses, Surfaces};
use seixo_analysis::force_chains;
use seixo_engine::state::{FluidSnapshot, GrainScalars, GrainSnapshot, WallSnapshot};
use seixo_engine::{BondSnapshot, ContactRecord, Simulation, StepError};
use seixo_files::vtk::{VtkBonds, VtkContacts, VtkFluid, VtkPoints, VtkWalls};
use seixo_scene::Scene;
use seixo_view::{Shown, SnapshotParts};
use std::sync::Arc;

/// Constant properties of a scene for full frames.
pub(super) struct FrameContents {
    /// Box in which planes are drawn \[m\].
    pub bounds: Corners,
    /// Spacing of the fluids, if there are any \[m\].
    spacing: Option<f64>,
    has_grains: bool,
    /// Surfaces of bodies that were made from meshes and of polyhedral grains, if there are any.
    pub surfaces: Option<Arc<Surfaces>>,
}

/// State of a simulation at a time.
pub(super) struct FullFrame {
    time: f64,
    grains: Option<GrainSnapshot>,
    /// With its spacing \[m\].
    fluid: Option<(f64, FluidSnapshot)>,
    /// What is drawn as a surface, with these surfaces.
    poses: Option<(Arc<Surfaces>, Poses)>,
    walls: Vec<WallSnapshot>,
    bounds: Corners,
    contacts: Option<Vec<ContactRecord>>,
    bonds: Option<Vec<BondSnapshot>>,
}

impl FrameContents {
    /// Collects the properties of a scene with these bounds and surfaces of bodies.
    pub fn of(scene: &Scene, bounds: Corners, surfaces: Option<Arc<Surfaces>>) -> FrameContents {
        let world = &scene.world;
        FrameContents {
            bounds,
            spacing: world.fluids.as_ref().map(|fluids| fluids.spacing),
            has_grains: has_grains(world),
            surfaces,
        }
    }

    /// Returns the names of all fields by which particles can be colored, without a download of the simulation.
    pub fn fields(&self, simulation: &Simulation) -> Vec<String> {
        let grain = GrainSnapshot {
            id: vec![0],
            position: vec![[0.0; 3]],
            velocity: vec![[0.0; 3]],
            angular_velocity: vec![[0.0; 3]],
            force: vec![[0.0; 3]],
            torque: vec![[0.0; 3]],
            radius: vec![0.0],
            body: vec![-1; usize::from(simulation.shows_bodies())],
            mass: vec![0.0],
            volume: vec![0.0],
            material: vec![0],
            group: vec![0],
            coordination: vec![0],
            scalars: {
                let mut scalars = GrainScalars::default();
                simulation.scalars().for_each(|scalar| scalars[scalar].push(0.0));
                scalars
            },
            ..GrainSnapshot::default()
        };
        let particles = FluidSnapshot {
            id: vec![0],
            kind: vec![0],
            position: vec![[0.0; 3]],
            velocity: vec![[0.0; 3]],
            density: vec![0.0],
            pressure: vec![0.0],
        };
        let parts = SnapshotParts {
            grains: self.has_grains.then(|| VtkPoints::of(grain, 0.0)),
            fluid: self.spacing.map(|spacing| VtkFluid {
                time: 0.0,
                spacing,
                particles,
                ..VtkFluid::default()
            }),
            ..SnapshotParts::default()
        };
        parts.fields()
    }

    /// Takes the state of a simulation. It has contacts if `is_close` is true or `shown` needs them.
    ///
    /// # Errors
    /// If the simulation stopped.
    pub fn look(&self, simulation: &mut Simulation, shown: Shown, is_close: bool) -> Result<FullFrame, StepError> {
        simulation.observe()?;
        let has_bonds = matches!(shown, Shown::Bonds | Shown::BondBreaks { has_bonds: true } | Shown::ForceChains);
        let has_contacts = is_close || matches!(shown, Shown::Contacts | Shown::ForceChains);
        Ok(FullFrame {
            time: simulation.time(),
            contacts: has_contacts.then(|| simulation.contacts_now()).transpose()?,
            bonds: has_bonds.then(|| simulation.bonds_now()),
            grains: self.has_grains.then(|| simulation.snapshot()),
            fluid: self.spacing.zip(simulation.fluid()),
            poses: self.surfaces.clone().map(|surfaces| (surfaces, Poses::of(simulation))),
            walls: simulation.walls(),
            bounds: self.bounds,
        })
    }
}

impl FullFrame {
    /// Converts the state to the data that viewers read from files.
    pub fn parts(self) -> SnapshotParts {
        let FullFrame {
            time,
            grains,
            fluid,
            poses,
            walls,
            bounds,
            contacts,
            bonds,
        } = self;
        let contacts = contacts.map(|contacts| {
            let is_link = match (&grains, &bonds) {
                (Some(grains), Some(bonds)) => force_chains(grains, &contacts, bonds).is_link,
                _ => vec![false; contacts.len()],
            };
            VtkContacts::of(&contacts, is_link, time)
        });
        SnapshotParts {
            time,
            grains: grains.map(|grains| VtkPoints::of(grains, time)),
            fluid: fluid.map(|(spacing, particles)| VtkFluid {
                time,
                spacing,
                particles,
                ..VtkFluid::default()
            }),
            bodies: poses.map(|(surfaces, poses)| surfaces.at(&poses, time)),
            walls: VtkWalls::of(&walls, Some(within_planes(bounds, &walls)), time),
            contacts,
            bonds: bonds.map(|bonds| VtkBonds::of(&bonds, time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::frames::bounds;

    /// A ball in the air beside one with prescribed motion.
    const HELD: &str = r#"
[run]
until = 1
[material.sand]
density = 2500
youngs_modulus = 1e7
poisson_ratio = 0.25
[interaction.sand-sand]
restitution = 0.5
friction = 0.5
[grains.free]
material = "sand"
at = [[0, 0, 0]]
radius = 0.01
[grains.held]
material = "sand"
at = [[1, 0, 0]]
radius = 0.01
fixed = true
"#;

    #[test]
    fn the_fields_that_are_offered_are_those_that_a_look_finds() {
        for text in [seixo_scene::templates()[0].text, HELD] {
            let scene = seixo_scene::load_text(text, "scene.toml".as_ref(), &[]).unwrap();
            let frame_contents = FrameContents::of(&scene, bounds(&scene), None);
            let mut simulation = Simulation::new(scene.world, scene.settings).unwrap();
            let offered = frame_contents.fields(&simulation);
            let found = frame_contents.look(&mut simulation, Shown::Grains, false).unwrap().parts().fields();
            assert_eq!(offered, found);
            assert_eq!(offered.contains(&"body".to_owned()), text == HELD, "{offered:?}");
        }
    }
}
