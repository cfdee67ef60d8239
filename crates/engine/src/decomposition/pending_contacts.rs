//! Contact histories of grains that subdomains on GPUs own: they are downloaded while the run waits, and merged beside it.

use super::Subdomains;
use crate::exchange::HaltReason;
use crate::fields::{PART, computed, one_each, parts};
use crate::gpu::{PairHistories, PendingHistories};
use crate::local_domain::put_pairs;
use crate::state::Sections;
use seixo_device::{Cpu, Ranges, Strided, stable_order_by_key};

/// Downloaded contact histories of a subdomain.
pub(crate) struct PendingContacts {
    histories: PendingHistories,
    /// Index of each of its grains, ghosts included, among the grains of all subdomains.
    grains: Vec<u32>,
}

impl Subdomains {
    /// Downloads the contact histories of all subdomains, which are on GPUs of this process, at the same time; `index_of` finds grains by their ids.
    pub(crate) fn download_contacts(&mut self, index_of: impl Fn(u32) -> u32 + Sync) -> Result<Vec<PendingContacts>, HaltReason> {
        self.each(|domain| {
            let histories = domain.local.with_gpu_backend(|remote, _| remote.contact_histories())?;
            let populations = &domain.local.populations;
            let (device, id) = (&populations.context.device, &populations.grains.fields.id);
            let grains = computed(device, id.len(), |k| index_of(id[k]));
            Ok(PendingContacts { histories, grains })
        })
    }
}

/// A pair in contact, as the owner of one of the two grains reports it.
#[derive(Clone, Copy)]
struct ReportedPair {
    /// The smaller of the indices of the two grains.
    lower: u32,
    higher: u32,
    /// Whether the subdomain reports the grain with the smaller index first. If the other grain is a ghost there, it owns the first.
    is_lower_first: bool,
    domain: u32,
    /// Index among the histories of this subdomain.
    at: u32,
}

impl ReportedPair {
    fn pair(&self) -> [u32; 2] {
        [self.lower, self.higher]
    }

    /// The history of the grain with the smaller index, or with the larger one.
    fn history<'a>(&self, all: &'a [PairHistories], of_lower: bool) -> &'a [f64] {
        let [of_first, of_second] = all[self.domain as usize].of(self.at as usize);
        if self.is_lower_first == of_lower { of_first } else { of_second }
    }
}

/// Puts the contacts of all subdomains, each once, in the order of the indices of their grains, which have these ids: so many numbers of the history of
/// the first and of the second grain, if any. Of a contact across a border, each grain has the history that its own subdomain reports.
pub(crate) fn put_contacts_of_domains(
    contacts: Vec<PendingContacts>,
    id: &[u32],
    device: &Cpu,
    [first, second]: [usize; 2],
    to: &mut dyn Sections,
) {
    let (mut reported, mut all): (Vec<ReportedPair>, Vec<PairHistories>) = (Vec::new(), Vec::new());
    for (domain, PendingContacts { histories, grains }) in (0..).zip(contacts) {
        let made = histories(device);
        reported.extend(computed(device, made.pairs.len(), |at| {
            let [one, other] = made.pairs[at].map(|i| grains[i as usize]);
            ReportedPair {
                lower: one.min(other),
                higher: one.max(other),
                is_lower_first: one < other,
                domain,
                at: at as u32,
            }
        }));
        all.push(made);
    }
    // Pairs are divided by their first grains, so that threads can sort them.
    let part = computed(device, reported.len(), |k| reported[k].lower / PART as u32);
    let (mut order, mut bounds) = (Vec::new(), Vec::new());
    stable_order_by_key(&part, parts(id.len()), &mut order, &mut bounds);
    // The report of the first grain of each pair, and that of the second.
    let mut found: Vec<Vec<[u32; 2]>> = vec![Vec::new(); parts(id.len())];
    let of_parts = Ranges {
        items: &mut order[..],
        bounds: &bounds,
        stride: 1,
    };
    let data = (of_parts, one_each(&mut found));
    device.run(
        parts(id.len()),
        data,
        |_, (of_part, found): (Ranges<u32>, Strided<Vec<[u32; 2]>>)| {
            // Of two reports, that of the owner of the grain with the smaller index is first.
            of_part.items.sort_unstable_by_key(|&k| {
                let one = &reported[k as usize];
                (one.pair(), !one.is_lower_first)
            });
            let pair = |k: u32| reported[k as usize].pair();
            for of_pair in of_part.items.chunk_by(|&one, &other| pair(one) == pair(other)) {
                found.items[0].push([of_pair[0], of_pair[of_pair.len().min(2) - 1]]);
            }
        },
    );
    let reports = found.concat();
    let report = |pair: usize, of_second: usize| &reported[reports[pair][of_second] as usize];
    let pair = computed(device, 2 * reports.len(), |k| id[report(k / 2, 0).pair()[k % 2] as usize]);
    let of_first = computed(device, first * reports.len(), |k| {
        report(k / first, 0).history(&all, true)[k % first]
    });
    let of_second = computed(device, second * reports.len(), |k| {
        report(k / second, 1).history(&all, false)[k % second]
    });
    put_pairs(pair, [of_first, of_second], second > 0, to);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Column, State};

    /// Contacts of a subdomain with these grains: pairs of indices there, with a number for each of the two histories.
    fn downloaded(grains: &[u32], pairs: Vec<(u32, u32, f64, f64)>) -> PendingContacts {
        let histories = PairHistories {
            pairs: pairs.iter().map(|&(i, j, ..)| [i, j]).collect(),
            numbers: 2,
            of_first: pairs.iter().flat_map(|&(_, _, of_i, _)| [of_i; 2]).collect(),
            of_second: pairs.iter().flat_map(|&(.., of_j)| [of_j; 2]).collect(),
        };
        PendingContacts {
            histories: Box::new(move |_: &Cpu| histories),
            grains: grains.to_vec(),
        }
    }

    #[test]
    fn contacts_of_all_domains_stand_once_in_the_order_of_all_grains() {
        // The first subdomain owns grains 0, 3 and 1, the second 2 and 4; the last grains of both are ghosts.
        for threads in [1, 3] {
            let here = downloaded(&[0, 3, 1, 2], vec![(0, 1, 3.0, 30.0), (2, 1, 13.0, 31.0), (1, 3, 32.0, -32.0)]);
            let there = downloaded(&[4, 2, 3, 0], vec![(0, 1, 42.0, 24.0), (1, 2, 23.0, -23.0), (0, 3, 40.0, -40.0)]);
            let mut state = State::default();
            let (id, device) = ([10, 11, 12, 13, 14], Cpu::new(threads).unwrap());
            put_contacts_of_domains(vec![here, there], &id, &device, [2, 1], &mut state);
            let pairs = vec![10, 13, 10, 14, 11, 13, 12, 13, 12, 14];
            assert_eq!(state.get("contacts/pair"), Some(&Column::U32(pairs)));
            let of_first = [3.0, -40.0, 13.0, 23.0, 24.0].into_iter().flat_map(|x| [x, x]).collect();
            assert_eq!(state.get("contacts/history"), Some(&Column::F64(of_first)));
            let of_second = vec![30.0, 40.0, 31.0, 32.0, 42.0];
            assert_eq!(state.get("contacts/of_second"), Some(&Column::F64(of_second)));
        }
    }

    #[test]
    fn many_contacts_are_in_the_same_order_on_any_number_of_threads() {
        // A ring of grains, of which two subdomains own every other. The others are ghosts behind the own ones.
        let n = 3 * PART as u32;
        let of_domain = |first: u32| {
            let grains: Vec<u32> = (first..n).step_by(2).chain((1 - first..n).step_by(2)).collect();
            let place = |grain: u32| grain / 2 + if grain % 2 == first { 0 } else { n / 2 };
            let pair = |own: u32, other: u32| (place(own), place(other), f64::from(own), -1.0);
            let pairs = (first..n)
                .step_by(2)
                .flat_map(|own| [pair(own, (own + 1) % n), pair(own, (own + n - 1) % n)]);
            downloaded(&grains, pairs.collect())
        };
        let id: Vec<u32> = (0..n).collect();
        let on = |threads: usize| {
            let mut state = State::default();
            put_contacts_of_domains(
                vec![of_domain(0), of_domain(1)],
                &id,
                &Cpu::new(threads).unwrap(),
                [1, 1],
                &mut state,
            );
            state
        };
        let (alone, together) = (on(1), on(4));
        assert!(alone == together);
        let Some(Column::U32(pairs)) = alone.get("contacts/pair") else {
            panic!("there are contacts")
        };
        let (pairs, _) = pairs.as_chunks::<2>();
        assert!(pairs.len() == n as usize && pairs.is_sorted());
        for (name, k) in [("contacts/history", 0), ("contacts/of_second", 1)] {
            let of_owners = pairs.iter().map(|pair| f64::from(pair[k])).collect();
            assert!(alone.get(name) == Some(&Column::F64(of_owners)), "{name}");
        }
    }
}
