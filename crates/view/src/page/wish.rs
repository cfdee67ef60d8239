//! What a page asks for, word by word, and what it can ask for.

use std::num::NonZeroUsize;

use crate::{Particle, PictureOptions, Show, Shown, Snapshot, bonds};

/// Longest name that is asked for, in bytes.
const LONGEST_NAME: usize = 100;
/// What is said to who asks in other words.
const GRAMMAR: &str = "a request is `frame SHOWN FIELD INDEX SEEN RANGE EVERY PICKED` or `details PICKED`, with names, whole numbers, LOW:HIGH and KIND:ID, \
                       or - for what is left out, such as: frame contacts - 12 - 0:0.5 4 grain:17";

/// Particles, and of bodies that were made from meshes the spheres.
const SPHERES: &str = "spheres";
/// What can be shown, and the names that pages have for it.
const SHOWN: [(&str, Shown); 8] = [
    ("particles", Shown::Grains),
    (SPHERES, Shown::Grains),
    ("smooth", Shown::Smooth),
    ("surface", Shown::Surface),
    ("contacts", Shown::Contacts),
    ("chains", Shown::ForceChains),
    ("bonds", Shown::Bonds),
    ("cracks", Shown::Cracks { has_bonds: true }),
];

/// What a page asks for.
#[derive(Debug)]
pub enum Request {
    /// A frame.
    Frame(Box<Wish>),
    /// All that is known of a particle.
    Details(Target),
}

/// A frame, and how it shall be.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// Which one, and what of it.
    pub options: PictureOptions,
    /// The name of what is shown.
    pub name: &'static str,
    /// The number of the one that the page has seen last.
    pub seen: Option<u64>,
    /// One of how many balls and rods is sent.
    pub every: NonZeroUsize,
    /// The particle of which the page wants to know where it is.
    pub picked: Option<Particle>,
}

impl Default for Wish {
    fn default() -> Wish {
        Wish {
            options: PictureOptions::default(),
            name: SHOWN[0].0,
            seen: None,
            every: NonZeroUsize::MIN,
            picked: None,
        }
    }
}

/// Of what a page wants to know more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// What the ball in this place stands for, in the frame that the page got last.
    Ball(usize),
    /// A particle that it knows.
    Particle(Particle),
}

/// What a message asks for.
///
/// # Errors
/// In words, if it asks for nothing that there is.
pub fn read(message: &str) -> Result<Request, String> {
    let malformed = || GRAMMAR.to_owned();
    let words: Vec<&str> = message.split(' ').collect();
    match words[..] {
        ["details", picked] => target(picked).map(Request::Details).ok_or_else(malformed),
        ["frame", shown, field, index, seen, range, every, picked] => {
            let name = optional(shown, name).ok_or_else(malformed)?;
            let mut wish = wish([field, index, seen], [range, every, picked]).ok_or_else(malformed)?;
            if let Some(name) = name {
                (wish.name, wish.options.shown) = shown_as(name)?;
                wish.options.has_meshes = wish.name != SPHERES;
            }
            Ok(Request::Frame(Box::new(wish)))
        }
        _ => Err(malformed()),
    }
}

fn wish([field, index, seen]: [&str; 3], [range, every, picked]: [&str; 3]) -> Option<Wish> {
    Some(Wish {
        options: PictureOptions {
            field: optional(field, name)?.map(str::to_owned),
            frame: optional(index, |word| word.parse().ok())?,
            range: optional(range, ends)?,
            ..PictureOptions::default()
        },
        seen: optional(seen, |word| word.parse().ok())?,
        every: optional(every, |word| word.parse().ok())?.unwrap_or(NonZeroUsize::MIN),
        picked: optional(picked, particle)?,
        ..Wish::default()
    })
}

/// A word that may be left out, as `-`; `None` if it is there and cannot be read.
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

/// What is shown under a name.
fn shown_as(name: &str) -> Result<(&'static str, Shown), String> {
    SHOWN.into_iter().find(|(known, _)| *known == name).ok_or_else(|| {
        let known = SHOWN.map(|(known, _)| known).join(", ");
        format!("nothing that can be shown is called {name:?}; there are {known}")
    })
}

/// The names of what a show can show, of which this is a frame.
pub fn offered(show: &dyn Show, snapshot: &Snapshot) -> Vec<&'static str> {
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
        // A mesh takes longer than many steps, so a run has none.
        Shown::Surface => has_fluids && !is_run,
        Shown::Contacts | Shown::ForceChains => has_contacts,
        Shown::Bonds | Shown::Cracks { .. } => has_bonds,
    };
    let there = SHOWN.into_iter().filter(|&known| is_there(known));
    there.map(|(name, _)| name).collect()
}

/// Names of all by which what is shown can be colored.
pub fn fields_of(shown: Shown, snapshot: &Snapshot) -> Vec<String> {
    match shown {
        Shown::Bonds => bonds::FIELDS.map(str::to_owned).to_vec(),
        // Their colors have a meaning already.
        Shown::Contacts | Shown::ForceChains | Shown::Cracks { .. } => Vec::new(),
        Shown::Grains | Shown::Surface | Shown::Smooth | Shown::Walls => snapshot.fields.clone(),
    }
}
