//! Whether an MPI launcher started this process, and beside which others; this needs no MPI library.

use std::env;
use std::fmt;

/// An MPI launcher started this process, and others beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The environment variable that shows it.
    pub variable: &'static str,
    /// Number of ranks that it started, if known.
    pub ranks: Option<usize>,
}

impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ranks {
            Some(ranks) => write!(
                f,
                "a launcher of MPI started {ranks} ranks of this program ({}={ranks})",
                self.variable
            ),
            None => write!(f, "a launcher of MPI started this program ({} is set)", self.variable),
        }
    }
}

/// Variables with the number of ranks: of Open MPI; of MPICH, Intel MPI and others with PMI; of MVAPICH2; and of Slurm's srun. The job variables of
/// Slurm are no sign: they are also set where a job script calls a program once.
const COUNTS: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"];
/// The variable of launchers with PMIx, which has the rank alone.
const RANK: &str = "PMIX_RANK";

/// Variables with the rank among those of the same host: of Open MPI; of MVAPICH2; and of MPICH and Intel MPI.
const RANKS_ON_HOST: [&str; 3] = ["OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"];

/// The place of this process, which has this rank, among those that the launcher of MPI started on the same host, from 0, if the launcher reports it.
pub fn rank_on_host(rank: usize) -> Option<usize> {
    on_host(rank, |name| env::var(name).ok())
}

fn on_host(rank: usize, variable: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let number = |name: &str| variable(name)?.parse::<usize>().ok();
    // Job scripts have these variables, too, and hand them to all ranks of other launchers. They are of this rank if srun started it.
    let is_of_slurm = || number("SLURM_STEP_NUM_TASKS").is_some_and(|tasks| tasks > 1) && number("SLURM_PROCID") == Some(rank);
    let of_launchers = RANKS_ON_HOST.into_iter().find_map(number);
    of_launchers.or_else(|| is_of_slurm().then(|| number("SLURM_LOCALID")).flatten())
}

/// The launcher that started this process as one of several ranks, if there is one.
pub fn launched_by_mpi() -> Option<Launch> {
    launch(|name| env::var(name).ok())
}

fn launch(variable: impl Fn(&str) -> Option<String>) -> Option<Launch> {
    let reported = COUNTS
        .into_iter()
        .find_map(|name| Some((name, variable(name)?.parse::<usize>().ok()?)));
    match reported {
        Some((variable, ranks)) => (ranks > 1).then_some(Launch {
            variable,
            ranks: Some(ranks),
        }),
        None => variable(RANK).map(|_| Launch {
            variable: RANK,
            ranks: None,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a variable of this environment.
    fn value(environment: &[(&str, &str)], name: &str) -> Option<String> {
        let found = environment.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    }

    /// The result for a process with this environment.
    fn found(environment: &[(&str, &str)]) -> Option<(&'static str, Option<usize>)> {
        launch(|name| value(environment, name)).map(|launch| (launch.variable, launch.ranks))
    }

    #[test]
    fn the_rank_on_a_host_is_that_of_the_launcher_and_not_that_of_the_job() {
        let place = |rank: usize, environment: &[(&str, &str)]| on_host(rank, |name| value(environment, name));
        assert_eq!(
            place(5, &[("OMPI_COMM_WORLD_RANK", "5"), ("OMPI_COMM_WORLD_LOCAL_RANK", "1")]),
            Some(1)
        );
        let by_srun = [("SLURM_LOCALID", "2"), ("SLURM_PROCID", "6"), ("SLURM_STEP_NUM_TASKS", "8")];
        assert_eq!(place(6, &by_srun), Some(2));
        assert_eq!(place(6, &[&by_srun[..], &[("MPI_LOCALRANKID", "3")]].concat()), Some(3));
        // A launcher in a job script, and one that srun starts once on each host: their ranks have the variables of another process.
        let in_a_script = [("SLURM_LOCALID", "0"), ("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")];
        assert_eq!(place(0, &in_a_script), None);
        assert_eq!(place(1, &in_a_script), None);
        assert_eq!(place(0, &[&in_a_script[..], &[("SLURM_STEP_NUM_TASKS", "1")]].concat()), None);
        assert_eq!(place(1, &[&in_a_script[..], &[("SLURM_STEP_NUM_TASKS", "2")]].concat()), None);
        assert_eq!(place(5, &[("PMI_RANK", "5")]), None);
    }

    #[test]
    fn launchers_are_reported_by_their_variables() {
        let of_open_mpi = [("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "1"), ("PMIX_RANK", "1")];
        assert_eq!(found(&of_open_mpi), Some(("OMPI_COMM_WORLD_SIZE", Some(4))));
        assert_eq!(found(&[("PMI_SIZE", "2"), ("PMI_RANK", "0")]), Some(("PMI_SIZE", Some(2))));
        assert_eq!(found(&[("SLURM_STEP_NUM_TASKS", "8")]), Some(("SLURM_STEP_NUM_TASKS", Some(8))));
        assert_eq!(found(&[("PMIX_RANK", "0")]), Some(("PMIX_RANK", None)));
    }

    #[test]
    fn one_process_alone_was_not_launched() {
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0")]), None);
        let in_a_script_of_slurm = [("SLURM_JOB_ID", "7"), ("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")];
        assert_eq!(found(&in_a_script_of_slurm), None);
    }
}
