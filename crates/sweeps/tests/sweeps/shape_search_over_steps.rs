//! Features that a pair of polyhedral grains keeps over steps on a CPU change none of its contacts.

use crate::shape_pairs::{at_rest, posed, rotation};
use crate::shape_search_on_gpu::{Pairs, Path, SLOW, Solid, in_precision};
use seixo_laws::{Coordinate, Real, Vector3};
use seixo_sweeps::near_features::NearFeatures;
use seixo_sweeps::shape_pairs::{ShapePair, VERTEX_OF_I, key_of};
use seixo_sweeps::shape_search::find_contacts_over_steps;

/// More slots than any pair here has contacts.
const SLOTS: usize = 128;

/// How often a pair in contact was looked at with the features of an earlier step, and how often they were looked for, after the first step.
#[derive(Debug, Default)]
struct Looked {
    kept: usize,
    searched: usize,
}

/// Asserts that the contacts of a pair, and its direction if it has any, have the bits that it has without features of an earlier step. Returns whether it
/// has any.
#[track_caller]
fn has_contacts_of_a_search<C: Coordinate<R>, R: Real>(
    pair: &mut ShapePair<C, R>,
    words: &[u32],
    numbers: &[C],
    near: &mut NearFeatures<C>,
    what: &str,
) -> bool {
    let (since, features) = (near.since, near.keys().to_vec());
    near.begin(since, &features);
    let (mut keys, mut all_keys) = ([7; SLOTS + 1], [7; SLOTS + 1]);
    let searched = find_contacts_over_steps::<C, R>(pair, words, numbers, 0, SLOTS as u32, &mut all_keys, &mut NearFeatures::none());
    let found = find_contacts_over_steps::<C, R>(pair, words, numbers, 0, SLOTS as u32, &mut keys, near);
    let contacts = searched.contacts as usize;
    assert!(contacts < SLOTS && all_keys[contacts] == 0, "{what}: {contacts}");
    assert_eq!(
        (found.contacts, &keys[..=contacts]),
        (searched.contacts, &all_keys[..=contacts]),
        "{what}"
    );
    assert!(contacts == 0 || found.direction == searched.direction, "{what}");
    pair.direction = found.direction;
    contacts > 0
}

/// Compares searches with each other along a path.
fn compared<C: Coordinate<R>, R: Real>(
    pairs: &Pairs,
    path: &Path,
    place: impl Fn(f64) -> C + Copy,
    number: impl Fn(f64) -> R + Copy,
) -> Looked {
    let numbers: Vec<C> = pairs.numbers.iter().map(|&number| place(number)).collect();
    let mut looked = Looked::default();
    for (k, pair) in pairs.all.iter().enumerate() {
        let mut near = NearFeatures::none();
        let mut direction = None;
        for step in 0..path.steps {
            let mut now = in_precision::<C, R>(&path.at(step, k, pair), place, number);
            now.direction = direction.unwrap_or(now.direction);
            let what = format!("pair {k}, step {step}");
            let touches = has_contacts_of_a_search(&mut now, &pairs.words, &numbers, &mut near, &what);
            direction = Some(now.direction);
            if touches && step > 0 {
                looked.kept += usize::from(!near.are_new);
                looked.searched += usize::from(near.are_new);
            }
        }
    }
    looked
}

#[test]
fn most_steps_of_pairs_that_hardly_move_look_at_kept_features_alone() {
    let pairs = Pairs::varied();
    for looked in [
        compared::<f64, f64>(&pairs, &SLOW, |x| x, |x| x),
        compared::<f32, f32>(&pairs, &SLOW, |x| x as f32, |x| x as f32),
    ] {
        assert!(looked.kept > 2 * looked.searched && looked.searched > 100, "{looked:?}");
    }
}

#[test]
fn long_grains_that_rotate_alone_look_for_features_again() {
    // Their ends move by 0.01 m a step, while their centers rest.
    let turning = Path {
        steps: 16,
        shift: 0.0,
        turns: [0.01, 0.0],
    };
    let rods = Pairs::of(&[Solid::rod([0.9, 0.04, 0.05])], 120, 0.02);
    let looked = compared::<f64, f64>(&rods, &turning, |x| x, |x| x);
    assert!(looked.kept > looked.searched && looked.searched > 20, "{looked:?}");
}

#[test]
fn pairs_that_move_by_more_than_the_margin_are_searched() {
    // Centers shift by 0.04 m a step.
    let fast = Path {
        steps: 4,
        shift: 0.04,
        turns: [0.02, 0.0],
    };
    let looked = compared::<f64, f64>(&Pairs::varied(), &fast, |x| x, |x| x);
    assert!(looked.kept == 0 && looked.searched > 100, "{looked:?}");
}

#[test]
fn a_pair_with_more_near_features_than_it_can_keep_is_searched() {
    // Two prisms end on end: each edge is near some of the other prism. The lower corners of i are right above the upper ones of j. Other features in reach
    // touch at their ends there, and do not count.
    let sides = 30;
    let prisms = Pairs::of(&[Solid::prism(sides)], 0, 0.02);
    let upright = posed(0, 1.0, rotation(Vector3::zero()));
    let corners: Vec<u32> = (sides..2 * sides).map(|corner| key_of(VERTEX_OF_I, corner, 0)).collect();
    let mut near = NearFeatures::<f64>::none();
    for depth in [0.07, 0.08] {
        // The rounding radii are 0.06 m.
        let apart = Vector3 {
            x: 0.0,
            y: 0.0,
            z: 1.12 - depth,
        };
        let pair = at_rest(apart, upright, upright);
        let mut keys = [7; SLOTS];
        near.begin(None, &[]);
        let found = find_contacts_over_steps::<f64, f64>(&pair, &prisms.words, &prisms.numbers, 0, SLOTS as u32, &mut keys, &mut near);
        let contacts = found.contacts as usize;
        assert_eq!((&keys[..contacts], keys[contacts]), (&corners[..], 0));
        assert!(near.are_new && near.since.is_none() && near.keys().is_empty());
    }
}
