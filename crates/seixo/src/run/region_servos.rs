//! Servos of walls that reach and keep the stress of a region: each line of a probe corrects the targets of its walls.

use super::Event;
use super::schedule::Schedule;
use seixo_engine::state::{Column, Sections, State};
use seixo_engine::world::WallMotion;
use seixo_engine::{ServoStatus, Simulation, WorldError};
use seixo_scene::{RegionServo, Stage, StageAction, StageItem};

/// Time of the correction in units of the time between two lines and the time over which a line is a mean. In the mean a line is late by half of both. An
/// integral does not swing while it is late by up to 1/e of its time, see `docs/theory/servos.md`; here it is a quarter.
const DELAYS: f64 = 2.0;

/// Time of the correction in units of the integral time of the servo, of which a wall on a sample n times softer than the contacts at it needs n/200. A
/// sample 20 times softer has the damping ratio ½, and none swings without end.
const INTEGRAL_TIMES: f64 = 0.1;

/// Share of the target load up to which a servo has reached it, as in its own law: beyond, the correction does not grow.
const REACHED: f64 = 0.25;

/// Limits of the correction: the wall pushes between half of the stress and twice the stress.
const LIMITS: [f64; 2] = [-0.5, 1.0];

const STEPS: &str = "course/region_servo_lines";
const VALUES: &str = "course/region_servos";

/// The servos of a plan with the stress of a region.
pub(super) struct RegionServos {
    servos: Vec<Correction>,
    time_step: f64,
}

/// The correction of the target of one servo.
struct Correction {
    servo: RegionServo,
    /// Schedule of the lines of the probe.
    lines: Schedule,
    /// Stress that is asked for \[Pa\]; `None` while the wall has another motion.
    asked: Option<f64>,
    is_there: bool,
    /// By which share of the stress the wall pushes more, q.
    share: f64,
    /// Step and stress \[Pa\] of the last line, until the next step.
    line: Option<(u64, f64)>,
    /// Whether the servo has another target than it should.
    is_due: bool,
    is_reported: bool,
}

impl RegionServos {
    /// The servos at the start.
    pub fn new(servos: &[RegionServo], absent: &[StageItem], time_step: f64) -> RegionServos {
        let is_absent = |wall: usize| {
            absent
                .iter()
                .any(|thing| matches!(thing, StageItem::Walls(walls) if walls.contains(&wall)))
        };
        let correction = |servo: &RegionServo| Correction {
            lines: Schedule::new(servo.every, time_step),
            asked: Some(servo.stress),
            is_there: !is_absent(servo.wall),
            share: 0.0,
            line: None,
            is_due: false,
            is_reported: false,
            servo: servo.clone(),
        };
        RegionServos {
            servos: servos.iter().map(correction).collect(),
            time_step,
        }
    }

    /// Takes a line of a probe, its time \[s\] first. It acts one step later: a GPU takes the next step while the line is measured.
    pub fn take(&mut self, probe: usize, row: &[f64]) {
        for one in self.servos.iter_mut().filter(|one| one.servo.measured.probe == probe) {
            let step = (row[0] / self.time_step).round() as u64;
            one.line = row.get(one.servo.measured.column + 1).map(|&stress| (step, stress));
        }
    }

    /// Follows a stage that begins: it may give walls other targets or motions, remove or add them.
    pub fn enter(&mut self, stage: &Stage) {
        for action in &stage.actions {
            match action {
                StageAction::Motion(walls, motion) => self.of(|wall| walls.contains(&wall)).for_each(|one| one.ask(motion)),
                StageAction::Add(StageItem::Walls(walls)) => self.of(|wall| walls.contains(&wall)).for_each(|one| one.is_there = true),
                StageAction::Remove(StageItem::Walls(walls)) => self.of(|wall| walls.contains(&wall)).for_each(|one| one.is_there = false),
                _ => {}
            }
        }
    }

    fn of(&mut self, is_wall: impl Fn(usize) -> bool) -> impl Iterator<Item = &mut Correction> {
        self.servos.iter_mut().filter(move |one| is_wall(one.servo.wall))
    }

    /// Returns the first step after this one at which a line acts.
    pub fn next_step_after(&self, step: u64) -> u64 {
        let next = self.servos.iter().filter(|one| one.asked.is_some()).map(|one| {
            let line = step.checked_sub(1).map_or(0, |before| one.lines.step_after(before));
            let late = one.line.map_or(u64::MAX, |(line, _)| line.saturating_add(1).max(step + 1));
            line.saturating_add(1).min(late)
        });
        next.min().unwrap_or(u64::MAX)
    }

    /// Sets the targets that are due, and returns notices of corrections that came to their limit.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn act(&mut self, simulation: &mut Simulation) -> Result<Vec<Event>, WorldError> {
        let (time, steps) = (simulation.time(), simulation.steps());
        let mut reported = Vec::new();
        for one in &mut self.servos {
            if let Some((_, stress)) = one.line.filter(|&(line, _)| line < steps) {
                one.line = None;
                if let Some(status) = simulation.servo_status(one.servo.wall) {
                    one.correct(stress, &status, self.time_step);
                }
            }
            let Some(asked) = one.asked.filter(|_| std::mem::take(&mut one.is_due)) else {
                continue;
            };
            simulation.set_servo_target(one.servo.wall, asked * (1.0 + one.share) * one.servo.target_per_stress)?;
            if LIMITS.contains(&one.share) && !one.is_reported {
                one.is_reported = true;
                let text = format!(
                    "the servo of wall {} pushes with {} times the {asked} Pa that the region of probe {} is to bear, and goes no further; check the \
                     region and the friction of the other walls",
                    one.servo.name,
                    1.0 + one.share,
                    one.servo.probe
                );
                reported.push(Event::Notice { text, time, steps });
            }
        }
        Ok(reported)
    }

    /// Adds the corrections to a checkpoint.
    pub fn save(&self, to: &mut dyn Sections) {
        if self.servos.is_empty() {
            return;
        }
        let lines = self.servos.iter().map(|one| one.line.map_or(0, |(step, _)| step + 1));
        to.put(STEPS, Column::U64(lines.collect()));
        let values = self
            .servos
            .iter()
            .flat_map(|one| [one.share, one.line.map_or(0.0, |(_, stress)| stress)]);
        to.put(VALUES, Column::F64(values.collect()));
    }

    /// Restores the corrections from a checkpoint, if they are there, after all stages so far were entered. The servos have their targets already.
    pub fn restore(&mut self, state: &State) {
        self.servos.iter_mut().for_each(|one| one.is_due = false);
        let (Some(Column::U64(steps)), Some(Column::F64(values))) = (state.get(STEPS), state.get(VALUES)) else {
            return;
        };
        for ((one, &step), values) in self.servos.iter_mut().zip(steps).zip(values.as_chunks::<2>().0) {
            let [share, stress] = *values;
            one.share = share;
            one.line = step.checked_sub(1).map(|step| (step, stress));
        }
    }
}

impl Correction {
    /// Takes the stress that a new motion of the wall asks for, if it has a servo. What the wall must push more is a share of the stress, so it remains.
    fn ask(&mut self, motion: &WallMotion) {
        let target = motion.servo.map(|servo| servo.target.value());
        self.asked = target.map(|target| target / self.servo.target_per_stress);
        (self.is_due, self.line) = (self.asked.is_some(), None);
    }

    /// Integrates the share of the stress that is missing in the region: dq/dt = (1 − σ/σ_asked)/T.
    fn correct(&mut self, stress: f64, status: &ServoStatus, time_step: f64) {
        let Some(asked) = self.asked.filter(|_| self.is_there) else {
            return;
        };
        let missing = 1.0 - stress / asked;
        let every = self.servo.every.max(time_step);
        let late = DELAYS * (every + self.servo.window);
        let slow = INTEGRAL_TIMES * status.integral_time;
        // Without grains the servo has no integral part.
        let time = if slow.is_finite() { late + slow } else { late };
        // Not a number, as of a region whose carrier left, corrects nothing.
        let is_reached = status.missing.abs() <= REACHED && missing.is_finite();
        if is_reached || missing * self.share < 0.0 {
            let [least, most] = LIMITS;
            let corrected = (self.share + missing * every / time).clamp(least, most);
            // Until the wall bears its load, the correction may shrink, but not turn.
            let turns = corrected * self.share < 0.0;
            self.share = if turns && !is_reached { 0.0 } else { corrected };
            self.is_due = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_engine::world::{Servo, ServoTarget};
    use seixo_scene::ProbeColumn;

    /// Asked stress \[Pa\].
    const ASKED: f64 = 1e5;

    fn servo(every: f64, window: f64) -> RegionServo {
        RegionServo {
            wall: 2,
            name: "right".to_owned(),
            measured: ProbeColumn { probe: 1, column: 3 },
            probe: "core".to_owned(),
            stress: ASKED,
            target_per_stress: 1.0,
            every,
            window,
        }
    }

    fn of_one(every: f64, window: f64) -> RegionServos {
        RegionServos::new(&[servo(every, window)], &[], 1e-6)
    }

    /// Stresses of a region \[Pa\] over the lines, which bears this share of what a wall bears. The wall moves by the law of servos with the integral time
    /// 1 s and the gain of the theory, on a sample that is `softer` times softer than the contacts. A line is a mean over some lines.
    fn stresses(share: f64, softer: f64, every: f64, mean_of: usize, time: f64) -> Vec<f64> {
        let window = if mean_of > 1 { mean_of as f64 * every } else { 0.0 };
        let mut one = of_one(every, window).servos.swap_remove(0);
        // In units of the asked stress: dF/dt = k (e + I), dI/dt = e/T, with k = 200/(softer T).
        let (rate, parts) = (200.0 / softer, 200);
        let (mut load, mut integral, mut lines) = (1.0, 0.0, Vec::new());
        let mut found = Vec::new();
        for _ in 0..(time / every) as usize {
            let dt = every / f64::from(parts);
            let mut mean = 0.0;
            for _ in 0..parts {
                let missing = 1.0 + one.share - load;
                integral += missing * dt;
                load += rate * (missing + integral) * dt;
                mean += load / f64::from(parts);
            }
            lines.push(if mean_of > 1 { mean } else { load });
            let last = &lines[lines.len().saturating_sub(mean_of)..];
            let stress = ASKED * share * last.iter().sum::<f64>() / last.len() as f64;
            let status = ServoStatus {
                missing: 1.0 + one.share - load,
                integral_time: 1.0,
            };
            one.correct(stress, &status, 1e-6);
            found.push(stress / ASKED);
        }
        found
    }

    #[test]
    fn a_region_that_bears_less_than_the_wall_reaches_the_asked_stress() {
        // Lines that are frequent or rare compared to the servo, single or means, on stiff and on soft samples.
        for softer in [1.0, 5.0, 20.0, 50.0] {
            for every in [0.002, 0.02, 0.5] {
                for mean_of in [1, 5] {
                    for share in [0.8, 1.1] {
                        let time = if every < 0.1 { 12.0 } else { 60.0 };
                        let found = stresses(share, softer, every, mean_of, time);
                        let last = found.last().unwrap();
                        assert!((last - 1.0).abs() < 1e-3, "{softer} {every} {mean_of} {share}: {last}");
                        let most = found.iter().fold(0.0f64, |most, stress| most.max(*stress));
                        // It never goes beyond by more than the larger of where it began and 40 % of that on the other side.
                        let highest = share.max(1.0 + 0.4 * (1.0 - share)) + 1e-3;
                        assert!(most < highest, "{softer} {every} {mean_of} {share}: {most}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_wall_that_has_not_reached_its_load_is_not_corrected() {
        let mut one = of_one(1e-3, 0.0).servos.swap_remove(0);
        let status = |missing: f64| ServoStatus {
            missing,
            integral_time: 0.02,
        };
        one.correct(0.0, &status(1.0), 1e-6);
        one.correct(f64::NAN, &status(0.0), 1e-6);
        one.correct(0.9 * ASKED, &status(f64::NAN), 1e-6);
        assert!(one.share == 0.0 && !one.is_due);
        one.correct(0.9 * ASKED, &status(0.1), 1e-6);
        // A tenth is missing, and 1 ms is a quarter of 2 · 1 ms + 0.1 · 20 ms.
        assert!((one.share - 0.025).abs() < 1e-15 && one.is_due, "{}", one.share);
        // What is too much may shrink at any time.
        one.correct(1.1 * ASKED, &status(0.9), 1e-6);
        assert!(one.share.abs() < 1e-15, "{}", one.share);
        // A region that bears ten times too much for a moment, as at a blow, does not turn the correction.
        one.share = 0.025;
        one.correct(10.0 * ASKED, &status(0.9), 1e-6);
        assert_eq!(one.share, 0.0);
        // However little the region bears, there is a limit.
        (0..100).for_each(|_| one.correct(0.0, &status(0.0), 1e-6));
        assert_eq!(one.share, 1.0);
    }

    #[test]
    fn lines_act_a_step_later_and_are_in_checkpoints() {
        let mut servos = of_one(1e-3, 0.0);
        let steps = [0, 1, 500, 999, 1000, 1001].map(|step| servos.next_step_after(step));
        assert_eq!(steps, [1, 1001, 1001, 1001, 1001, 2001]);
        let row = [2e-3, 0.0, 0.0, 0.0, 9e4];
        servos.take(0, &row);
        assert_eq!(servos.servos[0].line, None);
        servos.take(1, &row);
        assert_eq!(servos.servos[0].line, Some((2000, 9e4)));
        // Also if the lines have another interval since the run was resumed.
        assert_eq!(servos.next_step_after(2000), 2001);
        servos.servos[0].share = 0.1;
        let mut state = State::default();
        servos.save(&mut state);
        let mut again = of_one(1e-3, 0.0);
        again.servos[0].is_due = true;
        again.restore(&state);
        let one = &again.servos[0];
        assert_eq!((one.line, one.share, one.is_due), (Some((2000, 9e4)), 0.1, false));
    }

    #[test]
    fn stages_ask_for_another_stress_or_end_the_servo() {
        let stage = |motion: WallMotion| Stage {
            name: "next".to_owned(),
            until: None,
            every: 1e-3,
            hold: 0.0,
            actions: vec![StageAction::Motion(2..3, Box::new(motion))],
            text: String::new(),
        };
        let mut servos = of_one(1e-3, 0.0);
        servos.servos[0].share = 0.1;
        let with_servo = WallMotion {
            servo: Some(Servo {
                target: ServoTarget::Force(2e5),
                ..Servo::default()
            }),
            ..WallMotion::default()
        };
        servos.enter(&stage(with_servo));
        let one = &servos.servos[0];
        assert_eq!((one.asked, one.share, one.is_due), (Some(2e5), 0.1, true));
        servos.enter(&stage(WallMotion::default()));
        let one = &servos.servos[0];
        assert_eq!((one.asked, one.is_due), (None, false));
    }
}
