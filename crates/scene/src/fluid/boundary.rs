//! Wall particles: several layers behind each wall, so that the support of fluid particles before it is complete.

use super::{
    Layout,
    cells::{Cells, Portion, ROUNDING, volume},
    open_boundary_space::OpenBoundarySpace,
    planes::{self, Flat},
    point_index::PointIndex,
    shells,
    surface::{SURFACE, Surface},
    thickness,
};
use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    fill::corners,
    schema::{BoxShape, SceneFile},
    stage::{Plan, StageAction, StageItem},
    vocabulary::{Slip, Word},
};
use glam::DVec3;
use seixo_engine::world::{Particles, SurfaceMotion, WallMotion, WallParticles, WallShape, World};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// Smallest distance between wall particles that move together, where their lattices join \[spacings\].
const NEAREST: f64 = 0.5;
/// Smallest distance between a wall particle and a fluid particle at the start \[spacings\].
const INSIDE: f64 = 0.3;
/// How often cells at the surface of a mesh are halved, in space and in a plane flow.
const HALVINGS: [u32; 2] = [2, 3];
/// Number of fluid particles that vote on the fluid side of a wall.
const VOTERS: usize = 100;

/// Boundaries of the fluids, and the fluid particles.
pub(super) struct FluidSurroundings<'a> {
    pub file: &'a SceneFile,
    pub world: &'a World,
    /// The walls of every section.
    pub ranges: &'a BTreeMap<String, Range<usize>>,
    pub plan: &'a Plan,
    pub layout: &'a Layout,
    pub particles: &'a Particles,
    /// Inlets and outlets of fluids.
    pub ways: &'a OpenBoundarySpace<'a>,
}

/// Walls that move, are added and are removed together. The space behind one of them need not be behind another.
pub(super) struct WallGroup {
    /// The smallest range of walls that a stage names with them: a face of a box may be removed by itself.
    named_with: Option<Range<usize>>,
    motion: WallMotion,
    pub walls: Vec<usize>,
}

impl WallGroup {
    fn has(&self, wall: u32) -> bool {
        self.walls.contains(&(wall as usize))
    }
}

/// All walls, in the form that the fluid code uses.
struct Enclosure {
    flats: Vec<Flat>,
    surfaces: Vec<Surface>,
}

/// An error, with its wall.
type At = (u32, UnlocatedDiagnostic);

impl FluidSurroundings<'_> {
    /// The wall particles. Reports fluid behind walls or inside wall particles.
    pub(super) fn bound(&self, findings: &mut CheckState) -> WallParticles {
        self.stand_all(findings).unwrap_or_else(|(wall, complaint)| {
            self.complain(wall, complaint, findings);
            WallParticles::default()
        })
    }

    /// Adds an error of a wall.
    pub(super) fn complain(&self, wall: u32, complaint: UnlocatedDiagnostic, findings: &mut CheckState) {
        let section = self.ranges.iter().find(|(_, range)| range.contains(&(wall as usize)));
        let path = section.map_or_else(String::new, |(name, _)| format!("wall.{name}"));
        findings.add(&path, complaint.within(&path));
    }

    fn stand_all(&self, findings: &mut CheckState) -> Result<WallParticles, At> {
        let companies = self.companies();
        let enclosure = self.enclosure(&companies)?;
        let (mut boundary, mut taken) = (WallParticles::default(), Vec::new());
        for company in &companies {
            taken.push(self.place_wall_particles(company, &companies[0], &enclosure, &mut boundary)?);
        }
        let whole = volume(self.layout.spacing, self.layout.across);
        if boundary.volume.iter().all(|volume| (volume / whole - 1.0).abs() < ROUNDING) {
            boundary.volume.clear();
        }
        self.note_open_planes(&companies[0], &enclosure, findings);
        self.refuse_inside(&enclosure, &taken, findings);
        thickness::refuse_thin(self, &enclosure.surfaces, findings);
        self.warn_of_walls_without_particles(&boundary, findings);
        Ok(boundary)
    }

    /// Reports walls without particles, which fluids would pass. Planes parallel to a plane flow are no walls for it and are not reported.
    fn warn_of_walls_without_particles(&self, boundary: &WallParticles, findings: &mut CheckState) {
        let coupled: BTreeSet<u32> = boundary.wall.iter().copied().collect();
        let is_along_flow = |wall: usize| match (&self.world.walls[wall].shape, self.layout.across) {
            (WallShape::Plane { normal, .. }, Some(axis)) => normal[axis].abs() > 1.0 - 1e-9,
            _ => false,
        };
        for (name, range) in self.ranges {
            let acts_on_fluid = range.clone().any(|wall| coupled.contains(&(wall as u32)));
            if !acts_on_fluid && !range.clone().all(is_along_flow) {
                findings.notices.push(format!(
                    "wall.{name}: it has no wall particles, and fluids pass through: it is behind other walls, too small, or farther away than fluids and \
                     other walls reach at the start; a plane that is to hold what comes later needs a world.domain that reaches it"
                ));
            }
        }
    }

    /// The motions of a group of walls, at the start and after stages.
    pub(super) fn motions_of<'a>(&'a self, company: &'a WallGroup) -> Vec<&'a WallMotion> {
        let actions = self.plan.stages.iter().flat_map(|stage| &stage.actions);
        let of_stages = actions.filter_map(|act| match act {
            StageAction::Motion(walls, motion) if company.walls.iter().any(|wall| walls.contains(wall)) => Some(&**motion),
            _ => None,
        });
        std::iter::once(&company.motion).chain(of_stages).collect()
    }

    /// Corners of the boxes whose faces are walls, with these walls. Solid boxes are meshes.
    fn boxes(&self) -> Vec<(Range<usize>, [DVec3; 2])> {
        let of_section = |(name, section): (&String, &crate::schema::WallSection)| {
            let shape = section.box_.as_ref().filter(|_| !section.is_solid())?;
            let (min, max) = (shape.min, shape.max);
            let (min, max) = corners(&BoxShape { min, max }).ok()?;
            Some((self.ranges.get(name)?.clone(), [min, max]))
        };
        self.file.wall.iter().filter_map(of_section).collect()
    }

    /// The walls in the form that the fluid code uses, each with the space before it that fluids may fill. For faces of a box this is the box. For
    /// other planes it is the space that fluids, walls and the domain occupy, up to planes that close it.
    ///
    /// # Errors
    /// When a wall is too large.
    fn enclosure(&self, companies: &[WallGroup]) -> Result<Enclosure, At> {
        let FluidSurroundings {
            layout, particles, world, ..
        } = *self;
        let boxes = self.boxes();
        let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let mut take_in = |place: DVec3, around: f64| {
            min = min.min(place - around);
            max = max.max(place + around);
        };
        for place in &particles.position {
            take_in(DVec3::from(*place), 0.5 * layout.spacing);
        }
        for wall in &world.walls {
            for corner in wall.shape.triangles().iter().flatten() {
                take_in(DVec3::from(*corner), layout.band());
            }
        }
        for corner in boxes.iter().flat_map(|(_, corners)| corners) {
            take_in(*corner, 0.0);
        }
        for corner in self.ways.corners() {
            take_in(corner, 0.5 * layout.spacing);
        }
        for corner in world.domain.iter().flat_map(|domain| [domain.min, domain.max]) {
            take_in(DVec3::from(corner), 0.0);
        }
        if world.domain.is_none() {
            let sides = world.walls.iter().filter_map(|wall| match wall.shape {
                WallShape::Plane { point, normal } => Some((DVec3::from(normal), DVec3::from(normal).dot(point.into()))),
                _ => None,
            });
            [min, max] = planes::reach(&sides.collect::<Vec<_>>(), [min, max]);
        }
        let extent_of = |wall: usize| {
            let of_box = boxes.iter().find(|(range, _)| range.contains(&wall));
            let [mut low, mut high] = of_box.map_or([min, max], |(_, corners)| *corners);
            for axis in 0..3 {
                let fixed = if layout.across == Some(axis) {
                    Some([0.0; 2])
                } else {
                    layout.periods[axis]
                };
                if let Some([from, to]) = fixed {
                    (low[axis], high[axis]) = (from, to);
                }
            }
            [low, high]
        };
        let voters = self.voters();
        let (mut flats, mut surfaces) = (Vec::new(), Vec::new());
        for (index, wall) in world.walls.iter().enumerate() {
            if let WallShape::Plane { point, normal } = wall.shape {
                flats.extend(Flat::new(index as u32, (point, normal), extent_of(index), layout.across));
            }
        }
        for company in companies {
            let walls: Vec<(u32, &WallShape)> = company.walls.iter().map(|&wall| (wall as u32, &world.walls[wall].shape)).collect();
            surfaces.extend(Surface::all(&walls, &self.motions_of(company), layout, &voters)?);
        }
        Ok(Enclosure { flats, surfaces })
    }

    /// Fluid particles, or those that come first, that vote on the fluid side of walls.
    pub(super) fn voters(&self) -> Vec<DVec3> {
        let position = &self.particles.position;
        let step = position.len().div_ceil(VOTERS).max(1);
        let mut voters: Vec<DVec3> = position.iter().step_by(step).map(|place| DVec3::from(*place)).collect();
        if voters.is_empty() {
            voters.extend(self.ways.fronts().into_iter().map(|(_, place)| place));
        }
        voters
    }

    /// The walls in groups: first those that are always present and at rest, then others.
    pub(super) fn companies(&self) -> Vec<WallGroup> {
        let actions = self.plan.stages.iter().flat_map(|stage| &stage.actions);
        let named: Vec<Range<usize>> = actions
            .filter_map(|act| match act {
                StageAction::Remove(StageItem::Walls(walls))
                | StageAction::Add(StageItem::Walls(walls))
                | StageAction::Motion(walls, _) => Some(walls.clone()),
                _ => None,
            })
            .collect();
        let mut companies = vec![WallGroup {
            named_with: None,
            motion: WallMotion::default(),
            walls: Vec::new(),
        }];
        for (index, wall) in self.world.walls.iter().enumerate() {
            let naming = named.iter().filter(|walls| walls.contains(&index));
            let named_with = naming.min_by_key(|walls| walls.len()).cloned();
            // A moving surface does not move the wall itself.
            let motion = WallMotion {
                surface: SurfaceMotion::default(),
                ..wall.motion.clone()
            };
            let known = companies
                .iter()
                .position(|company| company.named_with == named_with && company.motion == motion);
            match known {
                Some(known) => companies[known].walls.push(index),
                None => companies.push(WallGroup {
                    named_with,
                    motion,
                    walls: vec![index],
                }),
            }
        }
        companies
    }

    /// Places the particles of a group behind its walls, except where earlier groups already have particles. Returns their positions.
    ///
    /// # Errors
    /// If a wall needs too many.
    fn place_wall_particles(
        &self,
        company: &WallGroup,
        lasting: &WallGroup,
        enclosure: &Enclosure,
        boundary: &mut WallParticles,
    ) -> Result<PointIndex, At> {
        let layout = self.layout;
        let spacing = layout.spacing;
        let is_seen = |wall: u32| company.has(wall) || lasting.has(wall);
        let (flats, others): (Vec<&Flat>, Vec<&Flat>) = enclosure
            .flats
            .iter()
            .filter(|flat| is_seen(flat.wall))
            .partition(|flat| company.has(flat.wall));
        let surfaces: Vec<&Surface> = enclosure.surfaces.iter().filter(|surface| is_seen(surface.wall)).collect();
        let whole = volume(spacing, layout.across);
        let mut places = PointIndex::new(spacing, layout.periods);
        let mut keep = |at: DVec3, wall: u32, nearest: f64| {
            if layout.holds(at) && !self.ways.crosses(at) && places.nearer_than((nearest - 1e-6) * spacing, at).is_none() {
                places.add(at, wall);
                boundary.position.push(at.to_array());
                boundary.wall.push(wall);
                boundary.volume.push(whole);
            }
        };
        planes::visit(&flats, layout, &mut |at, wall| {
            if others.iter().all(|other| other.before(at) >= 0.0) {
                keep(at, wall, NEAREST);
            }
        })?;
        let (faceted, round): (Vec<&Surface>, Vec<&Surface>) = surfaces.iter().copied().partition(|surface| surface.is_faceted());
        for surface in round.iter().filter(|surface| company.has(surface.wall)) {
            shells::offer(surface, layout, &mut |at, nearest| {
                let is_behind = surface.has_wall_particle_at(at, layout);
                let is_clear = || flats.iter().chain(&others).all(|flat| flat.before(at) > SURFACE * spacing);
                let is_clear_of = |other: &&Surface| {
                    let is_far = || {
                        other
                            .look(at)
                            .is_none_or(|look| look.is_behind || look.distance > SURFACE * spacing)
                    };
                    other.wall == surface.wall || other.is_faceted() || is_far()
                };
                if is_behind && is_clear() && surfaces.iter().all(is_clear_of) {
                    keep(at, surface.wall, nearest);
                }
            });
        }
        // Space behind several walls belongs to the first one: one that is always present, or a round one.
        let mut before: Vec<&Surface> = surfaces
            .iter()
            .copied()
            .filter(|surface| !(company.has(surface.wall) && surface.is_faceted()))
            .collect();
        let flats: Vec<&Flat> = flats.iter().chain(&others).copied().collect();
        for surface in faceted.into_iter().filter(|surface| company.has(surface.wall)) {
            for Portion { place, volume } in self.portions(surface, &flats, &before) {
                if layout.holds(place) && !self.ways.crosses(place) {
                    let wall = surface.look(place).map_or(surface.wall, |look| look.wall);
                    if surface.depth(place) > SURFACE * spacing {
                        places.add(place, wall);
                    }
                    boundary.position.push(place.to_array());
                    boundary.wall.push(wall);
                    boundary.volume.push(volume);
                }
            }
            before.push(surface);
        }
        Ok(places)
    }

    /// The particles behind a surface of flat faces. They fill the cells of the fluid's lattice that are behind it, before all planes, and not behind
    /// earlier surfaces.
    fn portions(&self, surface: &Surface, flats: &[&Flat], first: &[&Surface]) -> Vec<Portion> {
        let layout = self.layout;
        let band = layout.band() * (1.0 + ROUNDING);
        let cells = Cells {
            corner: layout.origin,
            step: DVec3::splat(layout.spacing),
            across: layout.across,
            halvings: HALVINGS[usize::from(layout.across.is_some())],
        };
        let depth = |at: DVec3, _: f64| {
            let before = flats.iter().map(|flat| flat.before(at));
            let beside = first
                .iter()
                .map(|other| other.depth(at))
                .filter(|depth| *depth < band)
                .map(|depth| -depth);
            let within = layout.periods.iter().enumerate().filter(|(axis, _)| layout.across != Some(*axis));
            let within = within.filter_map(|(axis, ends)| ends.map(|[min, max]| (at[axis] - min).min(max - at[axis])));
            before.chain(beside).chain(within).fold(surface.depth(at), f64::min)
        };
        let is_seen = |cell: &[i64; 3]| surface.depth(cells.middle(*cell)) < band;
        let near = surface.cells().into_iter().flat_map(|cell| {
            let ends = cell.map(|index| [index, index + 1].map(|index| index as f64 * surface.edge));
            let [along_x, along_y, along_z] = [0, 1, 2].map(|axis| cells.between(axis, ends[axis][0], ends[axis][1]));
            let mut inside = Vec::new();
            for z in along_z {
                for y in along_y.clone() {
                    inside.extend(along_x.clone().map(|x| [x, y, z]));
                }
            }
            inside
        });
        cells.portions(near.filter(is_seen), &depth)
    }

    /// Notes planes whose particles end although nothing closes them.
    fn note_open_planes(&self, lasting: &WallGroup, enclosure: &Enclosure, findings: &mut CheckState) {
        let FluidSurroundings { layout, world, .. } = *self;
        let boxes = self.boxes();
        let of_box = |wall: u32| boxes.iter().any(|(range, _)| range.contains(&(wall as usize)));
        let flats: Vec<&Flat> = enclosure.flats.iter().filter(|flat| lasting.has(flat.wall)).collect();
        let is_closed = |axis: usize| {
            let is_at_end = |facing: f64| flats.iter().any(|flat| flat.normal[axis] == facing);
            layout.across == Some(axis) || layout.periods[axis].is_some() || is_at_end(1.0) && is_at_end(-1.0)
        };
        let is_open = |flat: &&&Flat| {
            let main = flat.normal.abs().max_position();
            !of_box(flat.wall) && (0..3).any(|axis| axis != main && !is_closed(axis))
        };
        if let Some(open) = flats.iter().find(is_open).filter(|_| world.domain.is_none()) {
            let [min, max] = open.extent;
            findings.notices.push(format!(
                "wall.{}: it holds fluids from {min:.4} to {max:.4} m, as far as they and walls reach at the start; in a world.domain it holds \
                 them everywhere",
                world.walls[open.wall as usize].name
            ));
        }
    }

    /// Refuses fluid behind planes, inside wall particles and in inlets, and inlets into walls, for walls that are present at the start.
    fn refuse_inside(&self, enclosure: &Enclosure, taken: &[PointIndex], findings: &mut CheckState) {
        let is_there = |wall: &u32| {
            let is_it = |thing: &StageItem| matches!(thing, StageItem::Walls(walls) if walls.contains(&(*wall as usize)));
            !self.plan.absent.iter().any(is_it)
        };
        let near = INSIDE * self.layout.spacing;
        let flats: Vec<&Flat> = enclosure.flats.iter().filter(|flat| is_there(&flat.wall)).collect();
        let surfaces: Vec<&Surface> = enclosure.surfaces.iter().filter(|surface| is_there(&surface.wall)).collect();
        let wall_at = |place: DVec3| -> Option<u32> {
            let behind_flat = flats.iter().find(|flat| flat.before(place) < 0.0).map(|flat| flat.wall);
            let mut looks = surfaces.iter().filter_map(|surface| surface.look(place));
            let behind_surface = || looks.find(|look| look.is_behind && look.distance > near).map(|look| look.wall);
            let behind = behind_flat.or_else(behind_surface);
            let owner = |places: &PointIndex| places.nearer_than(near, place).filter(is_there);
            behind.or_else(|| taken.iter().find_map(owner))
        };
        let by_inlet = self
            .ways
            .fronts()
            .into_iter()
            .find_map(|(name, place)| Some((name, place, wall_at(place)?)));
        if let Some((name, place, wall)) = by_inlet {
            let wall = &self.world.walls[wall as usize].name;
            let complaint = UnlocatedDiagnostic::new(format!(
                "inlet.{name}: what comes would be at {place:.6} m, inside wall.{wall}, or behind it"
            ));
            findings.add(
                &format!("inlet.{name}.through"),
                complaint
                    .limit(format!("{INSIDE} spacings from wall particles"))
                    .remedy("move it, make it smaller, or turn it: fluid goes to where the normal points"),
            );
        }
        let name_of = |kind: &u32| self.file.fluid.keys().nth(*kind as usize).map_or("", String::as_str);
        let all = || {
            let kinds = self.particles.kind.iter().map(name_of);
            self.particles.position.iter().map(|place| DVec3::from(*place)).zip(kinds)
        };
        if let Some((place, name, inlet)) = all().find_map(|(place, name)| Some((place, name, self.ways.inlet_at(place)?))) {
            let complaint = UnlocatedDiagnostic::new(format!(
                "fluid.{name}: its particle at {place:.6} m is where those of inlet.{} are on their way",
                inlet.name
            ));
            findings.add(
                &format!("fluid.{name}.fill"),
                complaint
                    .limit(format!("{:.6} m behind the inlet free of fluid", self.layout.band()))
                    .remedy("fill a region that ends at the inlet, or move the inlet"),
            );
        }
        let Some((place, name, wall)) = all().find_map(|(place, name)| Some((place, name, wall_at(place)?))) else {
            return;
        };
        let wall = &self.world.walls[wall as usize].name;
        let complaint = UnlocatedDiagnostic::new(format!(
            "fluid.{name}: its particle at {place:.6} m is inside wall.{wall}, or behind it"
        ));
        findings.add(
            &format!("fluid.{name}.fill"),
            complaint
                .limit(format!(
                    "{INSIDE} spacings from wall particles, the first of which are half a spacing behind the wall"
                ))
                .remedy("fill a region that ends at the wall, or move the wall; before a plane is where its normal points to"),
        );
    }
}

/// Whether fluids slip freely, for each wall of the world. By default those of \[Müller 2003\] do, others do not.
pub(super) fn slips(file: &mut SceneFile, is_muller: bool, walls: usize, ranges: &BTreeMap<String, Range<usize>>) -> Vec<bool> {
    let usual = if is_muller { Slip::Free } else { Slip::None };
    let mut slips = vec![false; walls];
    for (name, section) in &mut file.wall {
        let slip = section.slip.get_or_insert(Word(usual)).0;
        if let Some(range) = ranges.get(name) {
            slips[range.clone()].fill(slip == Slip::Free);
        }
    }
    slips
}
