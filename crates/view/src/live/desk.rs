//! What viewers ask a run for, and what it answered so far.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Making, MakingDetails};
use crate::{Details, PATIENCE, Particle, PictureOptions, Snapshot};

/// Who asked longer ago than this does not wait any more: who does asks again \[s\].
const WAITED: Duration = PATIENCE.saturating_mul(2);
/// What nobody asked for in so long is forgotten, with the memory that it holds \[s\].
const FORGOTTEN: Duration = Duration::from_secs(1);
/// Answers that are kept for those who look in different ways.
const MOST_KEPT: usize = 8;

/// An answer of the run.
enum Answer<M, T> {
    /// All that it is made from.
    Raw(M),
    /// Somebody makes it just now.
    Taken,
    /// It is there.
    Made(Result<T, String>),
}

/// What was asked for, and not answered yet.
struct Wanted<K> {
    what: K,
    /// The state of the run that is known already.
    seen: Option<u64>,
    asked: Instant,
}

/// What was answered.
struct Kept<K, M, T> {
    what: K,
    /// The state of the run that it shows.
    number: u64,
    taken: Instant,
    /// When somebody asked for it last.
    asked: Instant,
    answer: Answer<M, T>,
}

/// What is found of an answer.
pub enum Found<M, T> {
    /// What it is made from, by who found that, and the state of the run that it shows.
    Raw(M, u64),
    /// It is there.
    Made(Result<T, String>),
}

/// What is new enough to be shown.
#[derive(Clone, Copy)]
pub struct Fresh {
    /// What shows the state of this number, in which the run was when somebody asked it last, however long ago that was.
    pub now: u64,
    /// What came since then.
    pub since: Instant,
    /// What is not older \[s\].
    pub oldest: Duration,
}

/// Requests of one kind, and answers to them.
pub struct Shelf<K, M, T> {
    wanted: Vec<Wanted<K>>,
    kept: Vec<Kept<K, M, T>>,
}

impl<K, M, T> Default for Shelf<K, M, T> {
    fn default() -> Shelf<K, M, T> {
        Shelf {
            wanted: Vec::new(),
            kept: Vec::new(),
        }
    }
}

impl<K: Clone + PartialEq, M, T: Clone> Shelf<K, M, T> {
    /// Notes that somebody waits for this, of another state of the run than that which was seen.
    pub fn want(&mut self, what: &K, seen: Option<u64>) {
        let asked = Instant::now();
        match self.wanted.iter_mut().find(|known| known.what == *what && known.seen == seen) {
            Some(known) => known.asked = asked,
            None => self.wanted.push(Wanted {
                what: what.clone(),
                seen,
                asked,
            }),
        }
    }

    /// What the run, now in the state of this number, is to answer. Who knows that state waits on.
    fn take_wanted(&mut self, now: u64) -> Vec<K> {
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

    /// Takes an answer.
    pub fn put(&mut self, what: K, number: u64, making: M) {
        self.kept.retain(|kept| kept.what != what);
        if self.kept.len() >= MOST_KEPT
            && let Some(longest) = (0..self.kept.len()).min_by_key(|&k| self.kept[k].asked)
        {
            drop(self.kept.remove(longest));
        }
        let now = Instant::now();
        self.kept.push(Kept {
            what,
            number,
            taken: now,
            asked: now,
            answer: Answer::Raw(making),
        });
    }

    /// What there is that is new, for who has seen the run in this state.
    pub fn find(&mut self, what: &K, seen: Option<u64>, fresh: Fresh) -> Option<Found<M, T>> {
        let kept = self.kept.iter_mut().find(|kept| kept.what == *what)?;
        kept.asked = Instant::now();
        let is_fresh = kept.number == fresh.now || kept.taken >= fresh.since || kept.taken.elapsed() <= fresh.oldest;
        if !is_fresh || seen == Some(kept.number) {
            return None;
        }
        match std::mem::replace(&mut kept.answer, Answer::Taken) {
            Answer::Raw(making) => Some(Found::Raw(making, kept.number)),
            Answer::Taken => None,
            Answer::Made(answer) => {
                kept.answer = Answer::Made(answer.clone());
                Some(Found::Made(answer))
            }
        }
    }

    /// Takes what was made of an answer, unless a later one has come meanwhile.
    pub fn put_made(&mut self, what: &K, number: u64, made: Result<T, String>) {
        let is_it = |kept: &&mut Kept<K, M, T>| kept.what == *what && kept.number == number && matches!(kept.answer, Answer::Taken);
        if let Some(kept) = self.kept.iter_mut().find(is_it) {
            kept.answer = Answer::Made(made);
        }
    }
}

/// Where viewers and the run meet.
#[derive(Default)]
pub struct Desk {
    /// The state that the run was in when it looked here last.
    pub now: u64,
    frames: Shelf<PictureOptions, Making, Arc<Snapshot>>,
    details: Shelf<Particle, MakingDetails, Details>,
}

impl Desk {
    /// What there is of frames.
    pub fn frames(&mut self) -> &mut Shelf<PictureOptions, Making, Arc<Snapshot>> {
        &mut self.frames
    }

    /// What there is of details.
    pub fn details(&mut self) -> &mut Shelf<Particle, MakingDetails, Details> {
        &mut self.details
    }

    /// What the run, now in the state of this number, is to answer: frames, and details.
    pub fn take_wanted(&mut self, now: u64) -> (Vec<PictureOptions>, Vec<Particle>) {
        self.now = now;
        (self.frames.take_wanted(now), self.details.take_wanted(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    type Words = Shelf<&'static str, u32, u32>;

    const OLDEST: Duration = Duration::from_millis(5);

    /// What is new to who asks now of a run in this state.
    fn fresh(now: u64) -> Fresh {
        Fresh {
            now,
            since: Instant::now(),
            oldest: OLDEST,
        }
    }

    fn raw(found: Option<Found<u32, u32>>) -> Option<(u32, u64)> {
        match found {
            Some(Found::Raw(making, number)) => Some((making, number)),
            _ => None,
        }
    }

    fn made(found: Option<Found<u32, u32>>) -> Option<u32> {
        match found {
            Some(Found::Made(answer)) => answer.ok(),
            _ => None,
        }
    }

    #[test]
    fn what_is_known_of_a_run_that_stands_still_is_not_asked_of_it_again() {
        let mut shelf = Words::default();
        shelf.want(&"a", Some(5));
        shelf.want(&"a", Some(5));
        shelf.want(&"b", None);
        shelf.want(&"b", Some(4));
        assert_eq!(shelf.take_wanted(5), ["b"]);
        assert_eq!(shelf.take_wanted(5), Vec::<&str>::new());
        assert_eq!(shelf.take_wanted(6), ["a"], "once it goes on, once");
        assert_eq!(shelf.take_wanted(7), Vec::<&str>::new());
    }

    #[test]
    fn an_answer_is_made_once_and_shown_to_all_who_do_not_know_it() {
        let mut shelf = Words::default();
        let now = fresh(5);
        assert!(shelf.find(&"a", None, now).is_none());
        shelf.put("a", 5, 1);
        assert!(shelf.find(&"a", Some(5), now).is_none() && shelf.find(&"b", None, now).is_none());
        assert_eq!(raw(shelf.find(&"a", Some(4), now)), Some((1, 5)));
        assert!(shelf.find(&"a", None, now).is_none(), "somebody makes it");
        shelf.put_made(&"a", 4, Ok(9));
        shelf.put_made(&"a", 5, Ok(10));
        assert_eq!(
            [None, Some(4), Some(5)].map(|seen| made(shelf.find(&"a", seen, now))),
            [Some(10), Some(10), None]
        );
    }

    #[test]
    fn old_answers_are_shown_only_of_a_run_that_stands_still() {
        let mut shelf = Words::default();
        let before = fresh(6);
        shelf.put("a", 5, 1);
        sleep(2 * OLDEST);
        assert!(shelf.find(&"a", None, fresh(6)).is_none());
        assert_eq!(raw(shelf.find(&"a", None, before)), Some((1, 5)), "it came while somebody waited");
        shelf.put_made(&"a", 5, Ok(2));
        assert!(shelf.find(&"a", None, fresh(6)).is_none());
        assert_eq!(made(shelf.find(&"a", None, fresh(5))), Some(2));
    }

    #[test]
    fn who_asks_no_more_is_forgotten() {
        let mut shelf = Words::default();
        shelf.want(&"a", Some(5));
        shelf.put("b", 5, 1);
        shelf.take_wanted(5);
        assert_eq!((shelf.wanted.len(), shelf.kept.len()), (1, 1));
        sleep(FORGOTTEN + Duration::from_millis(50));
        shelf.take_wanted(5);
        assert_eq!((shelf.wanted.len(), shelf.kept.len()), (0, 0));
    }

    #[test]
    fn no_more_answers_are_kept_than_there_is_room_for() {
        let mut shelf = Shelf::<usize, u32, u32>::default();
        (0..2 * MOST_KEPT).for_each(|what| shelf.put(what, 5, 1));
        assert_eq!(shelf.kept.len(), MOST_KEPT);
        assert!(raw(shelf.find(&(2 * MOST_KEPT - 1), None, fresh(5))).is_some());
    }
}
