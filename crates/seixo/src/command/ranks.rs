//! MPI: this process as one of several ranks.

use super::{Done, Failure, Verbosity};
use seixo_engine::Ranks;
use seixo_transport::{Launch, Transport};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Time that a failed rank waits for the first rank, which has mostly failed alike, to print the error and end the job.
const MOMENT: Duration = Duration::from_secs(5);

/// Refuses several processes that do not form one MPI run: each would do the whole work and write to the same folder.
pub fn refuse(launch: Option<Launch>, divides: bool) -> Done {
    let Some(launch) = launch else { return Ok(()) };
    let why = match (divides, cfg!(feature = "mpi")) {
        (true, true) => return Ok(()),
        (true, false) => {
            "this program was built without MPI; build it with `cargo build --release --features mpi`, or decompose the grains over threads of one process \
             with --domains"
        }
        (false, _) => "only `seixo run` and `seixo resume` decompose their work over ranks; call this command without a launcher",
    };
    Err(Failure::Input(format!(
        "{launch}, but {why}. To run independent copies, unset {}",
        launch.variable
    )))
}

/// This process: one of several ranks, or a single process.
pub struct Rank(Option<Ranks>);

impl Rank {
    /// Joins the other ranks, if there are any. All ranks must have the same scene file and overrides.
    #[cfg(feature = "mpi")]
    pub fn join(scene: &Path, overrides: &[(String, String)]) -> Rank {
        use seixo_files::layer::{Disk, FileLayer};
        let join = |_| {
            let mut digest = blake3::Hasher::new();
            // The caller reports a file that cannot be read.
            digest.update(&Disk.read(scene).unwrap_or_default());
            for text in overrides.iter().flat_map(|(key, value)| [key, value]) {
                digest.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
            }
            let ranks = Ranks::new(Box::new(seixo_transport::Mpi::start(digest.finalize().as_bytes())));
            match seixo_transport::rank_on_host(ranks.rank()) {
                Some(rank) => ranks.on_host(rank),
                None => ranks,
            }
        };
        Rank(seixo_transport::launched_by_mpi().map(join))
    }

    /// Without MPI there are no other ranks.
    #[cfg(not(feature = "mpi"))]
    pub fn join(_scene: &Path, _overrides: &[(String, String)]) -> Rank {
        Rank(None)
    }

    /// Returns all ranks, if there are several.
    pub fn all_ranks(&self) -> Option<Ranks> {
        self.0.clone()
    }

    /// Returns the amount of output of this rank: only the first rank prints.
    pub fn voice(&self, voice: Verbosity) -> Verbosity {
        match &self.0 {
            Some(ranks) if !ranks.is_first() => Verbosity { quiet: true, json: false },
            _ => voice,
        }
    }

    /// Adds the number of subdomains, one for each rank, to the overrides of a scene.
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

    /// Ends this rank together with the others. If ranks fail alike, the first prints the reason and ends the job.
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
    use seixo_transport::Channels;

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
        let reported = refused(true);
        assert_eq!(reported.is_none(), cfg!(feature = "mpi"), "{reported:?}");
        assert!(reported.is_none_or(|text| text.contains("--features mpi")));
        assert!(refuse(None, false).is_ok() && refuse(None, true).is_ok(), "one process goes on");
    }

    #[test]
    fn a_scene_is_decomposed_into_as_many_domains_as_there_are_ranks() {
        let domains = |count: &str| vec![("run.domains".to_owned(), count.to_owned())];
        let decomposed = |rank: Rank, overrides: Vec<(String, String)>| rank.divide(overrides).ok();
        assert_eq!(decomposed(rank_of(4, 1), Vec::new()), Some(domains("4")));
        assert_eq!(
            decomposed(rank_of(4, 1), domains("4")).map(|overrides| overrides.last().cloned()),
            Some(domains("4").pop())
        );
        assert_eq!(decomposed(Rank(None), domains("3")), Some(domains("3")));
        assert_eq!(decomposed(rank_of(4, 0), domains("3")), None);
    }

    #[test]
    fn only_the_first_speaks() {
        let loud = Verbosity { quiet: false, json: true };
        let words = |rank: Rank| (rank.voice(loud).quiet, rank.voice(loud).json);
        assert_eq!(words(Rank(None)), (false, true));
        assert_eq!(words(rank_of(2, 0)), (false, true));
        assert_eq!(words(rank_of(2, 1)), (true, false));
    }
}
