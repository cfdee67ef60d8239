//! Domains as MPI ranks: this program starts itself with Open MPI's `mpirun`, as ranks that send and gather, and end regularly or with errors.
//!
//! `SEIXO_TRIALS` is the number of trials of each error.

use seixo_transport::{Mpi, Transport, launched_by_mpi};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit, id};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

/// Longest duration of a job after one of its ranks is lost.
const SOON: Duration = Duration::from_secs(5);
/// Longest duration of any job, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(60);
/// The first argument of a rank.
const RANK: &str = "as-a-rank";
/// All ranks on this machine, with messages through its loopback, for root in a container too.
const MPIRUN: &str = "--allow-run-as-root --oversubscribe --bind-to none --mca pml ob1 --mca btl self,tcp --mca btl_tcp_if_include lo";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1..) {
        Some([mark, task, folder]) if mark == RANK => rank(task, Path::new(folder)),
        _ => jobs(),
    }
}

/// A program that `mpirun` starts, and the number of its ranks.
type Part = (PathBuf, usize);

/// Result of a job.
struct Job {
    folder: TempDir,
    /// Exit code of `mpirun`; none if a signal ended it.
    code: Option<i32>,
    /// The whole output.
    said: String,
    ended: SystemTime,
}

impl Job {
    /// Starts ranks for a task and waits for them.
    fn run(task: &str, parts: &[Part]) -> Job {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("said");
        let said = File::create(&path).unwrap();
        let mut command = Command::new("mpirun");
        // Jobs that start at the same time fail, as Open MPI makes one folder for all jobs of a user.
        command.env("TMPDIR", folder.path());
        for (k, (program, ranks)) in parts.iter().enumerate() {
            if k > 0 {
                command.arg(":");
            }
            command.args(MPIRUN.split(' ').filter(|_| k == 0));
            command
                .arg("-n")
                .arg(ranks.to_string())
                .arg(program)
                .args([RANK, task])
                .arg(folder.path());
        }
        command.stdin(Stdio::null()).stdout(said.try_clone().unwrap()).stderr(said);
        let mut mpirun = command.spawn().expect("mpirun starts; openmpi-bin has it");
        let started = Instant::now();
        let status = loop {
            if let Some(status) = mpirun.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > PATIENCE {
                mpirun.kill().unwrap();
                mpirun.wait().unwrap();
                panic!("{task} hangs:\n{}", fs::read_to_string(&path).unwrap());
            }
            thread::sleep(Duration::from_millis(5));
        };
        Job {
            code: status.code(),
            said: String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned(),
            ended: SystemTime::now(),
            folder,
        }
    }

    fn must_succeed(&self) {
        assert_eq!(self.code, Some(0), "{}", self.said);
    }

    fn must_fail(&self, messages: &[&str]) {
        assert_ne!(self.code, Some(0), "{}", self.said);
        for message in messages {
            assert!(self.said.contains(*message), "without \"{message}\":\n{}", self.said);
        }
    }

    /// Soon after one rank was lost, the job ended, and no rank is left.
    fn must_end_soon(&self) {
        let died = fs::metadata(self.folder.path().join("died")).unwrap().modified().unwrap();
        let took = self.ended.duration_since(died).unwrap_or_default();
        assert!(took < SOON, "the job went on for {took:?}\n{}", self.said);
        let ranks = fs::read_to_string(self.folder.path().join("ranks")).unwrap();
        // A rank that ended, but whose exit code was not read yet, is a zombie.
        let state = |rank: &str| fs::read_to_string(format!("/proc/{rank}/stat"));
        let is_running = |rank: &str| state(rank).is_ok_and(|state| !state.contains(") Z "));
        while ranks.lines().any(is_running) {
            assert!(died.elapsed().unwrap_or_default() < SOON, "ranks are left\n{}", self.said);
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Starts one job after the other.
fn jobs() {
    let program = std::env::current_exe().unwrap();
    let trials: u32 = std::env::var("SEIXO_TRIALS").map_or(2, |trials| trials.parse().unwrap());
    assert_eq!(launched_by_mpi(), None, "start this test without mpirun, which it starts itself");
    for ranks in [2, 4] {
        let job = |task: &str| Job::run(task, &[(program.clone(), ranks)]);
        job("exchange").must_succeed();
        println!("{ranks} ranks exchange messages");
        job("other-scene").must_fail(&["rank 1 reads another scene than rank 0"]);
        println!("{ranks} ranks refuse different scenes");
        let who = format!("rank 1 of {ranks}");
        let (panics, fails, ends) = (
            format!("{who} panicked"),
            format!("{who}: the disk is full"),
            format!("{who} ends the job"),
        );
        for (task, messages) in [
            ("panic", vec![panics.as_str(), "meant"]),
            ("panic-beside", vec![panics.as_str(), "meant"]),
            ("fail", vec![fails.as_str()]),
            ("end-job", vec![ends.as_str()]),
            ("exit", vec![]),
            ("kill", vec![]),
        ] {
            for _ in 0..trials {
                let job = job(task);
                job.must_fail(&messages);
                job.must_end_soon();
            }
            println!("{ranks} ranks end soon after \"{task}\", {trials} times");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    fs::copy(&program, &other).unwrap();
    OpenOptions::new().append(true).open(&other).unwrap().write_all(b"!").unwrap();
    Job::run("exchange", &[(program, 1), (other, 1)]).must_fail(&["rank 1 runs another program than rank 0"]);
    println!("ranks refuse different programs");
}

/// Work of a rank.
fn rank(task: &str, folder: &Path) {
    let mut ranks = OpenOptions::new().create(true).append(true).open(folder.join("ranks")).unwrap();
    ranks.write_all(format!("{}\n", id()).as_bytes()).unwrap();
    let launch = launched_by_mpi().expect("mpirun sets its variables");
    let is_second = std::env::var("OMPI_COMM_WORLD_RANK").is_ok_and(|rank| rank == "1");
    let mut mpi = Mpi::start(if task == "other-scene" && is_second { b"b" } else { b"a" });
    assert_eq!(launch.ranks, Some(mpi.ranks()));
    if task == "exchange" {
        exchange(&mut mpi);
        mpi.finish().unwrap();
        return;
    }
    // All are at work when it happens.
    mpi.gather(Vec::new()).unwrap();
    if mpi.rank() != 1 {
        let reported = if mpi.rank() == 0 {
            mpi.receive(1).map(drop)
        } else {
            mpi.gather(Vec::new()).map(drop)
        };
        panic!("nothing could come, but it was {reported:?}");
    }
    File::create(folder.join("died")).unwrap();
    match task {
        "panic" => panic!("meant"),
        "panic-beside" => {
            // The panic of that thread is not observed, and this thread waits as the other ranks do.
            thread::spawn(|| panic!("meant"));
            mpi.receive(0).map(drop).unwrap();
        }
        "fail" => mpi.fail("the disk is full"),
        "end-job" => {
            drop(mpi);
            seixo_transport::end_job(1);
        }
        "exit" => {
            drop(mpi);
            exit(3);
        }
        "kill" => {
            let status = Command::new("sh").args(["-c", &format!("kill -KILL {}", id())]).status();
            panic!("survived SIGKILL: {status:?}");
        }
        _ => panic!("no such task: {task}"),
    }
    panic!("survived {task}");
}

/// Sends messages of all sizes around the ring and to all, with gathers in between.
fn exchange(mpi: &mut Mpi) {
    let (rank, ranks) = (mpi.rank(), mpi.ranks());
    let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    // 70 MB are longer than a piece, and four times that is much.
    let lengths = [0, 1, 1_000, 100_000, 10_000_000, 70_000_000];
    for &length in &lengths[..if ranks == 2 { 6 } else { 5 }] {
        // All send before any receives, which would hang if sending waited; and a short message may not overtake a long one.
        mpi.send(next, message(rank, length)).unwrap();
        mpi.send(next, message(rank, 3)).unwrap();
        let all = mpi.gather(message(rank, rank * length / 100)).unwrap();
        assert!(all.len() == ranks && (0..ranks).all(|from| all[from] == message(from, from * length / 100)));
        assert!(
            mpi.receive(before).unwrap() == message(before, length),
            "{length} bytes around the ring"
        );
        assert!(
            mpi.receive(before).unwrap() == message(before, 3),
            "after {length} bytes around the ring"
        );
    }
    if ranks == 2 {
        // One message has three pieces, the other has two.
        let length = |from: usize| 140_000_000 - from * 70_000_000;
        let all = mpi.gather(message(rank, length(rank))).unwrap();
        assert!(
            (0..ranks).all(|from| all[from] == message(from, length(from))),
            "pieces of what all give"
        );
    }
    for number in 0..200 {
        (0..ranks).for_each(|to| mpi.send(to, message(rank, number)).unwrap());
    }
    for from in (0..ranks).rev() {
        (0..200).for_each(|number| assert_eq!(mpi.receive(from).unwrap(), message(from, number)));
    }
}

/// Bytes that depend on the sender, without a period that could hide a lost piece.
fn message(from: usize, length: usize) -> Vec<u8> {
    let seed = from as u64 + 1;
    (0..length as u64)
        .map(|k| ((k + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
        .collect()
}
