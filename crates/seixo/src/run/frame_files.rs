//! Files of frames: grains, bodies, polyhedral grains, fluids and their surface, walls and contacts as `.vtp`, coarse-grained fields as `.vti`, and
//! the `.pvd` files that list them.

use super::error::Halt;
use super::folder::{COARSE, CONTACTS, FIELDS, disk};
use super::frames::{Corners, has_grains, within_planes};
use super::schedule::Schedule;
use super::surfaces::Surfaces;
use seixo_analysis::{FreeSurface, SurfaceOptions, coarse_grain, force_chains, fragments, free_surface, pressure_of_grains};
use seixo_engine::state::{FluidSnapshot, GrainSnapshot, WallSnapshot};
use seixo_engine::{BodySnapshot, BondSnapshot, ContactRecord, PendingGrains, PeriodicCell, PolyhedronSnapshot, StepError};
use seixo_files::FilesError;
use seixo_files::layer::{FileLayer, replace};
use seixo_files::vtk::{self, Field, Format, Image};
use seixo_scene::{CoarsePlan, Scene};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Wall time between two updates of the `.pvd` files, unless a checkpoint is written \[s\].
const LIST_EVERY: f64 = 1.0;

/// Grains of a frame.
pub(super) enum FrameGrains {
    /// They are here.
    Here(GrainSnapshot),
    /// A GPU may still be transferring them.
    Coming(PendingGrains),
}

impl Default for FrameGrains {
    fn default() -> FrameGrains {
        FrameGrains::Here(GrainSnapshot::default())
    }
}

impl FrameGrains {
    /// Waits for the grains.
    fn arrive(self) -> Result<GrainSnapshot, StepError> {
        match self {
            FrameGrains::Here(grains) => Ok(grains),
            FrameGrains::Coming(coming) => coming.wait(),
        }
    }
}

/// State of a simulation that a frame shows; parts that it does not show are empty.
#[derive(Default)]
pub(super) struct FrameData {
    /// Number of the frame.
    pub index: u64,
    /// Time \[s\].
    pub time: f64,
    pub grains: FrameGrains,
    pub bodies: Vec<BodySnapshot>,
    pub polyhedra: Vec<PolyhedronSnapshot>,
    pub fluid: FluidSnapshot,
    pub walls: Vec<WallSnapshot>,
    pub bonds: Vec<BondSnapshot>,
    pub contacts: Vec<ContactRecord>,
}

/// Files of one kind, one for each frame. A file is written completely, and listed once it would survive a power cut.
struct Series {
    folder: PathBuf,
    kind: &'static str,
    ending: &'static str,
    unlisted: Vec<PathBuf>,
    /// Bytes of the files so far.
    bytes: u64,
}

impl Series {
    fn new(folder: PathBuf, kind: &'static str, ending: &'static str) -> Series {
        Series {
            folder,
            kind,
            ending,
            unlisted: Vec::new(),
            bytes: 0,
        }
    }

    /// As [`Series::new`], in a new folder of its own.
    fn within(layer: &dyn FileLayer, run: &Path, kind: &'static str, ending: &'static str) -> Result<Series, FilesError> {
        let folder = run.join(kind);
        layer.create_dir_all(&folder).map_err(disk(&folder, "create it"))?;
        layer.sync_dir(run).map_err(disk(run, "sync it"))?;
        Ok(Series::new(folder, kind, ending))
    }

    fn name(&self, index: u64) -> String {
        format!("{}_{index:06}.{}", self.kind, self.ending)
    }

    /// Moves a complete file to its path without waiting for the disk: after a kill the file is complete, after a power cut it may not be.
    fn put(&mut self, layer: &dyn FileLayer, index: u64, bytes: &[u8]) -> Result<(), FilesError> {
        let name = self.name(index);
        let path = self.folder.join(&name);
        let temporary = self.folder.join(format!("{name}.tmp"));
        let written = layer.create(&temporary).and_then(|mut file| file.write_all(bytes));
        let moved = written.and_then(|()| layer.rename(&temporary, &path));
        if moved.is_err() {
            // The first error is the one to report; resuming removes a leftover file.
            let _ = layer.remove(&temporary);
        }
        moved.map_err(disk(&path, "write it"))?;
        self.unlisted.push(path);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Waits until the disk has all files, then lists them with their times \[s\].
    fn list(&mut self, layer: &dyn FileLayer, times: &[f64]) -> Result<(), FilesError> {
        if self.unlisted.is_empty() {
            return Ok(());
        }
        for path in self.unlisted.drain(..) {
            layer
                .append(&path)
                .and_then(|mut file| file.sync())
                .map_err(disk(&path, "sync it"))?;
        }
        layer.sync_dir(&self.folder).map_err(disk(&self.folder, "sync it"))?;
        let files: Vec<_> = times.iter().zip(0..).map(|(&time, index)| (time, self.name(index))).collect();
        let path = self.folder.join(format!("{}.pvd", self.kind));
        replace(layer, &path, vtk::collection(&files).as_bytes()).map_err(disk(&path, "write it"))
    }
}

/// Writer of the files of frames.
pub(super) struct FrameFiles {
    fields: Vec<Field>,
    format: Format,
    bounds: Corners,
    schedule: Schedule,
    time_step: f64,
    grains: Option<Series>,
    /// Surfaces of bodies and polyhedral grains, if there are any.
    surfaces: Option<Arc<Surfaces>>,
    bodies: Option<Series>,
    polyhedra: Option<Series>,
    /// With the spacing \[m\] and the periodic cell of the fluids.
    fluid: Option<(Series, f64, PeriodicCell)>,
    surface: Option<Series>,
    /// Number of frames without a surface, and the reason for the last one.
    bare: (u64, String),
    walls: Option<Series>,
    bonds: Option<Series>,
    contacts: Option<Series>,
    coarse: Option<(Series, CoarsePlan)>,
    /// Number of the frame after the last whole one.
    next: u64,
    listed_at: Option<Instant>,
}

impl FrameFiles {
    /// Creates the writer of all frames of a scene with these [`bounds`](super::frames::bounds), in this format, at the times of a schedule.
    pub fn new(
        (layer, run): (&dyn FileLayer, &Path),
        (scene, bounds): (&Scene, Corners),
        (schedule, time_step): (Schedule, f64),
        format: Format,
    ) -> Result<FrameFiles, FilesError> {
        let (world, plan) = (&scene.world, &scene.output);
        // Sides do not slide if there are fluids.
        let cell = PeriodicCell::of(world.domain.as_ref(), 0.0);
        let fluid = |spacing: f64| (Series::new(run.join(FIELDS), "fluid", "vtp"), spacing, cell);
        let has_surface = plan.surface && world.fluids.is_some();
        let surfaces = Surfaces::of(&scene.outlines, &world.shapes);
        let has_bodies = surfaces.as_ref().is_some_and(|surfaces| surfaces.has_bodies());
        let has_polyhedra = surfaces.as_ref().is_some_and(|surfaces| surfaces.has_polyhedra());
        let has_walls = !world.walls.is_empty();
        let has_bonds = !world.bonds.is_empty();
        let contacts = plan.contacts.then(|| Series::within(layer, run, CONTACTS, "vtp"));
        let coarse = plan
            .coarse
            .map(|coarse| Series::within(layer, run, COARSE, "vti").map(|series| (series, coarse)));
        Ok(FrameFiles {
            fields: plan.fields.clone(),
            format,
            bounds,
            schedule,
            time_step,
            grains: has_grains(world).then(|| Series::new(run.join(FIELDS), "grains", "vtp")),
            surfaces,
            bodies: has_bodies.then(|| Series::new(run.join(FIELDS), "bodies", "vtp")),
            polyhedra: has_polyhedra.then(|| Series::new(run.join(FIELDS), "polyhedra", "vtp")),
            fluid: world.fluids.as_ref().map(|fluids| fluid(fluids.spacing)),
            surface: has_surface.then(|| Series::new(run.join(FIELDS), "surface", "vtp")),
            bare: (0, String::new()),
            walls: has_walls.then(|| Series::new(run.join(FIELDS), "walls", "vtp")),
            bonds: has_bonds.then(|| Series::new(run.join(FIELDS), "bonds", "vtp")),
            contacts: contacts.transpose()?,
            coarse: coarse.transpose()?,
            next: 0,
            listed_at: None,
        })
    }

    /// Returns the surfaces of bodies that were made from meshes and of polyhedral grains, if there are any.
    pub fn surfaces(&self) -> Option<Arc<Surfaces>> {
        self.surfaces.clone()
    }

    /// Writes the next frame, and at intervals the `.pvd` files.
    pub fn write(&mut self, layer: &dyn FileLayer, frame: FrameData) -> Result<(), Halt> {
        let (index, time, format) = (frame.index, frame.time, self.format);
        self.next = index;
        let FrameData {
            grains,
            bodies,
            polyhedra,
            fluid,
            walls,
            bonds,
            contacts,
            ..
        } = frame;
        let mut grains = grains.arrive()?;
        // Before the grains: a program that follows the frames takes a file of grains for a complete frame.
        if let Some(surfaces) = &self.surfaces {
            if let Some(series) = &mut self.bodies {
                series.put(layer, index, &format.bodies(&surfaces.of_bodies(&bodies, time)))?;
            }
            if let Some(series) = &mut self.polyhedra {
                series.put(layer, index, &format.polyhedra(&surfaces.of_polyhedra(&polyhedra, time)))?;
            }
        }
        if self.fields.contains(&Field::Pressure) {
            grains.pressure = pressure_of_grains(&grains, &contacts, &bonds);
        }
        if self.fields.contains(&Field::Fragment) {
            grains.fragment = fragments(&grains, &bonds, |_| true).number_of;
        }
        if let Some(series) = &mut self.grains {
            series.put(layer, index, &format.grains(&grains, &self.fields, time))?;
        }
        if let Some((series, spacing, cell)) = &mut self.fluid {
            series.put(layer, index, &format.fluid(&fluid, *spacing, cell, time))?;
        }
        if let (Some(series), Some((_, spacing, cell))) = (&mut self.surface, &self.fluid) {
            // If the surface cannot be computed, its file is left empty; the rest of the frame is still useful.
            let surface = free_surface(&fluid, *spacing, cell, &SurfaceOptions::default()).unwrap_or_else(|error| {
                self.bare = (self.bare.0 + 1, format!("{} shows no surface: {error}", series.name(index)));
                FreeSurface::default()
            });
            let bytes = format.surface(&surface.vertices, &surface.normals, &surface.triangles, &vtk::SURFACE_FIELDS, time);
            series.put(layer, index, &bytes)?;
        }
        if let Some(series) = &mut self.walls {
            series.put(layer, index, &format.walls(&walls, Some(within_planes(self.bounds, &walls)), time))?;
        }
        if let Some(series) = &mut self.bonds {
            series.put(layer, index, &format.bonds(&bonds, time))?;
        }
        if let Some(series) = &mut self.contacts {
            let chains = force_chains(&grains, &contacts, &bonds);
            series.put(layer, index, &format.contacts(&contacts, &chains.is_link, time))?;
        }
        if let Some((series, plan)) = &mut self.coarse {
            series.put(layer, index, &coarse_fields(format, plan, (&grains, &contacts, &bonds), time))?;
        }
        self.next = index + 1;
        if self.listed_at.is_none_or(|listed| listed.elapsed().as_secs_f64() >= LIST_EVERY) {
            self.list(layer)?;
        }
        Ok(())
    }

    /// Returns a warning about frames without a surface although there is fluid, if there are any.
    pub fn warning(&self) -> Option<String> {
        let (count, last) = &self.bare;
        (*count > 0).then(|| format!("{last}; frames without one so far: {count}"))
    }

    /// Waits until the disk has all frames, then lists them.
    pub fn list(&mut self, layer: &dyn FileLayer) -> Result<(), FilesError> {
        let step_of = |event: u64| self.schedule.step_of(event) as f64;
        let times: Vec<f64> = (0..self.next).map(|event| step_of(event) * self.time_step).collect();
        for series in self.series() {
            series.list(layer, &times)?;
        }
        self.listed_at = Some(Instant::now());
        Ok(())
    }

    /// Returns the bytes of all files so far.
    pub fn bytes(&mut self) -> u64 {
        self.series().map(|series| series.bytes).sum()
    }

    fn series(&mut self) -> impl Iterator<Item = &mut Series> {
        let fluid = self.fluid.as_mut().map(|(series, ..)| series);
        let coarse = self.coarse.as_mut().map(|(series, _)| series);
        let [grains, walls] = [&mut self.grains, &mut self.walls].map(Option::as_mut);
        let [bodies, polyhedra] = [&mut self.bodies, &mut self.polyhedra].map(Option::as_mut);
        let [surface, bonds, contacts] = [&mut self.surface, &mut self.bonds, &mut self.contacts].map(Option::as_mut);
        [grains, bodies, polyhedra, fluid, surface, walls, bonds, contacts, coarse]
            .into_iter()
            .flatten()
    }
}

/// Grains, contacts and bonds.
type Records<'a> = (&'a GrainSnapshot, &'a [ContactRecord], &'a [BondSnapshot]);

fn coarse_fields(format: Format, plan: &CoarsePlan, (grains, contacts, bonds): Records, time: f64) -> Vec<u8> {
    let fields = coarse_grain(&plan.grid, plan.width, grains, contacts, bonds);
    let image = Image {
        origin: plan.grid.origin.to_array(),
        spacing: plan.grid.spacing,
        points: plan.grid.points,
        scalars: &[
            ("solid_fraction", &fields.solid_fraction),
            ("density", &fields.density),
            ("pressure", &fields.pressure),
            ("temperature", &fields.temperature),
        ],
        vectors: &[("velocity", &fields.velocity)],
        tensors: &[
            ("contact_stress", &fields.contact_stress),
            ("kinetic_stress", &fields.kinetic_stress),
        ],
    };
    format.image(&image, time)
}
