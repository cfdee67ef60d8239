//! `seixo spheres`: fills a mesh with equal spheres.

use super::info::{lines, with_edges};
use super::{Done, Failure, quantity_in, write_file};
use crate::terminal;
use clap::{Args, ValueEnum};
use seixo_analysis::components;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::voxels::VoxelFilling;
use seixo_files::{grains_out, vtk};
use seixo_scene::quantity::Parsed;
use seixo_scene::{Device, VoxelizationRequest, VoxelizedMesh, spheres_of_mesh};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Convert a mesh to equal spheres, and print size, bounding radius, mass, center and inertia
///
/// The box around the mesh is divided into cubes as wide as a sphere. Parallel lines cross the mesh along x, y and z, 16 × 16 through every cube. A
/// cube that contains a crossing becomes a sphere; with --fill solid, cubes inside the mesh become spheres too. Any mesh is accepted, also an open or
/// self-intersecting one: its defects are reported, and a cube is inside if two of the three axes find it inside. Mass, center and inertia are those
/// of the mesh if it is closed, else those of the spheres. Parts of a closed mesh that overlap are filled once, but the mass counts their overlap once
/// for each part; a note gives the number of such cubes. CPU and GPU give the same spheres. Results are stored in the cache folder of the user. See
/// docs/reference/shapes.md.
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo spheres teapot.stl --radius 0.05                            how many, how heavy; lengths are those of the mesh, which are meters
  seixo spheres teapot.stl --unit mm --radius 0.5 --fill solid      a mesh in millimeters, and spheres of half of one
  seixo spheres teapot.stl --radius 0.05 --density \"500 kg/m^3\"     mass and moments of inertia in SI
  seixo spheres teapot.stl --radius 0.05 --out teapot.csv           a table for `file` of [grains.NAME] or [shape.NAME]
  seixo spheres teapot.stl --radius 0.05 --out teapot.vtp           for ParaView

A clump in a scene needs no file of spheres:
  [shape.teapot]
  mesh = \"teapot.stl\"
  unit = \"mm\"
  spheres = { radius = 0.5, fill = \"solid\" }")]
pub struct SpheresArguments {
    /// Mesh file: STL, OBJ or PLY
    mesh: PathBuf,
    /// Radius of the spheres, in the unit of the mesh or with a unit, such as "0.5 mm"
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    radius: Parsed,
    /// Cubes that become spheres
    #[arg(long, value_enum, default_value = "surface")]
    fill: Fill,
    /// Density, such as "2500 kg/m^3"; default: inertia is printed for a density of 1 kg/m³
    #[arg(long, value_name = "DENSITY", value_parser = density)]
    density: Option<f64>,
    /// Unit of the coordinates of the mesh, such as mm
    #[arg(long, value_name = "UNIT", value_parser = unit, default_value = "m")]
    unit: f64,
    /// Device that computes: cpu, gpu, auto, cuda or wgpu; `seixo info` lists the devices of this machine
    #[arg(long, default_value_t = Device::Cpu)]
    device: Device,
    /// Number of CPU threads; 0 = all cores. Results are the same for any number
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Write the spheres to this file: a table in meters (.csv), or points for ParaView (.vtp)
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object on the standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Fill {
    /// On the surface
    Surface,
    /// On the surface and inside
    Solid,
}

fn length(text: &str) -> Result<Parsed, String> {
    quantity_in("m", text)
}

fn density(text: &str) -> Result<f64, String> {
    let density = quantity_in("kg/m^3", text)?.value;
    (density > 0.0)
        .then_some(density)
        .ok_or_else(|| "write a density above 0, such as \"2500 kg/m^3\"".to_owned())
}

fn unit(text: &str) -> Result<f64, String> {
    let one = quantity_in("m", &format!("1 {text}"))?;
    one.powers
        .map(|_| one.value)
        .ok_or_else(|| "write a unit of length, such as mm".to_owned())
}

impl SpheresArguments {
    /// Radius \[m\].
    fn radius(&self) -> f64 {
        match self.radius.powers {
            Some(_) => self.radius.value,
            None => self.radius.value * self.unit,
        }
    }

    fn find(&self) -> Result<VoxelizedMesh, Failure> {
        let wish = VoxelizationRequest {
            radius: self.radius(),
            filling: match self.fill {
                Fill::Surface => VoxelFilling::Surface,
                Fill::Solid => VoxelFilling::Solid,
            },
            device: self.device.choice()?,
            threads: self.threads,
        };
        spheres_of_mesh(&self.mesh, self.unit, &wish).map_err(Failure::from)
    }

    fn report(&self, found: &VoxelizedMesh) -> Value {
        let VoxelizedMesh {
            edges, lattice, voxels, ..
        } = found;
        let solid = found.solid();
        let (moments, axes) = solid.principal_axes();
        let density = self.density.unwrap_or(1.0);
        // As of a clump in a scene: the sphere about the center of mass that contains all spheres.
        let distances = found.centers.iter().map(|&at| solid.center.distance(at.into()));
        let bounding_radius = distances.fold(0.0, f64::max) + self.radius();
        let (center, inertia) = (solid.center.to_array(), components(&solid.inertia));
        let mesh = json!({
            "path": self.mesh.display().to_string(),
            "triangles": found.mesh.len(),
            "triangles_turned_over": found.turned,
            "min": lattice.bounds[0],
            "max": lattice.bounds[1],
            "size": terminal::size(lattice.bounds),
            "volume": found.of_mesh.map(|solid| solid.volume),
        });
        json!({
            "mesh": with_edges(mesh, edges),
            "cubes": {
                "along_x_y_z": lattice.counts,
                "inside": voxels.inside,
                "disputed_by_the_three_axes": voxels.disputed,
                "inside_of_several_parts": voxels.doubled,
                "from_cache": found.is_kept,
            },
            "spheres": {
                "count": found.centers.len(),
                "radius": self.radius(),
                "volume": found.of_spheres.volume,
            },
            "body": {
                "as": if found.of_mesh.is_some() { "the mesh" } else { "the spheres" },
                "density": self.density,
                "mass": self.density.map(|density| density * solid.volume),
                "volume": solid.volume,
                "center": center,
                "bounding_radius": bounding_radius,
                "inertia": inertia.map(|moment| density * moment),
                "principal_inertia": (moments * density).to_array(),
                "principal_axes": axes.to_cols_array_2d(),
                "solid_for_a_shape": format!("{{ volume = {:?}, center = {center:?}, inertia = {inertia:?} }}", solid.volume),
            },
        })
    }
}

/// Function that writes a file of spheres with these centers and this radius \[m\].
type Writer = fn(&[[f64; 3]], f64) -> Vec<u8>;

/// Selects the format by the ending of the file.
fn writer(out: &Path) -> Result<Writer, Failure> {
    match out.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => Ok(|centers, radius| grains_out::spheres(centers, radius).into_bytes()),
        Some("vtp") => Ok(points),
        _ => Err(Failure::Input(format!(
            "{}: the ending says no format; end it with .csv or .vtp",
            out.display()
        ))),
    }
}

fn points(centers: &[[f64; 3]], radius: f64) -> Vec<u8> {
    let spheres = GrainSnapshot {
        id: (0..centers.len() as u32).collect(),
        position: centers.to_vec(),
        radius: vec![radius; centers.len()],
        ..GrainSnapshot::default()
    };
    vtk::grains(&spheres, &[], 0.0)
}

/// Finds the spheres, prints their properties and writes them.
pub fn spheres(arguments: &SpheresArguments) -> Done {
    let reported = |failure: Failure| failure.with_json(arguments.json);
    let file = arguments.out.as_deref().map(|out| writer(out).map(|write| (out, write)));
    let file = file.transpose().map_err(reported)?;
    let found = arguments.find().map_err(reported)?;
    found.notices.iter().for_each(|notice| terminal::note(notice));
    let report = arguments.report(&found);
    if arguments.json {
        terminal::json(&report)?;
    } else {
        terminal::out(&lines(&report, 0))?;
    }
    match file {
        Some((out, write)) => write_file(out, &write(&found.centers, arguments.radius())),
        None => Ok(()),
    }
}
