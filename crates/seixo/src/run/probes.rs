//! Probes: quantities over time.

use super::bodies;
use super::dead_zone::DeadZones;
use super::fluids::FluidConstants;
use super::folder::{PROBES, RESULTS, disk};
use super::outputs::{Marks, Sample, table};
use super::plane_counter::{PlaneCounter, time_to_look};
use super::residence::{ResidenceTimes, time_to_follow};
use super::schedule::Schedule;
use super::statistics::Statistics;
use super::stress::stress_of;
use seixo_analysis::{
    FragmentSizes, Plane, Region, RigidMotion, Unstrained, center_of_group, components, coordination, deviatoric, drum_angle, fabric,
    fragments, mixing, pressure, repose, solid_fraction, strain,
};
use seixo_engine::PeriodicCell;
use seixo_engine::state::{Column, GrainScalar, GrainSnapshot, Sections, State, WallSnapshot};
use seixo_engine::world::World;
use seixo_files::FilesError;
use seixo_files::layer::{FileLayer, replace};
use seixo_files::table::{Mark, Table};
use seixo_scene::{Carrier, FluidProbe, Passage, Probe, ProbeKind};
use std::path::{Path, PathBuf};

/// Probe with its lines.
pub(super) struct ProbeLog {
    name: String,
    /// Path of the table in the run folder.
    pub place: String,
    what: ProbeKind,
    /// What carries its places, if they move.
    carrier: Option<Carrier>,
    /// Motion of what carries them up to the last sample of a counter or of residence times.
    carried: RigidMotion,
    /// Whether each column after the time is one of whole numbers.
    is_whole: Vec<bool>,
    time_step: f64,
    passage: PlaneCounter,
    residence: ResidenceTimes,
    /// Step of the next sample of a counter or of residence times, or of the reference of a strain; far in the future for other probes.
    pub next_check: u64,
    /// Reference positions of the grains for a strain: those at the first line, at the start, or at the start of a stage.
    unstrained: Option<Unstrained>,
    fluids: FluidConstants,
    dead_zones: Option<DeadZones>,
    /// Schedule of the inlet at which residence times begin.
    inlet: Option<Schedule>,
    statistics: Option<Statistics>,
    /// File of the results that are no table over time, without its ending.
    results: PathBuf,
    pub schedule: Schedule,
    lines: Lines,
}

/// Where the lines of a probe go.
enum Lines {
    /// Into a table in the run folder.
    Table(Box<Table>),
    /// Into memory: the time \[s\] and the values of each line.
    Kept(Vec<Vec<f64>>),
}

impl ProbeLog {
    /// Opens a new probe, or one that continues from its mark.
    pub fn open(
        (layer, folder): (&dyn FileLayer, &Path),
        probe: &Probe,
        world: &World,
        time_step: f64,
        marks: &Marks,
    ) -> Result<ProbeLog, FilesError> {
        let place = format!("{PROBES}/{}.csv", probe.name);
        let names = probe.columns();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let table = table(layer, &folder.join(&place), &names, marks.get(&place))?;
        if matches!(probe.what, ProbeKind::DeadZone { .. } | ProbeKind::ResidenceTime { .. }) {
            let inside = folder.join(RESULTS);
            layer.create_dir_all(&inside).map_err(disk(&inside, "create it"))?;
        }
        Ok(ProbeLog::with_lines(
            probe,
            world,
            time_step,
            (place, folder),
            Lines::Table(Box::new(table)),
        ))
    }

    /// Opens a probe that keeps its lines in memory.
    pub fn kept(probe: &Probe, world: &World, time_step: f64) -> ProbeLog {
        let nowhere = (String::new(), Path::new(""));
        ProbeLog::with_lines(probe, world, time_step, nowhere, Lines::Kept(Vec::new()))
    }

    fn with_lines(probe: &Probe, world: &World, time_step: f64, (place, folder): (String, &Path), lines: Lines) -> ProbeLog {
        let names = probe.columns();
        let schedule = Schedule::new(probe.every, time_step);
        let dead_zones = match &probe.what {
            ProbeKind::DeadZone {
                grid,
                limit,
                sample_every,
                group,
                fluid,
            } => Some(DeadZones::new(
                *grid,
                *limit,
                [*group, *fluid],
                Schedule::new(*sample_every, time_step),
            )),
            _ => None,
        };
        let inlet = match &probe.what {
            ProbeKind::ResidenceTime {
                from: Passage::Inlet { every, .. },
                ..
            } => Some(Schedule::new(*every, time_step)),
            _ => None,
        };
        ProbeLog {
            name: probe.name.clone(),
            place,
            what: probe.what.clone(),
            carrier: probe.carrier.clone(),
            carried: RigidMotion::NONE,
            is_whole: names.iter().map(|name| !name.contains('[')).collect(),
            time_step,
            passage: PlaneCounter::default(),
            residence: ResidenceTimes::default(),
            next_check: u64::MAX,
            unstrained: None,
            fluids: FluidConstants::of(world),
            dead_zones,
            inlet,
            results: folder.join(RESULTS).join(&probe.name),
            statistics: probe.average.as_ref().map(|average| Statistics::new(average, time_step)),
            schedule,
            lines,
        }
    }

    /// Returns the lines that are kept in memory, the time \[s\] first.
    pub fn kept_lines(&self) -> &[Vec<f64>] {
        match &self.lines {
            Lines::Table(_) => &[],
            Lines::Kept(lines) => lines,
        }
    }

    /// Puts earlier lines before those that are kept in memory.
    pub fn keep_lines(&mut self, earlier: Vec<Vec<f64>>) {
        if let Lines::Kept(lines) = &mut self.lines {
            let later = std::mem::replace(lines, earlier);
            lines.extend(later);
        }
    }

    /// Returns the length of its table, if it has one.
    pub fn mark(&mut self) -> Result<Option<Mark>, FilesError> {
        match &mut self.lines {
            Lines::Table(table) => table.mark().map(Some),
            Lines::Kept(_) => Ok(None),
        }
    }

    /// Prepares for a stage that begins at this step, by its index.
    pub fn begin_stage(&mut self, stage: usize, step: u64) {
        if matches!(self.what, ProbeKind::Strain { since: Some(since), .. } if since == stage) {
            self.next_check = step;
        }
    }

    /// Returns the motion of its places since the start; `None` once the body that carries them has left.
    fn motion(&self, sample: &Sample) -> Option<RigidMotion> {
        match &self.carrier {
            None => Some(RigidMotion::NONE),
            Some(carrier) => sample.motion_of(carrier),
        }
    }

    /// Samples a counter or residence times, for which the lines alone may be too rare, cells, or the grains of a strain that begins.
    pub fn look(&mut self, sample: &Sample) {
        let Some(motion) = self.motion(sample) else { return };
        let carried = [std::mem::replace(&mut self.carried, motion), motion];
        let time = match &self.what {
            ProbeKind::CountThrough { point, normal, radius } => {
                let grains = sample.grains();
                let plane = Plane::in_cell(*point, *normal, &grains.cell);
                self.passage.look(grains, &plane, *radius, &carried);
                time_to_look(grains, &plane, sample.gravity())
            }
            ProbeKind::ResidenceTime { from, to } => {
                self.residence.look(sample.grains(), sample.time(), [from, to], &carried);
                time_to_follow([from, to], sample.grains(), sample.gravity())
            }
            ProbeKind::Strain { group, region, .. } if self.next_check <= sample.steps() => {
                self.unstrained = Some(Unstrained::of(*group, region.as_ref(), sample.grains()));
                f64::INFINITY
            }
            _ => {
                if let Some(dead_zones) = &mut self.dead_zones {
                    dead_zones.look(sample, &self.fluids);
                }
                return;
            }
        };
        let steps = time / self.time_step;
        self.next_check = sample.steps().saturating_add(steps.max(1.0) as u64);
    }

    /// Whether a sample between its lines is due at this step.
    pub fn is_looked_at(&self, step: u64) -> bool {
        let dead_zones = self.dead_zones.as_ref().map(|dead_zones| &dead_zones.schedule);
        self.next_check <= step || dead_zones.into_iter().chain(&self.inlet).any(|schedule| schedule.is_due(step))
    }

    /// Returns the schedule of the lines, and that of samples between them if there are any.
    pub fn schedules(&mut self) -> impl Iterator<Item = &mut Schedule> {
        let samples = self.statistics.iter_mut().map(|statistics| &mut statistics.schedule);
        let of_cells = self.dead_zones.iter_mut().map(|dead_zones| &mut dead_zones.schedule);
        [&mut self.schedule]
            .into_iter()
            .chain(samples)
            .chain(of_cells)
            .chain(&mut self.inlet)
    }

    /// Whether a sample of its statistics is due at this step.
    fn is_sampled(&self, step: u64) -> bool {
        self.statistics.as_ref().is_some_and(|statistics| statistics.schedule.is_due(step))
    }

    /// Whether its values are needed at this step, for a line or for a sample.
    pub fn is_measured(&self, step: u64) -> bool {
        self.schedule.is_due(step) || self.is_sampled(step)
    }

    /// Measures its values, for the sample and the line that are due; returns the line, the time first.
    pub fn measure(&mut self, sample: &Sample) -> Result<Option<Vec<f64>>, FilesError> {
        self.look(sample);
        let mut values = self.values(sample);
        let (is_sampled, time) = (self.is_sampled(sample.steps()), sample.time());
        if let Some(statistics) = self.statistics.as_mut().filter(|_| is_sampled) {
            statistics.take(time, &values);
        }
        if !self.schedule.is_due(sample.steps()) {
            return Ok(None);
        }
        if let Some(statistics) = &self.statistics {
            values.extend(statistics.values(values.len()));
        }
        if let Lines::Table(table) = &mut self.lines {
            let cells = values.iter().zip(&self.is_whole);
            let cells = cells.map(|(&value, &is_whole)| if is_whole { format!("{value:.0}") } else { format!("{value:?}") });
            let cells: Vec<String> = [format!("{time:?}")].into_iter().chain(cells).collect();
            table.line(&cells.join(","))?;
        }
        if let Some(dead_zones) = &mut self.dead_zones {
            dead_zones.end_line(time);
        }
        values.insert(0, time);
        if let Lines::Kept(lines) = &mut self.lines {
            lines.push(values.clone());
        }
        Ok(Some(values))
    }

    /// Writes the results that are no table over time, if there are any: the distribution of residence times, and the fields of the last line.
    pub fn write_results(&self, layer: &dyn FileLayer) -> Result<(), FilesError> {
        let (ending, bytes) = match &self.what {
            ProbeKind::ResidenceTime { .. } => ("csv", Some(self.residence.distribution().into_bytes())),
            _ => ("vti", self.dead_zones.as_ref().and_then(DeadZones::fields)),
        };
        let Some(bytes) = bytes else { return Ok(()) };
        let path = self.results.with_extension(ending);
        replace(layer, &path, &bytes).map_err(disk(&path, "write it"))
    }

    /// Returns the values of the columns after the time.
    fn values(&mut self, sample: &Sample) -> Vec<f64> {
        let Some(motion) = self.motion(sample) else {
            // With statistics, four numbers for each column follow the columns.
            let all = self.is_whole.len();
            return vec![f64::NAN; if self.statistics.is_some() { all / 5 } else { all }];
        };
        let mut row = self.measured(sample, &motion);
        if self.carrier.is_some() {
            row.extend(self.positions(&row, &motion, &sample.cell()).as_flattened());
        }
        row
    }

    /// Returns the present positions of its places, for these values.
    fn positions(&self, values: &[f64], motion: &RigidMotion, cell: &PeriodicCell) -> Vec<[f64; 3]> {
        let mut places = self.what.places();
        if let ProbeKind::Fluid(FluidProbe::SurfaceHeight { .. }) = self.what {
            places.iter_mut().zip(values).for_each(|(place, height)| place[2] = *height);
        }
        places.into_iter().map(|place| cell.inside(motion.place(place))).collect()
    }

    /// Returns the values of the quantity that it logs, with this motion of its places.
    fn measured(&mut self, sample: &Sample, motion: &RigidMotion) -> Vec<f64> {
        let is_carried = self.carrier.is_some();
        let here = |region: &Region| if is_carried { region.moved(motion) } else { *region };
        let place = |about: [f64; 3]| if is_carried { motion.place(about) } else { about };
        let mut row: Vec<f64> = Vec::new();
        match &self.what {
            ProbeKind::Position { grain } => row.extend(position(sample.grains(), *grain)),
            ProbeKind::CountThrough { .. } => row.extend(self.passage.line(sample.time())),
            ProbeKind::ResidenceTime { .. } => row.extend(self.residence.line()),
            ProbeKind::Energy => row.extend(sample.ledger().values()),
            ProbeKind::Cell { min, max } => row.extend(lengths_and_strains(&sample.grains().cell, [min, max])),
            ProbeKind::GroupCenter { group } => row.extend(center_of_group(sample.grains(), *group)),
            ProbeKind::GroupForce { group } => row.extend(force(sample.grains(), *group)),
            ProbeKind::GroupLoad { group, about } => row.extend(bodies::load_on_group(sample, *group, about.map(place))),
            ProbeKind::Body { body, orientation, about } => {
                row.extend(bodies::motion_and_load(sample, *body, orientation, about.map(place)))
            }
            ProbeKind::Bonds => row.extend(sample.bonds_made_and_holding().map(|count| count as f64)),
            ProbeKind::Fragments { groups } => row.extend(sizes(sample, groups.as_deref())),
            ProbeKind::WallForce { walls } => row.extend(total(&sample.walls()[walls.clone()], |wall| wall.force)),
            ProbeKind::WallTorque { walls } => row.extend(total(&sample.walls()[walls.clone()], |wall| wall.torque)),
            ProbeKind::WallPower { walls } => row.push(sample.walls()[walls.clone()].iter().map(|wall| wall.power).sum()),
            ProbeKind::WallPosition { walls } => {
                let walls = &sample.walls()[walls.clone()];
                row.extend(total(walls, |wall| wall.position).map(|sum| sum / walls.len() as f64));
                row.extend(walls.first().map(|wall| wall.angle));
            }
            ProbeKind::GroupScalar { group, scalar } => row.extend(scalar_of_group(sample.grains(), *group, *scalar)),
            ProbeKind::WallHeat { walls } => {
                let all = sample.heat_of_walls();
                let sum = |k: usize| all[walls.clone()].iter().map(|wall| wall[k]).sum::<f64>();
                row.extend([sum(0), sum(1)]);
            }
            ProbeKind::ScalarLedger(scalar) => row.extend(sample.scalar_ledger(*scalar).values()),
            ProbeKind::Fluid(what) => row.extend(self.fluids.row(what, sample, motion)),
            ProbeKind::WornVolume { walls } => {
                let worn = sample.walls()[walls.clone()].iter().flat_map(|wall| &wall.wear);
                row.push(worn.map(|wear| wear.volume).sum());
            }
            ProbeKind::Stress(region) => {
                let stress = stress_of(sample, &here(region));
                let whole = stress.contact + stress.kinetic;
                row.extend([pressure(&whole), deviatoric(&whole)]);
                row.extend([stress.contact, stress.kinetic, whole].iter().flat_map(components));
            }
            ProbeKind::Strain { group, region, since } => {
                let now = sample.grains();
                if since.is_none() {
                    self.unstrained.get_or_insert_with(|| Unstrained::of(*group, region.as_ref(), now));
                }
                // Before its stage there are no grains whose strain could be measured.
                let strain = strain(self.unstrained.as_ref().unwrap_or(&Unstrained::default()), now);
                row.extend(components(&strain.tensor));
                row.push(strain.volumetric);
            }
            ProbeKind::Fabric(region) => {
                let fabric = fabric(region.as_ref().map(here).as_ref(), &sample.grains().cell, sample.contacts());
                row.push(fabric.anisotropy());
                row.extend(components(&fabric.tensor));
                row.push(fabric.contacts as f64);
            }
            ProbeKind::Coordination(region) => {
                let count = coordination(region.as_ref().map(here).as_ref(), sample.grains());
                row.extend([count.mean, count.without_rattlers, count.rattlers]);
                row.extend(count.shares);
            }
            ProbeKind::SolidFraction(region) => row.push(solid_fraction(&here(region), sample.grains())),
            ProbeKind::AngleOfRepose { group, region, axis } => {
                let region = region.as_ref().map(here);
                let found = match axis {
                    None => {
                        let cone = repose(sample.grains(), *group, region.as_ref());
                        [cone.angle, cone.error, cone.tip, cone.radius]
                    }
                    Some(axis) => {
                        let plane = drum_angle(sample.grains(), *group, region.as_ref(), *axis);
                        [plane.angle, plane.error, plane.height, plane.width]
                    }
                };
                let [angle, error, height, width] = found;
                row.extend([angle.to_degrees(), error.to_degrees(), height, width]);
            }
            ProbeKind::DeadZone { .. } => row.extend(self.dead_zones.iter().flat_map(DeadZones::values)),
            ProbeKind::Mixing { groups, cells, bounds } => {
                let bounds = bounds.map(|[low, high]| (low.into(), high.into()));
                let mixing = mixing(sample.grains(), groups, *cells, bounds);
                row.extend([mixing.lacey, mixing.entropy, mixing.cells as f64]);
            }
        }
        row
    }

    /// Whether its lines need single contacts.
    pub fn needs_contacts(&self) -> bool {
        matches!(self.what, ProbeKind::Stress(_) | ProbeKind::Fabric(_))
    }

    /// Adds the data that later lines depend on to a checkpoint.
    pub fn save(&self, to: &mut dyn Sections) {
        if let Some(unstrained) = &self.unstrained {
            let [grains, places] = ["grains", "places"].map(|what| self.section(what));
            to.put(&grains, Column::U32(unstrained.id.clone()));
            to.put(&places, Column::F64(unstrained.position.as_flattened().to_vec()));
        }
        if let Some(statistics) = &self.statistics {
            statistics.save(to, &self.section("samples"));
        }
        if self.carrier.is_some() {
            to.put(&self.section("carried"), Column::F64(self.carried.numbers().to_vec()));
        }
        if let Some(dead_zones) = &self.dead_zones {
            dead_zones.save(to, &self.section("cells"));
        }
        if let ProbeKind::CountThrough { .. } = self.what {
            self.passage.save(to, |what| self.section(what), self.next_check);
        }
        if let ProbeKind::ResidenceTime { .. } = self.what {
            self.residence.save(to, |what| self.section(what), self.next_check);
        }
    }

    /// Restores these data from a checkpoint of grains in this cell, if they are there.
    pub fn restore(&mut self, state: &State, cell: &PeriodicCell) {
        let [grains, places] = ["grains", "places"].map(|what| self.section(what));
        if let (Some(Column::U32(id)), Some(Column::F64(places))) = (state.get(&grains), state.get(&places)) {
            self.unstrained = Some(Unstrained {
                id: id.clone(),
                position: places.as_chunks::<3>().0.to_vec(),
            });
        }
        if let Some(Column::F64(numbers)) = state.get(&self.section("carried"))
            && let &[x, y, z, w, i, j, k] = numbers.as_slice()
        {
            self.carried = RigidMotion::new([x, y, z], [w, i, j, k]);
        }
        let [samples, cells] = ["samples", "cells"].map(|what| self.section(what));
        if let Some(dead_zones) = &mut self.dead_zones {
            dead_zones.restore(state, &cells);
        }
        if let Some(statistics) = &mut self.statistics {
            // Four numbers for each column follow the columns.
            statistics.restore(state, &samples, self.is_whole.len() / 5);
        }
        if let ProbeKind::CountThrough { point, normal, .. } = &self.what {
            let plane = Plane::in_cell(*point, *normal, cell);
            if let Some((passage, next_check)) = PlaneCounter::restored(state, |what| self.section(what), &plane) {
                (self.passage, self.next_check) = (passage, next_check);
            }
        }
        if let ProbeKind::ResidenceTime { .. } = self.what
            && let Some((residence, next_check)) = ResidenceTimes::restored(state, |what| self.section(what))
        {
            (self.residence, self.next_check) = (residence, next_check);
        }
    }

    /// Returns the name of a section of a checkpoint.
    fn section(&self, what: &str) -> String {
        format!("probe/{}/{what}", self.name)
    }
}

/// Sums a vector over walls that count as one.
fn total(walls: &[WallSnapshot], of: impl Fn(&WallSnapshot) -> [f64; 3]) -> [f64; 3] {
    let vectors = walls.iter().map(of);
    vectors.fold([0.0; 3], |sum, vector| [0, 1, 2].map(|k| sum[k] + vector[k]))
}

/// Lengths of a cell, its logarithmic strains from these corners on, positive in compression, and its volume. Open axes have the lengths of the domain.
fn lengths_and_strains(cell: &PeriodicCell, [min, max]: [&[f64; 3]; 2]) -> [f64; 7] {
    let start = [0, 1, 2].map(|axis| max[axis] - min[axis]);
    let now = [0, 1, 2].map(|axis| if cell.is_periodic(axis) { cell.length[axis] } else { start[axis] });
    let [x, y, z] = [0, 1, 2].map(|axis| (start[axis] / now[axis]).ln());
    [now[0], now[1], now[2], x, y, z, now.iter().product()]
}

/// Center of a grain, inside the domain if its sides are periodic; NaN once the grain has left.
fn position(grains: &GrainSnapshot, id: u32) -> [f64; 3] {
    let found = grains.id.binary_search(&id);
    found.map_or([f64::NAN; 3], |index| grains.cell.inside(grains.position[index]))
}

/// Force on all grains of a group; zero once all of them have left the domain.
fn force(grains: &GrainSnapshot, group: u32) -> [f64; 3] {
    let members = (0..grains.id.len()).filter(|&index| grains.group[index] == group);
    members.fold([0.0; 3], |sum, index| [0, 1, 2].map(|k| sum[k] + grains.force[index][k]))
}

/// Returns the sizes of the fragments of these groups, or of all grains that are, or were, bonded.
fn sizes(sample: &Sample, groups: Option<&[u32]>) -> [f64; 7] {
    let grains = sample.grains();
    let found = match groups {
        Some(groups) => fragments(grains, sample.bonds(), |i| groups.contains(&grains.group[i])),
        None => sample.fragments(),
    };
    let FragmentSizes {
        fragments,
        single_grains,
        largest_share,
        largest_mass,
        mean_mass,
        d50,
        d80,
    } = found.sizes();
    [
        fragments as f64,
        single_grains as f64,
        largest_share,
        largest_mass,
        mean_mass,
        d50,
        d80,
    ]
}

/// Mean, smallest and largest value of a scalar in a group; NaN once all of its grains have left the domain. The mean is weighted by mass, that of
/// films by area, so it is the volume of the liquid over the area of the grains.
fn scalar_of_group(grains: &GrainSnapshot, group: u32, scalar: GrainScalar) -> [f64; 3] {
    let (mut weights, mut moment, mut low, mut high) = (0.0, 0.0, f64::NAN, f64::NAN);
    for index in (0..grains.id.len()).filter(|&index| grains.group[index] == group) {
        let value = grains.scalars[scalar][index];
        let weight = match scalar {
            GrainScalar::Temperature => grains.mass[index],
            GrainScalar::FilmThickness => grains.radius[index].powi(2),
        };
        weights += weight;
        moment += weight * value;
        (low, high) = (value.min(low), value.max(high));
    }
    [moment / weights, low, high]
}
