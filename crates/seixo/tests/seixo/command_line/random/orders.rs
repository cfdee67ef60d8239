//! Actions of stages in any order. A scene that passes the check must run to its end, and give the same result if it is interrupted after each
//! action.
//!
//! Each scene of `scenes/orders-*.toml` tests a feature. Comments list possible actions of stages, such as `# act remove wall.rod`, or for settings
//! `# act grains.bed = { fixed = true }`. Comments such as `# begin add bonds.cement` list actions of the first stage, unless a later stage adds the
//! object first.
//!
//! `SEIXO_ORDERS` is the number of random orders, with seeds from `SEIXO_FIRST_SCENE` on; `all` tests every pair, in two stages and in one.

use super::compared::compare_files;
use super::{load, number, run, watched};
use crate::command_line::faults::{FOLDER, results};
use crate::command_line::stage::Dice;
use seixo::Simulation;
use seixo::run::{NoObserver, Options, RunError, StageRunner, resume};
use std::path::Path;

/// The scenes, by feature.
const SCENES: [(&str, &str); 11] = [
    ("walls", include_str!("../scenes/orders-walls.toml")),
    ("held", include_str!("../scenes/orders-held.toml")),
    ("bonded", include_str!("../scenes/orders-bonded.toml")),
    ("hot", include_str!("../scenes/orders-hot.toml")),
    ("inlets", include_str!("../scenes/orders-inlets.toml")),
    ("periodic", include_str!("../scenes/orders-periodic.toml")),
    ("sheared", include_str!("../scenes/orders-sheared.toml")),
    ("compressible", include_str!("../scenes/orders-compressible.toml")),
    ("incompressible", include_str!("../scenes/orders-incompressible.toml")),
    ("muller", include_str!("../scenes/orders-muller.toml")),
    ("plane", include_str!("../scenes/orders-plane.toml")),
];

/// Default number of random orders.
const DRAWN: u64 = 22;

/// Steps at which a run is interrupted: after the first action, the second and a third, each at a frame; and the steps of the whole run.
const PARTS: [u64; 4] = [14, 28, 35, 49];

/// Steps after which the stages with actions begin.
const BEGIN: [f64; 3] = [9.5, 21.5, 31.5];

/// A scene, and the possible actions of its stages.
struct Feature {
    name: &'static str,
    text: &'static str,
    actions: Vec<&'static str>,
    begin: Vec<&'static str>,
    /// Time step \[s\].
    step: f64,
}

/// Actions of each stage.
type Order = Vec<Vec<&'static str>>;

impl Feature {
    fn of((name, text): (&'static str, &'static str)) -> Feature {
        let listed = |word: &str| text.lines().filter_map(|line| line.strip_prefix(word)).collect();
        let step = text
            .lines()
            .find_map(|line| line.strip_prefix("time_step = \"")?.strip_suffix(" us\""));
        Feature {
            name,
            text,
            actions: listed("# act "),
            begin: listed("# begin "),
            step: 1e-6 * step.unwrap().parse::<f64>().unwrap(),
        }
    }

    /// Returns the scene with these actions; `None` if a stage would set an object twice.
    fn with(&self, order: &Order) -> Option<String> {
        let all = || order.iter().flatten();
        let is_added = |begun: &&&str| {
            let thing = begun.strip_prefix("add ");
            let named =
                all().find_map(|act| Some((act.starts_with("add "), act.split_once(' ')?.1)).filter(|(_, other)| thing == Some(*other)));
            matches!(named, Some((true, _)))
        };
        let begin: Vec<&'static str> = self.begin.iter().filter(|begun| !is_added(begun)).copied().collect();
        let mut text = format!("{}\n", self.text);
        for (number, actions) in std::iter::once(&begin).chain(order).enumerate() {
            let ends = (number < order.len()).then(|| BEGIN[number] * self.step);
            text += &self.stage(number, actions, ends)?;
        }
        Some(text)
    }

    /// Returns a stage with these actions that ends at this time \[s\].
    fn stage(&self, number: usize, actions: &[&str], ends: Option<f64>) -> Option<String> {
        let mut text = format!("[[stage]]\nname = \"s{number}\"\n");
        if let Some(time) = ends {
            text += &format!("until = \"time > {time:e} s\"\nevery = {:e}\n", self.step);
        }
        for verb in ["add", "remove", "melt"] {
            let things = actions.iter().filter_map(|act| act.strip_prefix(verb)?.strip_prefix(' '));
            let things: Vec<String> = things.map(|thing| format!("\"{thing}\"")).collect();
            if !things.is_empty() {
                text += &format!("{verb} = [{}]\n", things.join(", "));
            }
        }
        let mut set = Vec::new();
        for (thing, value) in actions.iter().filter_map(|act| act.split_once(" = ")) {
            if set.contains(&thing) {
                return None;
            }
            set.push(thing);
            text += &format!("set.{thing} = {value}\n");
        }
        Some(text)
    }

    /// Returns every pair of actions, in two stages and in one.
    fn pairs(&self) -> Vec<Order> {
        let actions = || self.actions.iter().copied().enumerate();
        let pairs = actions().flat_map(|(k, a)| actions().map(move |(l, b)| (k < l, a, b)));
        pairs
            .flat_map(|(is_first, a, b)| {
                let in_one = is_first.then(|| vec![vec![a, b]]);
                std::iter::once(vec![vec![a], vec![b]]).chain(in_one)
            })
            .collect()
    }

    /// Returns two or three actions in as many stages, or two in one.
    fn drawn(&self, dice: &mut Dice) -> Order {
        let mut act = || self.actions[dice.below(self.actions.len() as u64) as usize];
        let (a, b, c) = (act(), act(), act());
        match dice.below(4) {
            0 => vec![vec![a, b]],
            1 => vec![vec![a], vec![b], vec![c]],
            _ => vec![vec![a], vec![b]],
        }
    }
}

/// Returns whether a scene passes the checks of `seixo check`; an error if it then fails to run or to resume.
fn tried(text: &str, step: f64) -> Result<bool, String> {
    let Ok(scene) = load(text, &[]) else { return Ok(false) };
    let Ok(mut simulation) = Simulation::new(scene.world.clone(), scene.settings.clone()) else {
        return Ok(false);
    };
    if StageRunner::new(&scene.plan, simulation.time_step().value)
        .happen(&mut simulation)
        .is_err()
    {
        return Ok(false);
    }
    let of = |way: &'static str| move |error: RunError| format!("{way}: {error}");
    let one = ("run.threads", "1");
    let whole = run(text, &[one], None).map_err(of("it was found right, and then"))?;
    let [first, later @ ..] = PARTS.map(|steps| format!("{:e}", steps as f64 * step));
    let parts = run(text, &[one, ("run.until", first.as_str())], None).map_err(of("its first part"))?;
    for until in later {
        let mut no_one = NoObserver;
        let options = Options {
            layer: &parts,
            ..Options::new(&mut no_one)
        };
        resume(Path::new(FOLDER), &[("run.until".to_owned(), until)], options).map_err(of("resumed"))?;
    }
    compare_files("resumed", &results(&parts), &results(&whole), 0.0)?;
    Ok(true)
}

#[test]
fn acts_of_stages_that_are_found_right_run_in_every_order_and_go_on_to_the_bit() {
    let features = SCENES.map(Feature::of);
    let asked = std::env::var("SEIXO_ORDERS").ok();
    let orders: Vec<(usize, Order)> = if asked.as_deref() == Some("all") {
        let of_feature = |(at, feature): (usize, &Feature)| feature.pairs().into_iter().map(move |order| (at, order)).collect::<Vec<_>>();
        features.iter().enumerate().flat_map(of_feature).collect()
    } else {
        let mut dice = Dice(number("SEIXO_FIRST_SCENE").unwrap_or(1));
        let count = asked.map_or(DRAWN, |count| count.parse().unwrap());
        let at = |k: u64| (k % features.len() as u64) as usize;
        (0..count).map(|k| (at(k), features[at(k)].drawn(&mut dice))).collect()
    };
    let (mut ran, mut refused, mut faults) = (0, 0, Vec::new());
    for (at, order) in orders {
        let Feature { name, step, .. } = features[at];
        let Some(text) = features[at].with(&order) else { continue };
        match watched(move || tried(&text, step)).and_then(|became| became) {
            Ok(true) => ran += 1,
            Ok(false) => refused += 1,
            Err(fault) => faults.push(format!("{name}, {order:?}: {fault}")),
        }
    }
    println!("{ran} ran, {refused} were refused");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(2 * ran > refused, "too few run: {ran}, and {refused} are refused");
}
