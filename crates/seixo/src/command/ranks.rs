//! The program as one of several ranks, which a launcher of MPI started.

use super::{Done, Failure, Voice};
use seixo::engine::Ranks;
use seixo::transport::{Launch, Transport};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How long a rank that failed waits for the first one, which has mostly failed alike, to say so and to end the job.
const MOMENT: Duration = Duration::from_secs(5);

/// Refuses to be one of several ranks that know nothing of each other: all would do the whole work, and write into the same folder.
pub fn refuse(launch: Option<Launch>, divides: bool) -> Done {
    let Some(launch) = launch else { return Ok(()) };
    let why = match (divides, cfg!(feature = "mpi")) {
        (true, true) => return Ok(()),
        (true, false) => {
            "this program was built without MPI; build it with `cargo build --release --features mpi`, or divide the grains among threads of one process \
             with --domains"
        }
        (false, _) => "only `seixo run` and `seixo resume` divide their work among ranks; call this command without a launcher",
    };
    Err(Failure::Input(format!(
        "{launch}, but {why}. To run independent copies, unset {}",
        launch.variable
    )))
}

/// This process: one of several ranks, or alone.
pub struct Rank(Option<Ranks>);

impl Rank {
    /// Joins the other ranks, if there are any, of which all must have been given this file with these changes.
    #[cfg(feature = "mpi")]
    pub fn join(scene: &Path, overrides: &[(String, String)]) -> Rank {
        use seixo::files::layer::{Disk, FileLayer};
        let join = |_| {
            let mut digest = blake3::Hasher::new();
            // One that cannot be read is refused where it is needed.
            digest.update(&Disk.read(scene).unwrap_or_default());
            for text in overrides.iter().flat_map(|(key, value)| [key, value]) {
                digest.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
            }
            Ranks::new(Box::new(seixo::transport::Mpi::start(digest.finalize().as_bytes())))
        };
        Rank(seixo::transport::launched_by_mpi().map(join))
    }

    /// There are no others without MPI.
    #[cfg(not(feature = "mpi"))]
    pub fn join(_scene: &Path, _overrides: &[(String, String)]) -> Rank {
        Rank(None)
    }

    /// All ranks, where there are several.
    pub fn others(&self) -> Option<Ranks> {
        self.0.clone()
    }

    /// How much this rank says: what all know, the first tells.
    pub fn voice(&self, voice: Voice) -> Voice {
        match &self.0 {
            Some(ranks) if !ranks.is_first() => Voice { quiet: true, json: false },
            _ => voice,
        }
    }

    /// Changes of a scene, with the one that divides it among all ranks.
    pub fn divide(&self, mut overrides: Vec<(String, String)>) -> Result<Vec<(String, String)>, Failure> {
        const DOMAINS: &str = "run.domains";
        let Some(ranks) = &self.0 else { return Ok(overrides) };
        let count = ranks.ranks().to_string();
        if let Some((_, asked)) = overrides.iter().find(|(key, value)| key == DOMAINS && *value != count) {
            return Err(Failure::Input(format!(
                "{asked} domains are asked for, but each of {count} ranks has one; leave --domains out"
            )));
        }
        overrides.push((DOMAINS.to_owned(), count));
        Ok(overrides)
    }

    /// Comes to the end with the others. Of those that fail alike, the first says why, and ends the job.
    pub fn end(&self, done: Done) -> Done {
        let Some(ranks) = &self.0 else { return done };
        let is_over = done.as_ref().err().is_none_or(Failure::is_interruption);
        if is_over {
            ranks.clone().finish().map_err(|lost| Failure::Run(lost.to_string()))?;
        }
        match (ranks.is_first(), is_over) {
            (true, _) => done,
            (false, true) => Ok(()),
            (false, false) => {
                thread::sleep(MOMENT);
                done
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo::transport::Channels;

    fn rank_of(ranks: usize, rank: usize) -> Rank {
        let mut ways = Channels::all(ranks);
        Rank(Some(Ranks::new(Box::new(ways.swap_remove(rank)))))
    }

    #[test]
    fn ranks_that_know_nothing_of_each_other_are_refused() {
        let refused = |divides: bool| {
            let launch = Launch {
                variable: "OMPI_COMM_WORLD_SIZE",
                ranks: Some(4),
            };
            match refuse(Some(launch), divides) {
                Err(Failure::Input(text)) => Some(text),
                _ => None,
            }
        };
        let text = refused(false).expect("no other command is one of several ranks");
        for part in ["4 ranks", "only `seixo run`", "unset OMPI_COMM_WORLD_SIZE"] {
            assert!(text.contains(part), "without \"{part}\": {text}");
        }
        let told = refused(true);
        assert_eq!(told.is_none(), cfg!(feature = "mpi"), "{told:?}");
        assert!(told.is_none_or(|text| text.contains("--features mpi")));
        assert!(refuse(None, false).is_ok() && refuse(None, true).is_ok(), "one process goes on");
    }

    #[test]
    fn a_scene_is_divided_among_as_many_domains_as_there_are_ranks() {
        let domains = |count: &str| vec![("run.domains".to_owned(), count.to_owned())];
        let divided = |rank: Rank, overrides: Vec<(String, String)>| rank.divide(overrides).ok();
        assert_eq!(divided(rank_of(4, 1), Vec::new()), Some(domains("4")));
        assert_eq!(
            divided(rank_of(4, 1), domains("4")).map(|overrides| overrides.last().cloned()),
            Some(domains("4").pop())
        );
        assert_eq!(divided(Rank(None), domains("3")), Some(domains("3")));
        assert_eq!(divided(rank_of(4, 0), domains("3")), None);
    }

    #[test]
    fn only_the_first_speaks() {
        let loud = Voice { quiet: false, json: true };
        let words = |rank: Rank| (rank.voice(loud).quiet, rank.voice(loud).json);
        assert_eq!(words(Rank(None)), (false, true));
        assert_eq!(words(rank_of(2, 0)), (false, true));
        assert_eq!(words(rank_of(2, 1)), (true, false));
    }
}
