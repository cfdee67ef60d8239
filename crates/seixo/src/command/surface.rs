//! `seixo surface`: extracts the free surface of the fluids of a run as a mesh.

use super::{Done, Failure, create_folder, write_file};
use crate::terminal;
use clap::{Args, ValueEnum};
use seixo_analysis::{FreeSurface, SurfaceOptions, free_surface};
use seixo_files::mesh_out::{MeshFormat, mesh};
use seixo_files::vtk::{self, SURFACE_FIELDS, VtkFluid, read_fluid};
use seixo_view::{ViewError, fluid_frames};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

/// Extract the free surface of fluids as a mesh, for ParaView and for rendering programs
///
/// The surface is an isosurface of the filled fraction around each point, smoothed with a kernel. Its value is that found half a spacing above a flat
/// layer of particles, where the fluid ends. Marching cubes extract the mesh; a volume-preserving filter then removes bumps of the size of particles.
/// Every surface is closed, also at walls; at a periodic side it ends and fits its image. Each fluid has a surface of its own. Lengths are in
/// spacings, the distance of particles at rest. The program prints for each frame how well the mesh preserves the volume of the fluid;
/// docs/reference/fluids.md gives the accuracy.
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo surface dam.out                                  the last frame, to dam.out/fields/surface_000100.vtp, say
  seixo surface dam.out --all                            every frame, and surface.pvd, which ParaView plays beside walls.pvd
  seixo surface dam.out --frame 40 --out splash.ply      for a program that renders; or .obj, or .stl, which has triangles alone
  seixo surface dam.out --all --format obj --out meshes  a folder of them
  seixo surface dam.out --smoothing-length 1.5           smoother, with fewer drops
  seixo surface dam.out --cube-size 0.25 --smooth 30     finer triangles, and smoother, with the same drops

A run writes them as it goes with surface = true under [output]; seixo picture DIR --surface draws them.")]
pub struct SurfaceArguments {
    /// Folder of the run
    folder: PathBuf,
    /// Number of the frame, from 0; default: the last frame
    #[arg(long, value_name = "N", conflicts_with = "all")]
    frame: Option<usize>,
    /// Every frame; .vtp files also get a list surface.pvd for ParaView
    #[arg(long)]
    all: bool,
    /// Fields to write at the vertices, separated by commas; default: all. Only .vtp files have fields
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = SURFACE_FIELDS)]
    field: Vec<String>,
    /// Smoothing length, half the width of the smoothing kernel, in spacings, 0.8 to 4. A larger value is smoother, but loses drops and thin sheets
    #[arg(long, value_name = "SPACINGS", default_value_t = SurfaceOptions::default().smoothing_length)]
    smoothing_length: f64,
    /// Edge of the marching cubes, in spacings, 0.1 to 1. Half the edge gives four times the triangles
    #[arg(long, value_name = "SPACINGS", default_value_t = SurfaceOptions::default().cube_size)]
    cube_size: f64,
    /// Filled fraction at the surface, 0.05 to 0.95; default: its value at a flat surface, 0.586 with the default smoothing length
    #[arg(long, value_name = "SHARE")]
    threshold: Option<f64>,
    /// Number of smoothing passes over the mesh; drops of one particle are not smoothed
    #[arg(long, value_name = "TIMES", default_value_t = SurfaceOptions::default().smoothing)]
    smooth: u32,
    /// File format; default: from the ending of --out, else .vtp
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Number of frames to process at once; 0 = number of cores. Results have the same bits for any number
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// File to write, or with --all the folder; default: beside the frames
    #[arg(long, short, value_name = "PATH")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// VTK XML PolyData for ParaView, with fields
    Vtp,
    /// Binary STL, triangles only
    Stl,
    /// Wavefront OBJ, text
    Obj,
    /// Binary PLY, with normals
    Ply,
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Format::Vtp => "vtp",
            Format::Stl => "stl",
            Format::Obj => "obj",
            Format::Ply => "ply",
        }
    }
}

/// Result of a frame.
struct Made {
    time: f64,
    path: PathBuf,
    bytes: Vec<u8>,
    reported: String,
}

fn input(error: impl Display) -> Failure {
    Failure::Input(error.to_string())
}

impl SurfaceArguments {
    /// Returns the files of the selected frames.
    fn frames(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut frames = fluid_frames(&self.folder).map_err(input)?;
        if self.all {
            return Ok(frames);
        }
        let last = frames.len() - 1;
        let frame = self.frame.unwrap_or(last);
        if frame > last {
            return Err(input(ViewError::FrameOutOfRange { frame, last }));
        }
        Ok(vec![frames.swap_remove(frame)])
    }

    fn format(&self) -> Result<Format, Failure> {
        let (None, Some(out), false) = (self.format, &self.out, self.all) else {
            return Ok(self.format.unwrap_or(Format::Vtp));
        };
        let ending = out.extension().unwrap_or_default().to_string_lossy();
        Format::from_str(&ending, true).map_err(|_| {
            input(format!(
                "{}: the ending says no format; end it with .vtp, .stl, .obj or .ply, or name one with --format",
                out.display()
            ))
        })
    }

    /// Returns the path for the surface of a frame.
    fn place(&self, frame: &Path, format: Format) -> PathBuf {
        let name = frame
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .replace("fluid_", "surface_");
        let name = format!("{name}.{}", format.ending());
        match &self.out {
            Some(folder) if self.all => folder.join(name),
            Some(file) => file.clone(),
            None => frame.with_file_name(name),
        }
    }

    fn make(&self, frame: &Path, format: Format) -> Result<Made, String> {
        let fluid = read_fluid(frame).map_err(|error| error.to_string())?;
        let options = SurfaceOptions {
            smoothing_length: self.smoothing_length,
            cube_size: self.cube_size,
            threshold: self.threshold,
            smoothing: self.smooth,
        };
        let found = free_surface(&fluid.particles, fluid.spacing, &fluid.cell, &options);
        let surface = found.map_err(|error| format!("{}: {error}", frame.display()))?;
        let FreeSurface {
            vertices,
            normals,
            triangles,
            ..
        } = &surface;
        let written = |format| mesh(format, &vertices.position, normals, triangles);
        let bytes = match format {
            Format::Vtp if self.field.is_empty() => vtk::surface(vertices, normals, triangles, &SURFACE_FIELDS, fluid.time),
            Format::Vtp => {
                let fields: Vec<&str> = self.field.iter().map(String::as_str).collect();
                vtk::surface(vertices, normals, triangles, &fields, fluid.time)
            }
            Format::Stl => written(MeshFormat::Stl),
            Format::Obj => written(MeshFormat::Obj),
            Format::Ply => written(MeshFormat::Ply),
        };
        let path = self.place(frame, format);
        Ok(Made {
            time: fluid.time,
            reported: format!("{}: {}", path.display(), size_text(&fluid, &surface)),
            path,
            bytes,
        })
    }
}

/// Describes the size of the surfaces, and how well they preserve the volume of the fluids.
fn size_text(fluid: &VtkFluid, surface: &FreeSurface) -> String {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for &kind in &fluid.particles.kind {
        *counts.entry(kind).or_default() += 1;
    }
    let of_one = |(&kind, &count): (&u32, &usize)| {
        let [vertices, triangles] = surface.count_of(kind).map(|count| terminal::count(count as u64));
        let (enclosed, whole) = (surface.volume_of(kind), count as f64 * fluid.spacing.powi(3));
        let held = if enclosed.is_nan() {
            "open at all sides".to_owned()
        } else {
            let share = 100.0 * enclosed / whole;
            format!("{enclosed:.4e} m³ enclosed, {share:.1} % of the {whole:.4e} m³ of fluid")
        };
        let name = if counts.len() > 1 {
            format!("fluid {kind}: ")
        } else {
            String::new()
        };
        format!("{name}{vertices} vertices, {triangles} triangles; {held}")
    };
    let each: Vec<String> = counts.iter().map(of_one).collect();
    if each.is_empty() {
        "no particles".to_owned()
    } else {
        each.join("; ")
    }
}

/// Extracts the surfaces.
pub fn surface(arguments: &SurfaceArguments) -> Done {
    let (frames, format) = (arguments.frames()?, arguments.format()?);
    if let Some(folder) = arguments.out.as_ref().filter(|_| arguments.all) {
        create_folder(folder)?;
    }
    let at_once = match arguments.threads {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    };
    let mut listed = Vec::new();
    for batch in frames.chunks(at_once) {
        let made: Vec<Result<Made, String>> = thread::scope(|scope| {
            let started: Vec<_> = batch
                .iter()
                .map(|frame| scope.spawn(move || arguments.make(frame, format)))
                .collect();
            let ended = started.into_iter().map(|one| one.join());
            ended
                .map(|one| one.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        for made in made {
            let made = made.map_err(Failure::Input)?;
            write_file(&made.path, &made.bytes)?;
            terminal::out(&made.reported)?;
            listed.push((made.time, made.path));
        }
    }
    if arguments.all && format == Format::Vtp {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let series: Vec<(f64, String)> = listed.iter().map(|(time, path)| (*time, name(path))).collect();
        let path = arguments.place(&frames[0], format).with_file_name("surface.pvd");
        write_file(&path, vtk::collection(&series).as_bytes())?;
        terminal::out(&path.display().to_string())?;
    }
    Ok(())
}
