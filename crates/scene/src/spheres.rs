//! Meshes as equal spheres, with their mass properties: for shapes of clumps, and for the command line.

use crate::{
    diagnostics::UnlocatedDiagnostic,
    mesh_placement::{MeshPlacement, placed_mesh},
    orient_mesh::{NO_VOLUME, notice, turn_outward},
};
use glam::DVec3;
use seixo_analysis::{Solid, solid_of_apart, solid_of_mesh};
use seixo_engine::voxels::{Edges, Lattice, VoxelError, VoxelFilling, Voxels, voxels};
use seixo_engine::world::{DeviceChoice, Triangle, Vec3};
use seixo_files::cache::{Cache, Key};
use seixo_files::layer::Disk;
use std::path::Path;

/// Version of the voxelization and of its cache: a change makes cached results invalid.
const VERSION: &[u8] = b"cubes 1";

/// Parameters of the conversion of a mesh to spheres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoxelizationRequest {
    /// Radius, in lengths of the mesh.
    pub radius: f64,
    /// Surface or solid.
    pub filling: VoxelFilling,
    /// Device.
    pub device: DeviceChoice,
    /// Threads of the CPU; 0 = one per core.
    pub threads: usize,
}

/// A mesh as spheres.
#[derive(Clone, Debug)]
pub struct VoxelizedMesh {
    /// Its triangles, scaled. Triangles of a closed mesh that faced the wrong side are flipped, even if those are all.
    pub mesh: Vec<Triangle>,
    /// Number of flipped triangles.
    pub turned: usize,
    /// Topology of the mesh.
    pub edges: Edges,
    /// The grid of cubes.
    pub lattice: Lattice,
    /// Result of the voxelization.
    pub voxels: Voxels,
    /// Whether the result comes from the cache.
    pub is_kept: bool,
    /// Centers of the spheres.
    pub centers: Vec<Vec3>,
    /// Volume, center and inertia of the mesh, if it is closed.
    pub of_mesh: Option<Solid>,
    /// Volume, center and inertia of the spheres together; they touch and do not overlap.
    pub of_spheres: Solid,
    /// Notes for the user that are not errors.
    pub notices: Vec<String>,
}

impl VoxelizedMesh {
    /// Mass properties of the body: those of the mesh if it is closed, else those of the spheres.
    pub fn solid(&self) -> &Solid {
        self.of_mesh.as_ref().unwrap_or(&self.of_spheres)
    }
}

/// The spheres of a mesh file, whose lengths are multiplied by `scale`.
///
/// # Errors
/// If the file is no mesh, the radius is unsuitable, a solid is requested of an open mesh, or the device is insufficient.
pub fn spheres_of_mesh(file: &Path, scale: f64, request: &VoxelizationRequest) -> Result<VoxelizedMesh, UnlocatedDiagnostic> {
    let mut mesh = placed_mesh(file, &MeshPlacement::scaled(scale))?;
    let reported = |error: VoxelError| UnlocatedDiagnostic::from_message(&error.to_string()).within(&file.display().to_string());
    let lattice = Lattice::new(&mesh, request.radius).map_err(reported)?;
    let mut edges = Edges::of(&mesh);
    let mut notices = Vec::new();
    let turned = turn_outward(&mut mesh, &edges).unwrap_or_else(|complaint| {
        notices.push(complaint.message);
        0
    });
    if turned > 0 {
        notices.push(notice(turned, mesh.len()));
        edges = Edges::of(&mesh);
    }
    let (key, cache) = (key_of(&mesh, request), Cache::of_user(&Disk, "spheres"));
    let kept = cache.get(&key).and_then(|bytes| unpacked(&bytes, lattice.cubes()));
    let is_kept = kept.is_some();
    let voxels = match kept {
        Some(voxels) => voxels,
        None => {
            let place = (request.device, request.threads);
            let made = voxels(&mesh, &edges, &lattice, request.filling, place, &mut notices).map_err(reported)?;
            cache.put(&key, &packed(&made));
            made
        }
    };
    let enclosed = enclosed(&mesh, &edges, &lattice);
    if request.filling == VoxelFilling::Solid && voxels.inside == 0 && enclosed.is_none() {
        let complaint = UnlocatedDiagnostic::new(format!(
            "{}: no sphere of radius {} is inside of the mesh, which encloses no volume",
            file.display(),
            request.radius
        ));
        return Err(complaint
            .limit("a closed mesh, or one whose inside is wider than the spheres")
            .remedy("fill the surface only, close the mesh, or use a smaller radius"));
    }
    let is_turned = enclosed.is_some_and(|solid| solid.volume < 0.0);
    let of_mesh = enclosed.map(|solid| Solid {
        volume: solid.volume.abs(),
        inertia: if is_turned { -solid.inertia } else { solid.inertia },
        ..solid
    });
    notices.extend(remarks(&edges, &voxels, request.filling, of_mesh.is_some(), is_turned));
    if is_turned {
        mesh.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    }
    let centers: Vec<Vec3> = voxels.taken.iter().map(|&cube| lattice.center(cube)).collect();
    let spheres: Vec<(DVec3, f64)> = centers.iter().map(|&center| (center.into(), request.radius)).collect();
    Ok(VoxelizedMesh {
        mesh,
        turned,
        edges,
        lattice,
        voxels,
        is_kept,
        of_spheres: solid_of_apart(&spheres),
        centers,
        of_mesh,
        notices,
    })
}

/// Volume, center and inertia of a closed mesh; negative if it faces inward.
fn enclosed(mesh: &[Triangle], edges: &Edges, lattice: &Lattice) -> Option<Solid> {
    let [low, high] = lattice.bounds.map(DVec3::from);
    let solid = edges.is_closed().then(|| solid_of_mesh(mesh))?;
    (solid.volume.abs() > NO_VOLUME * (high - low).max_element().powi(3)).then_some(solid)
}

fn remarks(edges: &Edges, voxels: &Voxels, filling: VoxelFilling, has_volume: bool, is_turned: bool) -> Vec<String> {
    let mut remarks = Vec::new();
    if is_turned {
        remarks.push("the mesh is inside out: it is taken with its outside turned out".to_owned());
    }
    if edges.open > 0 {
        remarks.push(format!(
            "the mesh is not closed: it ends at {} of its {} edges",
            edges.open, edges.all
        ));
    }
    if edges.turned > 0 {
        remarks.push(format!(
            "at {} of {} edges triangles do not agree which of their sides is outside: inside is what is behind an odd number of them",
            edges.turned, edges.all
        ));
    }
    if !has_volume {
        remarks.push("mass, center and inertia are those of the spheres, not of the mesh".to_owned());
    } else if voxels.doubled > 0 {
        remarks.push(format!(
            "parts of the mesh overlap: mass, center and inertia count {} cubes once for each part",
            voxels.doubled
        ));
    }
    if !edges.is_closed() && voxels.disputed > 0 && filling == VoxelFilling::Solid {
        remarks.push(format!(
            "seen along x, y and z not the same is inside: of {} cubes two axes of three decide",
            voxels.disputed
        ));
    }
    remarks
}

/// The key of the cache; the device is no part of it.
fn key_of(mesh: &[Triangle], request: &VoxelizationRequest) -> Key {
    let mut key = Key::default();
    key.add(VERSION);
    key.add(&request.radius.to_le_bytes());
    key.add(&[request.filling as u8]);
    for coordinate in mesh.as_flattened().as_flattened() {
        key.add(&coordinate.to_le_bytes());
    }
    key
}

/// Cubes as bytes: three counts, then number and length of every run.
fn packed(voxels: &Voxels) -> Vec<u8> {
    let mut words = vec![voxels.inside, voxels.disputed, voxels.doubled];
    for run in voxels.taken.chunk_by(|cube, next| cube + 1 == *next) {
        words.extend([run[0], run.len() as u32]);
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// The cubes in these bytes, if they are valid for a grid of this size.
fn unpacked(bytes: &[u8], cubes: usize) -> Option<Voxels> {
    let mut words = bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word));
    let mut voxels = Voxels {
        inside: words.next()?,
        disputed: words.next()?,
        doubled: words.next()?,
        taken: Vec::new(),
    };
    while let Some(first) = words.next() {
        let end = first.checked_add(words.next()?).filter(|&end| end as usize <= cubes)?;
        voxels.taken.extend(first..end);
    }
    Some(voxels)
}
