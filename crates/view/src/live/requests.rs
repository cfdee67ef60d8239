//! Requests of viewers, and a cache of the answers of the run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{DetailsJob, SnapshotJob};
use crate::{PATIENCE, Particle, ParticleDetails, PictureOptions, Snapshot};

/// Age at which a request expires; a waiting viewer repeats its request before \[s\].
const WAITED: Duration = PATIENCE.saturating_mul(2);
/// Time after which an answer without requests is dropped, with its memory \[s\].
const FORGOTTEN: Duration = Duration::from_secs(1);
/// Most answers kept, for viewers with different options.
const MAX_KEPT: usize = 8;

/// State of an answer.
enum Answer<M, T> {
    /// Job that makes the answer.
    Raw(M),
    /// A viewer is running the job.
    Taken,
    /// The finished answer.
    Made(Result<T, String>),
}

/// A request without an answer so far.
struct PendingRequest<K> {
    what: K,
    /// State of the run that the viewer has already seen.
    seen: Option<u64>,
    asked: Instant,
}

/// An answer of the run.
struct CachedResponse<K, M, T> {
    what: K,
    /// State of the run that the answer shows.
    number: u64,
    taken: Instant,
    /// Time of the last request for it.
    asked: Instant,
    answer: Answer<M, T>,
}

/// Result of a cache lookup.
pub enum CacheLookup<M, T> {
    /// Job that the caller must run, and the state of the run that it shows.
    Raw(M, u64),
    /// The finished answer.
    Made(Result<T, String>),
}

/// Criteria for an answer that is fresh enough; one of them suffices.
#[derive(Clone, Copy)]
pub struct FreshResponse {
    /// The answer shows the state of this number, the last one that the run reported, however long ago.
    pub now: u64,
    /// The answer arrived at or after this time.
    pub since: Instant,
    /// The answer is not older than this \[s\].
    pub oldest: Duration,
}

/// Requests of one kind and their answers.
pub struct ResponseCache<K, M, T> {
    wanted: Vec<PendingRequest<K>>,
    kept: Vec<CachedResponse<K, M, T>>,
}

impl<K, M, T> Default for ResponseCache<K, M, T> {
    fn default() -> ResponseCache<K, M, T> {
        ResponseCache {
            wanted: Vec::new(),
            kept: Vec::new(),
        }
    }
}

impl<K: Clone + PartialEq, M, T: Clone> ResponseCache<K, M, T> {
    /// Adds a request for another state of the run than the one already seen.
    pub fn want(&mut self, what: &K, seen: Option<u64>) {
        let asked = Instant::now();
        match self.wanted.iter_mut().find(|known| known.what == *what && known.seen == seen) {
            Some(known) => known.asked = asked,
            None => self.wanted.push(PendingRequest {
                what: what.clone(),
                seen,
                asked,
            }),
        }
    }

    /// Takes the requests that the run must answer now, in the state of this number. Requests of viewers that have seen this state keep waiting.
    fn take_requests(&mut self, now: u64) -> Vec<K> {
        self.kept.retain(|kept| kept.asked.elapsed() <= FORGOTTEN);
        self.wanted.retain(|wanted| wanted.asked.elapsed() <= WAITED);
        let mut due: Vec<K> = Vec::new();
        self.wanted.retain(|wanted| {
            let waits = wanted.seen == Some(now);
            if !waits && !due.contains(&wanted.what) {
                due.push(wanted.what.clone());
            }
            waits
        });
        due
    }

    /// Stores the job of an answer.
    pub fn put(&mut self, what: K, number: u64, making: M) {
        self.kept.retain(|kept| kept.what != what);
        if self.kept.len() >= MAX_KEPT
            && let Some(longest) = (0..self.kept.len()).min_by_key(|&k| self.kept[k].asked)
        {
            drop(self.kept.remove(longest));
        }
        let now = Instant::now();
        self.kept.push(CachedResponse {
            what,
            number,
            taken: now,
            asked: now,
            answer: Answer::Raw(making),
        });
    }

    /// Looks up a fresh answer for a viewer that has seen the run in the state `seen`.
    pub fn find(&mut self, what: &K, seen: Option<u64>, fresh: FreshResponse) -> Option<CacheLookup<M, T>> {
        let kept = self.kept.iter_mut().find(|kept| kept.what == *what)?;
        kept.asked = Instant::now();
        let is_fresh = kept.number == fresh.now || kept.taken >= fresh.since || kept.taken.elapsed() <= fresh.oldest;
        if !is_fresh || seen == Some(kept.number) {
            return None;
        }
        match std::mem::replace(&mut kept.answer, Answer::Taken) {
            Answer::Raw(making) => Some(CacheLookup::Raw(making, kept.number)),
            Answer::Taken => None,
            Answer::Made(answer) => {
                kept.answer = Answer::Made(answer.clone());
                Some(CacheLookup::Made(answer))
            }
        }
    }

    /// Stores a finished answer, unless a later one has arrived meanwhile.
    pub fn store_answer(&mut self, what: &K, number: u64, made: Result<T, String>) {
        let is_it =
            |kept: &&mut CachedResponse<K, M, T>| kept.what == *what && kept.number == number && matches!(kept.answer, Answer::Taken);
        if let Some(kept) = self.kept.iter_mut().find(is_it) {
            kept.answer = Answer::Made(made);
        }
    }
}

/// All requests of viewers, with the answers of the run.
#[derive(Default)]
pub struct ViewerRequests {
    /// State of the run when it last took requests.
    pub now: u64,
    frames: ResponseCache<PictureOptions, SnapshotJob, Arc<Snapshot>>,
    details: ResponseCache<Particle, DetailsJob, ParticleDetails>,
}

impl ViewerRequests {
    /// Requests and answers for frames.
    pub fn frames(&mut self) -> &mut ResponseCache<PictureOptions, SnapshotJob, Arc<Snapshot>> {
        &mut self.frames
    }

    /// Requests and answers for details.
    pub fn details(&mut self) -> &mut ResponseCache<Particle, DetailsJob, ParticleDetails> {
        &mut self.details
    }

    /// Takes the requests for frames and details that the run must answer now, in the state of this number.
    pub fn take_requests(&mut self, now: u64) -> (Vec<PictureOptions>, Vec<Particle>) {
        self.now = now;
        (self.frames.take_requests(now), self.details.take_requests(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    type Words = ResponseCache<&'static str, u32, u32>;

    const OLDEST: Duration = Duration::from_millis(5);

    /// Criteria for a request at this time and in this state of the run.
    fn fresh(now: u64) -> FreshResponse {
        FreshResponse {
            now,
            since: Instant::now(),
            oldest: OLDEST,
        }
    }

    fn raw(found: Option<CacheLookup<u32, u32>>) -> Option<(u32, u64)> {
        match found {
            Some(CacheLookup::Raw(making, number)) => Some((making, number)),
            _ => None,
        }
    }

    fn made(found: Option<CacheLookup<u32, u32>>) -> Option<u32> {
        match found {
            Some(CacheLookup::Made(answer)) => answer.ok(),
            _ => None,
        }
    }

    #[test]
    fn what_is_known_of_a_run_that_stands_still_is_not_asked_of_it_again() {
        let mut cache = Words::default();
        cache.want(&"a", Some(5));
        cache.want(&"a", Some(5));
        cache.want(&"b", None);
        cache.want(&"b", Some(4));
        assert_eq!(cache.take_requests(5), ["b"]);
        assert_eq!(cache.take_requests(5), Vec::<&str>::new());
        assert_eq!(cache.take_requests(6), ["a"], "once it goes on, once");
        assert_eq!(cache.take_requests(7), Vec::<&str>::new());
    }

    #[test]
    fn an_answer_is_made_once_and_shown_to_all_who_do_not_know_it() {
        let mut cache = Words::default();
        let now = fresh(5);
        assert!(cache.find(&"a", None, now).is_none());
        cache.put("a", 5, 1);
        assert!(cache.find(&"a", Some(5), now).is_none() && cache.find(&"b", None, now).is_none());
        assert_eq!(raw(cache.find(&"a", Some(4), now)), Some((1, 5)));
        assert!(cache.find(&"a", None, now).is_none(), "another request computes it");
        cache.store_answer(&"a", 4, Ok(9));
        cache.store_answer(&"a", 5, Ok(10));
        assert_eq!(
            [None, Some(4), Some(5)].map(|seen| made(cache.find(&"a", seen, now))),
            [Some(10), Some(10), None]
        );
    }

    #[test]
    fn old_answers_are_shown_only_of_a_run_that_stands_still() {
        let mut cache = Words::default();
        let before = fresh(6);
        cache.put("a", 5, 1);
        sleep(2 * OLDEST);
        assert!(cache.find(&"a", None, fresh(6)).is_none());
        assert_eq!(raw(cache.find(&"a", None, before)), Some((1, 5)), "it came while a request waited");
        cache.store_answer(&"a", 5, Ok(2));
        assert!(cache.find(&"a", None, fresh(6)).is_none());
        assert_eq!(made(cache.find(&"a", None, fresh(5))), Some(2));
    }

    #[test]
    fn who_asks_no_more_is_forgotten() {
        let mut cache = Words::default();
        cache.want(&"a", Some(5));
        cache.put("b", 5, 1);
        cache.take_requests(5);
        assert_eq!((cache.wanted.len(), cache.kept.len()), (1, 1));
        sleep(FORGOTTEN + Duration::from_millis(50));
        cache.take_requests(5);
        assert_eq!((cache.wanted.len(), cache.kept.len()), (0, 0));
    }

    #[test]
    fn no_more_answers_are_kept_than_there_is_room_for() {
        let mut cache = ResponseCache::<usize, u32, u32>::default();
        (0..2 * MAX_KEPT).for_each(|what| cache.put(what, 5, 1));
        assert_eq!(cache.kept.len(), MAX_KEPT);
        assert!(raw(cache.find(&(2 * MAX_KEPT - 1), None, fresh(5))).is_some());
    }
}
