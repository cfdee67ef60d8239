//! Domains as MPI ranks.
//!
//! The crate `mpi` finalizes MPI while a panic unwinds, and then waits for ranks that wait for this one. So here only [`Mpi::finish`] finalizes MPI;
//! before that, any error on one rank ends the whole job.

#![expect(
    unsafe_code,
    reason = "MPI reads messages after the call that sends them, which borrows cannot express"
)]

use crate::{Disconnected, Transport};
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::request::{Request, StaticScope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use mpi::{Count, Rank, Tag, Threading};
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, mem, panic, slice, thread};

/// Longest piece of a message \[bytes\]. MPI counts in 32 bits, so longer messages are sent in pieces; in a gather, it counts the bytes of all ranks.
const PIECE: usize = 1 << 26;

/// This process as an MPI rank.
pub struct Mpi {
    rank: usize,
    ranks: usize,
    /// MPI, which is finalized when this is dropped.
    universe: Option<Universe>,
    under_way: Vec<UnderWay>,
}

/// A message that MPI may still read.
struct UnderWay {
    message: Vec<u8>,
    /// Requests of the pieces that were not sent at the last check.
    requests: Vec<Request<'static, [u8]>>,
}

// SAFETY: a request is a handle that belongs to no thread. MPI is started such that any thread may use it as long as calls do not overlap. Only the
// one `Mpi` of this process has requests, and it uses them where it is borrowed mutably.
unsafe impl Send for UnderWay {}

impl UnderWay {
    fn start(message: Vec<u8>, to: usize) -> UnderWay {
        let mut sending = UnderWay {
            message,
            requests: Vec::new(),
        };
        // SAFETY: the bytes stay in place and unchanged until MPI has read them: nothing changes the vector beside its requests, and nothing frees it
        // before they are complete. An `Mpi` that is dropped earlier leaves both in place.
        let bytes: &'static [u8] = unsafe { slice::from_raw_parts(sending.message.as_ptr(), sending.message.len()) };
        let world = SimpleCommunicator::world();
        let destination = world.process_at_rank(to as Rank);
        let pieces = bytes.len().div_ceil(PIECE).max(1);
        sending.requests.extend((0..pieces).map(|k| {
            let piece = &bytes[k * PIECE..bytes.len().min((k + 1) * PIECE)];
            let left = pieces - 1 - k;
            destination.immediate_send_with_tag(StaticScope, piece, left as Tag)
        }));
        sending
    }

    /// Frees the message if it is sent, or returns it.
    fn unless_sent(mut self) -> Option<UnderWay> {
        let requests = self.requests.into_iter();
        self.requests = requests.filter_map(|request| request.test().err()).collect();
        (!self.requests.is_empty()).then_some(self)
    }

    /// Waits until the message is sent.
    fn wait(self) {
        self.requests.into_iter().for_each(Request::wait_without_status);
    }
}

impl Mpi {
    /// Starts MPI, once in a process. Ends the job if ranks run different programs, or have different digests of their scene.
    ///
    /// From here on, a panic on any thread ends the whole job, even one that would be caught. Any thread may send and receive, but MPI requires that
    /// the thread that started it [finishes](Transport::finish).
    pub fn start(scene: &[u8]) -> Mpi {
        let started = mpi::initialize_with_threading(Threading::Serialized);
        let world = SimpleCommunicator::world();
        let mut this = Mpi {
            rank: world.rank() as usize,
            ranks: world.size() as usize,
            universe: None,
            under_way: Vec::new(),
        };
        this.end_job_on_panic();
        match started {
            Some((universe, level)) if level >= Threading::Serialized => this.universe = Some(universe),
            Some((_, level)) => this.fail(&format!(
                "this MPI library supports threads up to the level {level:?}, but Serialized is needed; use one that was built for threads"
            )),
            None => this.fail("MPI was started before in this process"),
        }
        match program() {
            Ok(program) => this.compare("runs another program", "install the same build on every host", program.as_bytes()),
            Err(error) => this.fail(&format!(
                "the program cannot read its own file to compare it with those of other ranks: {error}"
            )),
        }
        this.compare("reads another scene", "give all ranks the same scene and the same flags", scene);
        this
    }

    /// Ends the job unless all ranks have the same bytes.
    fn compare(&mut self, what: &str, remedy: &str, digest: &[u8]) {
        let digests = match self.gather(digest.to_vec()) {
            Ok(digests) => digests,
            Err(lost) => return self.fail(&lost.to_string()),
        };
        let Some(other) = digests.iter().position(|digest| *digest != digests[0]) else {
            return;
        };
        if self.rank == 0 {
            let [here, there] = [0, other].map(|rank| hexadecimal(&digests[rank]));
            self.say(&format!("rank {other} {what} than rank 0 ({there} and {here}); {remedy}"));
            end(2)
        }
        // Rank 0 ends the job. If this rank did, the message of rank 0 could be lost.
        wait_for_end()
    }

    /// Writes a line to the error stream; if that is closed, the exit code must suffice.
    fn say(&self, what: &str) {
        write_line(&format!("error: rank {} of {}: {what}\n", self.rank, self.ranks));
    }

    fn end_job_on_panic(&self) {
        let (rank, ranks) = (self.rank, self.ranks);
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            write_line(&format!("error: rank {rank} of {ranks} panicked:\n"));
            report(panic);
            if is_running() {
                end(1)
            }
        }));
    }

    /// Frees messages that are sent.
    fn tidy(&mut self) {
        let under_way = mem::take(&mut self.under_way).into_iter();
        self.under_way = under_way.filter_map(UnderWay::unless_sent).collect();
    }
}

impl Transport for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), Disconnected> {
        self.tidy();
        self.under_way.push(UnderWay::start(message, to));
        Ok(())
    }

    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Disconnected> {
        self.tidy();
        let world = SimpleCommunicator::world();
        let source = world.process_at_rank(from as Rank);
        // Each call receives the message that a probe found; the tag is the number of pieces that remain.
        let (mut message, mut status) = source.receive_vec::<u8>();
        while status.tag() > 0 {
            let (piece, of_piece) = source.receive_vec::<u8>();
            message.extend(piece);
            status = of_piece;
        }
        Ok(message)
    }

    fn gather(&mut self, mut message: Vec<u8>) -> Result<Vec<Vec<u8>>, Disconnected> {
        self.tidy();
        // An empty vector without allocation points to address 1, which Open MPI takes for MPI_IN_PLACE.
        message.reserve(1);
        let world = SimpleCommunicator::world();
        let mut lengths = vec![0_u64; self.ranks];
        world.all_gather_into(&(message.len() as u64), &mut lengths[..]);
        let lengths: Vec<usize> = lengths.iter().map(|&length| length as usize).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let piece = PIECE.min(Count::MAX as usize / self.ranks);
        let mut whole: Vec<Vec<u8>> = lengths.iter().map(|&length| Vec::with_capacity(length)).collect();
        for start in (0..longest).step_by(piece) {
            let parts = lengths.iter().map(|length| length.saturating_sub(start).min(piece));
            let counts: Vec<Count> = parts.map(|length| length as Count).collect();
            let start_of_next = |next: &mut Count, count: &Count| {
                let start = *next;
                *next += count;
                Some(start)
            };
            let starts: Vec<Count> = counts.iter().scan(0, start_of_next).collect();
            let total: Count = counts.iter().sum();
            let mut all = Vec::with_capacity(total as usize + 1);
            all.resize(total as usize, 0_u8);
            let own = &message[start.min(message.len())..message.len().min(start + piece)];
            world.all_gather_varcount_into(own, &mut PartitionMut::new(&mut all[..], &counts[..], &starts[..]));
            for ((whole, &start), &count) in whole.iter_mut().zip(&starts).zip(&counts) {
                whole.extend_from_slice(&all[start as usize..][..count as usize]);
            }
        }
        Ok(whole)
    }

    fn finish(&mut self) -> Result<(), Disconnected> {
        if let Some(universe) = self.universe.take() {
            mem::take(&mut self.under_way).into_iter().for_each(UnderWay::wait);
            SimpleCommunicator::world().barrier();
            drop(universe);
        }
        Ok(())
    }

    fn fail(&mut self, why: &str) {
        self.say(why);
        end(1)
    }
}

impl Drop for Mpi {
    /// Without [`finish`](Transport::finish), MPI continues and may still read messages: the other ranks depend on this one until the process ends,
    /// and the job with it.
    fn drop(&mut self) {
        mem::forget(self.universe.take());
        mem::forget(mem::take(&mut self.under_way));
    }
}

/// Ends all ranks of the job with this exit code, for a process that is about to end without the others: they would wait for it. Does nothing if MPI
/// is not running.
pub fn end_job(code: u8) {
    if is_running() {
        let world = SimpleCommunicator::world();
        write_line(&format!("rank {} of {} ends the job\n", world.rank(), world.size()));
        end(i32::from(code))
    }
}

/// Writes a line to the error stream in one piece: otherwise the messages of MPI about the end could come in between.
fn write_line(line: &str) {
    let _ = io::stderr().write_all(line.as_bytes());
}

fn is_running() -> bool {
    mpi::is_initialized() && !mpi::is_finalized()
}

/// Ends all ranks, this one included.
fn end(code: i32) -> ! {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    // A second thread would return from `MPI_Abort`, and abort this process before the job ends as it should.
    if IS_ENDING.swap(true, Ordering::Relaxed) {
        wait_for_end();
    }
    SimpleCommunicator::world().abort(code)
}

/// Waits for the end that another thread or rank has requested.
fn wait_for_end() -> ! {
    loop {
        thread::park();
    }
}

/// A digest of the executable.
fn program() -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(env::current_exe()?)?)?;
    Ok(hasher.finalize())
}

/// The beginning of a digest, for display.
fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
