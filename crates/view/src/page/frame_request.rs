//! Requests of a page: their grammar and the available views.

use std::num::NonZeroUsize;

use crate::{FrameSource, Particle, PictureOptions, Shown, Snapshot, bonds};

/// Longest name in a request \[bytes\].
const LONGEST_NAME: usize = 100;
/// Error message for malformed requests.
const GRAMMAR: &str = "a request is `frame SHOWN FIELD INDEX SEEN RANGE EVERY PICKED` or `details PICKED`, with names, whole numbers, LOW:HIGH and KIND:ID, \
                       or - for what is left out, such as: frame contacts - 12 - 0:0.5 4 grain:17";

/// Particles, with bodies from meshes shown as spheres.
const SPHERES: &str = "spheres";
/// Available views with their names on pages.
const SHOWN: [(&str, Shown); 8] = [
    ("particles", Shown::Grains),
    (SPHERES, Shown::Grains),
    ("smooth", Shown::Smooth),
    ("surface", Shown::Surface),
    ("contacts", Shown::Contacts),
    ("chains", Shown::ForceChains),
    ("bonds", Shown::Bonds),
    ("cracks", Shown::BondBreaks { has_bonds: true }),
];

/// A request of a page.
#[derive(Debug)]
pub enum PageRequest {
    /// A frame.
    Frame(Box<FrameRequest>),
    /// Details of a particle.
    ParticleDetails(Target),
}

/// Request for a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameRequest {
    /// Frame index and contents.
    pub options: PictureOptions,
    /// Name of the view.
    pub name: &'static str,
    /// Number of the frame that the page has seen last.
    pub seen: Option<u64>,
    /// One of this many balls and rods is sent.
    pub every: NonZeroUsize,
    /// The picked particle, whose position is sent.
    pub picked: Option<Particle>,
}

impl Default for FrameRequest {
    fn default() -> FrameRequest {
        FrameRequest {
            options: PictureOptions::default(),
            name: SHOWN[0].0,
            seen: None,
            every: NonZeroUsize::MIN,
            picked: None,
        }
    }
}

/// Object of a request for details.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Ball of this index in the frame that was sent last.
    Ball(usize),
    /// Particle by id.
    Particle(Particle),
}

/// Parses a message of a page.
///
/// # Errors
/// With a message, if the request is malformed or names an unknown view.
pub fn read(message: &str) -> Result<PageRequest, String> {
    let malformed = || GRAMMAR.to_owned();
    let words: Vec<&str> = message.split(' ').collect();
    match words[..] {
        ["details", picked] => target(picked).map(PageRequest::ParticleDetails).ok_or_else(malformed),
        ["frame", shown, field, index, seen, range, every, picked] => {
            let name = optional(shown, name).ok_or_else(malformed)?;
            let mut request = request([field, index, seen], [range, every, picked]).ok_or_else(malformed)?;
            if let Some(name) = name {
                (request.name, request.options.shown) = shown_as(name)?;
                request.options.has_meshes = request.name != SPHERES;
            }
            Ok(PageRequest::Frame(Box::new(request)))
        }
        _ => Err(malformed()),
    }
}

fn request([field, index, seen]: [&str; 3], [range, every, picked]: [&str; 3]) -> Option<FrameRequest> {
    Some(FrameRequest {
        options: PictureOptions {
            field: optional(field, name)?.map(str::to_owned),
            frame: optional(index, |word| word.parse().ok())?,
            range: optional(range, ends)?,
            ..PictureOptions::default()
        },
        seen: optional(seen, |word| word.parse().ok())?,
        every: optional(every, |word| word.parse().ok())?.unwrap_or(NonZeroUsize::MIN),
        picked: optional(picked, particle)?,
        ..FrameRequest::default()
    })
}

/// An optional word, `-` if omitted; `None` if it cannot be parsed.
fn optional<'a, T>(word: &'a str, read: impl FnOnce(&'a str) -> Option<T>) -> Option<Option<T>> {
    if word == "-" { Some(None) } else { read(word).map(Some) }
}

fn name(word: &str) -> Option<&str> {
    let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (!word.is_empty() && word.len() <= LONGEST_NAME && word.bytes().all(is_fit)).then_some(word)
}

fn ends(word: &str) -> Option<(f64, f64)> {
    let (low, high) = word.split_once(':')?;
    Some((low.parse().ok()?, high.parse().ok()?))
}

fn target(word: &str) -> Option<Target> {
    match word.strip_prefix("ball:") {
        Some(place) => place.parse().ok().map(Target::Ball),
        None => particle(word).map(Target::Particle),
    }
}

fn particle(word: &str) -> Option<Particle> {
    let (kind, id) = word.split_once(':')?;
    let is_grain = match kind {
        "grain" => true,
        "particle" => false,
        _ => return None,
    };
    let id = id.parse().ok()?;
    Some(Particle { id, is_grain })
}

/// The view of this name.
fn shown_as(name: &str) -> Result<(&'static str, Shown), String> {
    SHOWN.into_iter().find(|(known, _)| *known == name).ok_or_else(|| {
        let known = SHOWN.map(|(known, _)| known).join(", ");
        format!("nothing that can be shown is called {name:?}; there are {known}")
    })
}

/// The names of the views that a source offers for this frame.
pub fn offered(show: &dyn FrameSource, snapshot: &Snapshot) -> Vec<&'static str> {
    let is_run = show.frames().is_none();
    let folder = show.folder();
    let has = |file: &str| folder.as_ref().is_some_and(|folder| folder.join(file).exists());
    let [has_grains, has_fluids] = [snapshot.grains, snapshot.particles].map(|count| count > 0);
    let has_contacts = has_grains && (is_run || has("contacts"));
    let has_bonds = has("bonds.csv");
    let is_there = |(name, shown): (&str, Shown)| match shown {
        Shown::Grains => name != SPHERES || !snapshot.bodies.is_empty(),
        Shown::Walls => true,
        Shown::Smooth => has_fluids,
        // Meshing takes longer than many steps, so a running simulation offers none.
        Shown::Surface => has_fluids && !is_run,
        Shown::Contacts | Shown::ForceChains => has_contacts,
        Shown::Bonds | Shown::BondBreaks { .. } => has_bonds,
    };
    let there = SHOWN.into_iter().filter(|&known| is_there(known));
    there.map(|(name, _)| name).collect()
}

/// Names of all fields for the color in a view.
pub fn fields_of(shown: Shown, snapshot: &Snapshot) -> Vec<String> {
    match shown {
        Shown::Bonds => bonds::FIELDS.map(str::to_owned).to_vec(),
        // Their colors already have a meaning.
        Shown::Contacts | Shown::ForceChains | Shown::BondBreaks { .. } => Vec::new(),
        Shown::Grains | Shown::Surface | Shown::Smooth | Shown::Walls => snapshot.fields.clone(),
    }
}
