//! Domains as threads: messages keep their order, and all others receive the rank and the reason of a lost domain.

use seixo_transport::{Channels, Disconnected, Transport};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

const DOMAINS: usize = 8;
/// Longest time until the others receive the loss of a domain.
const SOON: Duration = Duration::from_secs(1);

/// Runs a program in all domains, each on a thread, and waits for all.
fn run(program: impl Fn(&mut Channels) + Clone + Send + 'static) {
    let threads: Vec<_> = Channels::all(DOMAINS)
        .into_iter()
        .map(|mut domain| {
            let program = program.clone();
            thread::spawn(move || program(&mut domain))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Bytes that depend on the sender and the number of the message; that number is also their count.
fn message(from: usize, number: usize) -> Vec<u8> {
    let mark = [from as u8, number as u8, (number >> 8) as u8];
    mark.into_iter().cycle().take(number).collect()
}

#[test]
fn messages_of_two_domains_arrive_in_their_order() {
    run(|domain| {
        let rank = domain.rank();
        assert_eq!(domain.ranks(), DOMAINS);
        for number in 0..500 {
            for to in 0..DOMAINS {
                domain.send(to, message(rank, number)).unwrap();
            }
        }
        // The messages of the last domain wait behind those of all others; some have arrived by then.
        for from in (0..DOMAINS).rev() {
            for number in 0..500 {
                assert_eq!(domain.receive(from).unwrap(), message(from, number));
            }
        }
        domain.finish().unwrap();
    });
}

#[test]
fn all_get_what_all_gave_while_messages_are_on_their_way() {
    run(|domain| {
        let rank = domain.rank();
        for round in 0..200 {
            let (next, before) = ((rank + 1) % DOMAINS, (rank + DOMAINS - 1) % DOMAINS);
            domain.send(next, message(rank, round)).unwrap();
            // Some messages are empty, and all have different lengths.
            let all = domain.gather(message(rank, rank * round)).unwrap();
            let given: Vec<_> = (0..DOMAINS).map(|from| message(from, from * round)).collect();
            assert_eq!(all, given);
            assert_eq!(domain.receive(before).unwrap(), message(before, round));
        }
        domain.finish().unwrap();
    });
}

/// The result that a domain received, and when.
type News = (usize, Result<(), Disconnected>, Instant);

/// Lets a domain wait in vain: for a message of the lost domain, for one of a domain that itself waits, or for all.
fn wait(mut domain: Channels, culprit: usize, sender: &Sender<News>) {
    let rank = domain.rank();
    let reported = match rank % 3 {
        0 => domain.receive(culprit).map(drop),
        1 => domain.receive((rank + 1) % DOMAINS).map(drop),
        _ => domain.gather(Vec::new()).map(drop),
    };
    // If the test has failed, the receiver is gone.
    let _ = sender.send((rank, reported, Instant::now()));
}

/// One domain is lost in this way, before or after the others wait: all others soon receive the loss, with rank and reason.
fn lose_one(way: fn(Channels), why: &str) {
    for trial in 0..50 {
        let culprit = trial % DOMAINS;
        let (sender, reported) = channel();
        let mut lost = None;
        for domain in Channels::all(DOMAINS) {
            if domain.rank() == culprit {
                lost = Some(domain);
            } else {
                let sender = sender.clone();
                thread::spawn(move || wait(domain, culprit, &sender));
            }
        }
        let lost = lost.unwrap();
        let delay = Duration::from_millis(trial as u64 % 3);
        let end = thread::spawn(move || {
            thread::sleep(delay);
            way(lost);
        });
        // The panic of that thread is intended.
        let _ = end.join();
        let when = Instant::now();
        for _ in 1..DOMAINS {
            let (rank, reported, at) = reported.recv_timeout(SOON).expect("a domain waits on");
            let expected = Disconnected {
                rank: culprit,
                why: why.to_owned(),
            };
            assert_eq!(reported, Err(expected), "domain {rank} in trial {trial}");
            assert!(at.saturating_duration_since(when) < SOON, "domain {rank} in trial {trial}");
        }
    }
}

#[test]
fn a_domain_that_panics_frees_all_others() {
    lose_one(|_domain| panic!("meant"), "its thread panicked");
}

#[test]
fn a_domain_that_fails_reports_why() {
    lose_one(|mut domain| domain.fail("the disk is full"), "the disk is full");
}

#[test]
fn a_domain_that_leaves_early_is_lost() {
    lose_one(drop, "it ended before the others");
}

#[test]
fn after_a_loss_every_call_reports_it() {
    let mut domains = Channels::all(3);
    domains[0].send(2, vec![1]).unwrap();
    domains[1].fail("grain 7 is not finite");
    let mut last = domains.pop().unwrap();
    let lost = Disconnected {
        rank: 1,
        why: "grain 7 is not finite".to_owned(),
    };
    assert_eq!(last.send(0, Vec::new()), Err(lost.clone()));
    assert_eq!(last.receive(0), Err(lost.clone()));
    assert_eq!(last.gather(Vec::new()), Err(lost.clone()));
    assert_eq!(last.finish(), Err(lost.clone()));
    // A domain that ends as a consequence is not named as the cause.
    drop(last);
    assert_eq!(domains[0].receive(2), Err(lost.clone()));
    assert!(lost.to_string().contains("domain 1") && lost.to_string().contains("grain 7"));
}

#[test]
fn who_finishes_late_receives_no_loss() {
    for trial in 0..50 {
        run(move |domain| {
            let rank = domain.rank();
            // In each trial other domains are the last.
            thread::sleep(Duration::from_millis(((rank + trial) % DOMAINS / 3) as u64));
            domain.send((rank + 1) % DOMAINS, vec![rank as u8]).unwrap();
            domain.receive((rank + DOMAINS - 1) % DOMAINS).unwrap();
            domain.finish().unwrap();
        });
    }
}
