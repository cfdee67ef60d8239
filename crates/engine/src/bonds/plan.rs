//! Selection of the pairs that are bonded.

use super::attachment::Attachment;
use crate::periodic::{kind_of, sides_of};
use crate::refusal::WorldError;
use crate::search::{Cells, pairs_within};
use crate::world::{BondSize, Bonded, Bonds, PairValues, PolyhedralShape, Search, World};
use seixo_device::Cpu;
use seixo_laws::Vector3;
use seixo_laws::bond::BondLaw;
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::periodic::{PeriodicBoundaries, nearest_image};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A pair that is bonded or will be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BondCandidate {
    /// Index into [`World::bonds`].
    pub kind: usize,
    /// Ids of the grains, the lower one first.
    pub ids: [u32; 2],
    /// Their indices in the table of grains.
    pub pair: [usize; 2],
    /// Distance of its ends: of the centers of spheres, or of those of polyhedra along the normal of their common face \[m\].
    pub length: f64,
    /// Size of the cross-section \[m\].
    pub size: f64,
    /// Stiffness \[N/m\], if it is not that of the kind.
    pub stiffness: Option<f64>,
    /// Factor on the strengths, besides that of the scatter \[-\].
    pub strength: f64,
    /// Where it ends; `None` at the centers of two spheres.
    pub attachment: Option<Attachment>,
}

/// Data of the grains for the selection of bonds, by their indices in a table.
pub(crate) struct BondPositions<'a> {
    /// Ids.
    pub id: &'a [u32],
    /// Groups.
    pub group: &'a [u32],
    /// Centers and radii \[m\], a record each.
    pub position: Cow<'a, [f64]>,
    /// Masses of the single spheres \[kg\].
    pub mass: Vec<f64>,
    /// Indices of the rigid bodies that carry them.
    pub body: Vec<Option<usize>>,
    /// One more than the index of the shape of each grain, and zero for spheres; empty if all are spheres.
    pub shape: &'a [u32],
    /// Orientations w x y z, a record each; empty if all are spheres.
    pub orientation: Cow<'a, [f64]>,
    /// Shapes of polyhedral grains.
    pub shapes: &'a [PolyhedralShape],
    /// Periodic sides, and which sides are periodic.
    pub sides: (PeriodicBoundaries<f64, f64>, u32),
}

impl BondPositions<'_> {
    /// The grains of a world at time zero.
    pub fn at_start(world: &World) -> BondPositions<'_> {
        let grains = &world.grains;
        let carrier = grains.carriers();
        let centers = grains.position.iter().zip(&grains.radius);
        let density_of = |i: usize| world.materials[grains.material[i] as usize].density;
        BondPositions {
            id: &grains.id,
            group: &grains.group,
            position: centers.flat_map(|(&[x, y, z], &radius)| [x, y, z, radius]).collect(),
            mass: (0..grains.len()).map(|i| grains.mass_alone(i, density_of(i))).collect(),
            body: grains.id.iter().map(|id| carrier.get(id).copied()).collect(),
            shape: &grains.shape,
            orientation: Cow::Borrowed(grains.orientation.as_flattened()),
            shapes: &world.shapes,
            sides: (sides_of(world.domain.as_ref(), 0.0), kind_of(world.domain.as_ref())),
        }
    }

    /// Radius of grain i \[m\].
    pub fn radius(&self, i: usize) -> f64 {
        self.position[i * RECORD + 3]
    }

    /// x_j − x_i for the nearest periodic image \[m\].
    pub(super) fn across(&self, i: usize, j: usize) -> Vector3<f64> {
        let (sides, kind) = &self.sides;
        let at = |i: usize| load::<f64>(&self.position, i * RECORD);
        nearest_image::<f64, f64>(&at(j).minus(&at(i)), sides, *kind).apart
    }

    /// Whether the same rigid body carries both.
    fn is_one_body(&self, [i, j]: [usize; 2]) -> bool {
        self.body[i].is_some() && self.body[i] == self.body[j]
    }

    /// Pairs of grains of these groups whose centers are closer than (R_i + R_j)(1 + tolerance).
    fn near_pairs(&self, device: &Cpu, groups: &[u32], tolerance: f64) -> Vec<[usize; 2]> {
        let members: Vec<usize> = (0..self.id.len()).filter(|&i| groups.contains(&self.group[i])).collect();
        if members.is_empty() {
            return Vec::new();
        }
        let largest = members.iter().fold(0.0, |most: f64, &i| most.max(self.radius(i)));
        let skin = 2.0 * largest * tolerance;
        let records = members.iter().flat_map(|&i| &self.position[i * RECORD..][..RECORD]);
        let position: Vec<f64> = records.copied().collect();
        let mut cells = Cells::new(position.chunks_exact(RECORD).map(|record| record[3]), Search::Auto, skin);
        (cells.sides, cells.kind) = self.sides;
        let near = pairs_within(device, cells, &position, skin);
        let pairs = near.into_iter().map(|(a, b)| [members[a], members[b]]);
        pairs.filter(|pair| self.are_near(*pair, tolerance)).collect()
    }

    /// Whether the centers of two grains are closer than (R_i + R_j)(1 + tolerance).
    fn are_near(&self, [i, j]: [usize; 2], tolerance: f64) -> bool {
        let reach = (self.radius(i) + self.radius(j)) * (1.0 + tolerance);
        let apart = self.across(i, j);
        apart.dot(&apart) < reach * reach
    }

    /// Indices of all grains, by their ids.
    fn places(&self) -> HashMap<u32, usize> {
        self.id.iter().copied().zip(0..).collect()
    }
}

/// Pairs that are bonded at time zero, in the order of their kinds and ids.
pub(crate) fn pairs_at_start(device: &Cpu, world: &World) -> Result<Vec<BondCandidate>, WorldError> {
    let kinds: Vec<usize> = (0..world.bonds.len()).filter(|kind| !world.later.bonds.contains(kind)).collect();
    if kinds.is_empty() {
        return Ok(Vec::new());
    }
    pairs_to_bond(device, &BondPositions::at_start(world), (&world.bonds, &kinds), &HashMap::new())
}

/// Pairs of ids of later bonds that unbreakable bonds connect from the start, and the kinds of these.
pub(crate) fn joined_for_good(world: &World) -> HashMap<[u32; 2], usize> {
    let later = world.later.bonds.iter().filter_map(|&kind| match &world.bonds[kind].between {
        Bonded::Pairs(pairs) => Some(pairs),
        Bonded::Near { .. } => None,
    });
    let named: Vec<[u32; 2]> = later.flatten().copied().map(lower_first).collect();
    let mut joined = HashMap::new();
    if named.is_empty() {
        return joined;
    }
    let state = BondPositions::at_start(world);
    let places = state.places();
    let lasting = |kind: &usize| !world.later.bonds.contains(kind) && world.bonds[*kind].is_unbreakable();
    for kind in (0..world.bonds.len()).filter(lasting) {
        match &world.bonds[kind].between {
            Bonded::Pairs(pairs) => joined.extend(pairs.iter().map(|&ids| (lower_first(ids), kind))),
            Bonded::Near { groups, tolerance } => {
                let is_joined = |[a, b]: &&[u32; 2]| {
                    let (Some(&i), Some(&j)) = (places.get(a), places.get(b)) else {
                        return false;
                    };
                    let are_members = [i, j].iter().all(|&place| groups.contains(&state.group[place]));
                    let pair = [i, j];
                    let are_near = i != j && are_members && !state.is_one_body(pair) && state.are_near(pair, *tolerance);
                    are_near && state.attachment(pair, world.bonds[kind].section, *tolerance).is_ok()
                };
                joined.extend(named.iter().filter(is_joined).map(|&ids| (ids, kind)));
            }
        }
    }
    joined
}

/// Ids of a pair, the lower one first.
pub(crate) fn lower_first([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// Stiffness \[N/m\], if it has one of its own, and strength factor \[-\] of each pair of ids with values, the lower id first.
fn values_of_pairs(bonds: &Bonds) -> HashMap<[u32; 2], (Option<f64>, f64)> {
    let PairValues { stiffness, strength } = &bonds.of_pairs;
    match &bonds.between {
        Bonded::Pairs(pairs) if !(stiffness.is_empty() && strength.is_empty()) => {
            let values = |k: usize| (stiffness.get(k).copied(), strength.get(k).copied().unwrap_or(1.0));
            pairs.iter().zip(0..).map(|(&ids, k)| (lower_first(ids), values(k))).collect()
        }
        _ => HashMap::new(),
    }
}

/// Error of bonds that cannot be made, with the reason.
pub(crate) fn refused(bonds: &Bonds, what: String) -> WorldError {
    WorldError::Bond {
        name: bonds.name.clone(),
        what,
    }
}

/// Error of a kind of bonds without near pairs.
pub(crate) fn nothing_near(bonds: &Bonds) -> WorldError {
    let what = "no two grains are near enough for it; give a larger tolerance, or grains that touch";
    refused(bonds, what.to_owned())
}

/// Error of a kind of bonds whose near pairs, of which there are some, all are of a sphere and a polyhedron.
fn only_unlike(bonds: &Bonds) -> WorldError {
    let what = "all grains that are near enough for it are a sphere beside a polyhedron, and these are never bonded; let `among` name spheres alone, or polyhedra alone";
    refused(bonds, what.to_owned())
}

/// Error of a kind of bonds with a missing grain.
pub(crate) fn missing(bonds: &Bonds, id: u32) -> WorldError {
    let what = format!("it bonds grain {id}, which is not there; leave the pair out, or make the bonds while it is");
    refused(bonds, what)
}

/// Error of a pair in the same rigid body.
pub(crate) fn in_one_body(bonds: &Bonds, [a, b]: [u32; 2]) -> WorldError {
    refused(bonds, format!("it bonds grains {a} and {b}, which one rigid body carries"))
}

/// Records that bonds of a kind of `all` connect a pair of ids, the lower one first. Rejects equal ids, and pairs that are `known` to be connected.
pub(crate) fn record_joined((all, kind): (&[Bonds], usize), ids: [u32; 2], known: &mut HashMap<[u32; 2], usize>) -> Result<(), WorldError> {
    let [a, b] = ids;
    if a == b {
        return Err(refused(&all[kind], format!("it bonds grain {a} with itself")));
    }
    known.insert(ids, kind).map_or(Ok(()), |other| {
        let by = &all[other].name;
        Err(refused(
            &all[kind],
            format!("it bonds grains {a} and {b}, which are bonded already, by {by}"),
        ))
    })
}

/// Pairs that bonds of some `kinds` of `all` connect, in the order of these kinds and of ids. `joined` contains the pairs of ids that are already
/// bonded, the lower one first, and their kinds; bonds between neighbors omit them.
pub(crate) fn pairs_to_bond(
    device: &Cpu,
    state: &BondPositions,
    (all, kinds): (&[Bonds], &[usize]),
    joined: &HashMap<[u32; 2], usize>,
) -> Result<Vec<BondCandidate>, WorldError> {
    let mut found = Vec::new();
    let mut known = joined.clone();
    let ids_of = |pair: &[usize; 2]| pair.map(|i| state.id[i]);
    for &kind in kinds {
        let bonds = &all[kind];
        let mut pairs = match &bonds.between {
            Bonded::Near { groups, tolerance } => {
                let mut pairs = state.near_pairs(device, groups, *tolerance);
                pairs.retain(|pair| !state.is_one_body(*pair));
                pairs
            }
            Bonded::Pairs(ids) => {
                let places = state.places();
                let place = |id: u32| {
                    let found = places.get(&id).copied();
                    found.ok_or_else(|| missing(bonds, id))
                };
                let pairs: Vec<[usize; 2]> = ids
                    .iter()
                    .map(|&[a, b]| Ok([place(a)?, place(b)?]))
                    .collect::<Result<_, WorldError>>()?;
                if let Some(pair) = pairs.iter().find(|pair| state.is_one_body(**pair)) {
                    return Err(in_one_body(bonds, ids_of(pair)));
                }
                pairs
            }
        };
        for pair in &mut pairs {
            pair.sort_unstable_by_key(|&i| state.id[i]);
        }
        pairs.sort_unstable_by_key(ids_of);
        let finds_neighbors = matches!(bonds.between, Bonded::Near { .. });
        if finds_neighbors {
            // With a short period, a pair is found more than once.
            pairs.dedup();
        }
        let are_unlike = !pairs.is_empty() && pairs.iter().all(|pair| state.are_unlike(*pair));
        let attachments = attachments(bonds, state, &mut pairs)?;
        if pairs.is_empty() {
            return Err(if are_unlike { only_unlike(bonds) } else { nothing_near(bonds) });
        }
        if bonds.one_piece {
            refuse_parts(bonds, state, &pairs)?;
        }
        if finds_neighbors {
            pairs.retain(|pair| !joined.contains_key(&ids_of(pair)));
            if pairs.is_empty() {
                return Err(refused(bonds, "all grains that are near enough for it are bonded already".into()));
            }
        }
        let values = values_of_pairs(bonds);
        for pair in pairs {
            let ids = ids_of(&pair);
            let &(stiffness, strength) = values.get(&ids).unwrap_or(&(None, 1.0));
            record_joined((all, kind), ids, &mut known)?;
            let [i, j] = pair;
            let attachment = attachments.get(&pair).copied();
            let radii = attachment.map_or([state.radius(i), state.radius(j)], |attachment| attachment.radii);
            let apart = state.across(i, j);
            let length = attachment.map_or(apart.dot(&apart).sqrt(), |attachment| attachment.length(state, pair));
            if length <= 0.0 {
                let [a, b] = ids;
                return Err(refused(bonds, format!("it bonds grains {a} and {b}, which are in one place")));
            }
            let size = bonds.size_between(radii[0], radii[1]);
            found.push(BondCandidate {
                kind,
                ids,
                pair,
                length,
                size,
                stiffness,
                strength,
                attachment,
            });
        }
    }
    Ok(found)
}

/// Largest distance of the faces of two polyhedra that a file names, over the sum of their rounding radii \[-\].
const REACH_OF_NAMED: f64 = 1.0;

/// Where the bonds of the polyhedra among these pairs end. Neighbors that no bond can join are left out of the pairs; named pairs must have a common face.
fn attachments(bonds: &Bonds, state: &BondPositions, pairs: &mut Vec<[usize; 2]>) -> Result<HashMap<[usize; 2], Attachment>, WorldError> {
    let mut found = HashMap::new();
    if state.shapes.is_empty() {
        return Ok(found);
    }
    let tolerance = match &bonds.between {
        Bonded::Near { tolerance, .. } => *tolerance,
        Bonded::Pairs(_) => REACH_OF_NAMED,
    };
    let mut joined = Vec::with_capacity(pairs.len());
    for &pair in &*pairs {
        match (state.attachment(pair, bonds.section, tolerance), &bonds.between) {
            (Ok(attachment), _) => {
                joined.push(pair);
                found.extend(attachment.map(|attachment| (pair, attachment)));
            }
            (Err(_), Bonded::Near { .. }) => {}
            (Err(why), Bonded::Pairs(_)) => {
                let [a, b] = pair.map(|i| state.id[i]);
                return Err(refused(bonds, format!("it bonds grains {a} and {b}, {}", why.reason())));
            }
        }
    }
    *pairs = joined;
    Ok(found)
}

/// Largest number of parts of a network that a message names.
const MAX_NAMED: usize = 3;

/// Rejects bonds whose grains are not connected by these pairs and by rigid bodies.
fn refuse_parts(bonds: &Bonds, state: &BondPositions, pairs: &[[usize; 2]]) -> Result<(), WorldError> {
    let members: Vec<usize> = match &bonds.between {
        Bonded::Near { groups, .. } => (0..state.id.len()).filter(|&i| groups.contains(&state.group[i])).collect(),
        Bonded::Pairs(_) => {
            let named: HashSet<usize> = pairs.as_flattened().iter().copied().collect();
            named.into_iter().collect()
        }
    };
    let mut roots: Vec<usize> = (0..state.id.len()).collect();
    let mut first_of_body: HashMap<usize, usize> = HashMap::new();
    for &i in &members {
        if let Some(body) = state.body[i] {
            join(&mut roots, *first_of_body.entry(body).or_insert(i), i);
        }
    }
    for &[i, j] in pairs {
        join(&mut roots, i, j);
    }
    // For each part, its number of grains and their lowest id.
    let mut parts: BTreeMap<usize, (usize, u32)> = BTreeMap::new();
    for &i in &members {
        let part = parts.entry(root_of(&mut roots, i)).or_insert((0, u32::MAX));
        *part = (part.0 + 1, part.1.min(state.id[i]));
    }
    if parts.len() < 2 {
        return Ok(());
    }
    let mut parts: Vec<(usize, u32)> = parts.into_values().collect();
    parts.sort_unstable_by_key(|&(count, id)| (std::cmp::Reverse(count), id));
    let named = parts.iter().skip(1).take(MAX_NAMED);
    let named: Vec<String> = named.map(|(count, id)| format!("grain {id} (a piece of {count})")).collect();
    let more = if parts.len() > 1 + MAX_NAMED { " and more" } else { "" };
    Err(WorldError::Bond {
        name: bonds.name.clone(),
        what: format!(
            "its {} grains are in {} pieces, not in one: {} hang together, apart from them are {}{more}; \
             give a larger tolerance or more pairs, take the loose grains out, or leave one_piece out",
            members.len(),
            parts.len(),
            parts[0].0,
            named.join(", ")
        ),
    })
}

/// Root grain of the part that contains grain i.
fn root_of(roots: &mut [usize], mut i: usize) -> usize {
    while roots[i] != i {
        roots[i] = roots[roots[i]];
        i = roots[i];
    }
    i
}

/// Merges the parts of two grains.
fn join(roots: &mut [usize], i: usize, j: usize) {
    let (i, j) = (root_of(roots, i), root_of(roots, j));
    roots[i.max(j)] = i.min(j);
}

/// Rejects bonds with numbers that cannot be simulated.
pub(crate) fn check_bonds(world: &World) -> Result<(), WorldError> {
    for bonds in &world.bonds {
        let size = match bonds.size {
            BondSize::Share(size) | BondSize::Length(size) => size,
        };
        let PairValues { stiffness, strength } = &bonds.of_pairs;
        let pairs = match &bonds.between {
            Bonded::Pairs(pairs) => pairs.len(),
            Bonded::Near { .. } => 0,
        };
        let wrong = |values: &[f64]| values.iter().copied().find(|value| !(value.is_finite() && *value > 0.0));
        let counts = [stiffness.len(), strength.len()];
        let flaws = [
            (
                "youngs_modulus",
                bonds.youngs_modulus,
                bonds.youngs_modulus > 0.0 || bonds.stiffness.is_some() || !stiffness.is_empty(),
            ),
            (
                "stiffness of a pair",
                wrong(stiffness).or(stiffness.first().copied()).unwrap_or(0.0),
                wrong(stiffness).is_none() && (stiffness.is_empty() || bonds.law == BondLaw::Point),
            ),
            ("strength of a pair", wrong(strength).unwrap_or(0.0), wrong(strength).is_none()),
            (
                "number of values of pairs",
                counts.into_iter().max().unwrap_or(0) as f64,
                counts.into_iter().all(|count| count == 0 || count == pairs),
            ),
            (
                "stiffness",
                bonds.stiffness.unwrap_or(1.0),
                bonds
                    .stiffness
                    .is_none_or(|stiffness| stiffness > 0.0 && bonds.law == BondLaw::Point),
            ),
            (
                "poisson_ratio",
                bonds.poisson_ratio,
                bonds.poisson_ratio > -1.0 && bonds.poisson_ratio <= 0.5,
            ),
            ("size", size, size > 0.0),
            ("damping_ratio", bonds.damping_ratio, bonds.damping_ratio >= 0.0),
            (
                "damping",
                bonds.damping.unwrap_or(0.0),
                bonds
                    .damping
                    .is_none_or(|damping| damping >= 0.0 && bonds.damping_ratio == 0.0 && bonds.law == BondLaw::Point),
            ),
            ("tensile_strength", bonds.tensile_strength, bonds.tensile_strength > 0.0),
            ("cohesion", bonds.cohesion, bonds.cohesion > 0.0),
            ("fracture_energy", bonds.fracture_energy, bonds.fracture_energy > 0.0),
            (
                "friction_angle",
                bonds.friction_angle,
                (0.0..std::f64::consts::FRAC_PI_2).contains(&bonds.friction_angle),
            ),
            (
                "weibull_modulus",
                bonds.weibull_modulus.unwrap_or(1.0),
                bonds.weibull_modulus.unwrap_or(1.0) > 0.0,
            ),
        ];
        if let Some((what, value, _)) = flaws.into_iter().find(|(_, _, is_right)| !is_right) {
            return Err(WorldError::Bond {
                name: bonds.name.clone(),
                what: format!("its {what} is {value}, which no bond can have"),
            });
        }
    }
    Ok(())
}
