//! Lasting changes of the surroundings by a user, with their steps, for a checkpoint.

use seixo_engine::SurroundingsChange;
use seixo_engine::state::{Column, Sections, State};
use seixo_engine::world::{Extent, Load, Servo, ServoTarget, SurfaceMotion, Vec3, WallMotion};

/// Sections of a checkpoint: step, then kind and index, then all numbers of each change.
const STEPS: &str = "course/user_steps";
const CHANGES: &str = "course/user_changes";
const NUMBERS: &str = "course/user_numbers";
/// Sections of earlier versions, in which only gravity could change \[m/s²\].
const GRAVITY_ONLY: [&str; 2] = ["course/by_hand", "course/gravity_by_hand"];

/// Kinds of changes in a checkpoint.
const GRAVITY: u32 = 0;
const MOTION: u32 = 1;
const PRESENCE: u32 = 2;
const LOAD: u32 = 3;
const HOLD: u32 = 4;
const FREE: u32 = 5;

/// Number of values of a motion: velocity, angular velocity and point of the axis of the wall and of its surface, then the servo.
const OF_MOTION: usize = 18 + OF_SERVO;
/// Number of values of a servo: kind and value of its target, direction, two extents, speed limit, gain, integral time.
const OF_SERVO: usize = 14;

/// Changes by a user that count: most replace an earlier one of the same thing.
#[derive(Default)]
pub(super) struct UserRecord {
    /// Ascending steps.
    changes: Vec<(u64, SurroundingsChange)>,
}

impl UserRecord {
    /// Adds a change at this step, in place of earlier ones of the same thing if it replaces them. Inlets and the control of a cell are not changed by
    /// users.
    pub fn add(&mut self, step: u64, change: SurroundingsChange, replaces: bool) {
        let Some(key) = key_of(&change) else { return };
        if replaces {
            self.changes.retain(|(_, earlier)| key_of(earlier) != Some(key));
        }
        self.changes.push((step, change));
    }

    /// Returns the changes, with their steps.
    pub fn changes(&self) -> &[(u64, SurroundingsChange)] {
        &self.changes
    }

    /// Returns the groups of grains that are held, free or loaded by a change.
    pub fn groups(&self) -> impl Iterator<Item = u32> {
        let keys = self.changes.iter().filter_map(|(_, change)| key_of(change));
        keys.filter(|(kind, _)| [LOAD, HOLD, FREE].contains(kind)).map(|(_, group)| group)
    }

    /// Adds the changes to a checkpoint, if there are any.
    pub fn save(&self, to: &mut dyn Sections) {
        if self.changes.is_empty() {
            return;
        }
        let keys = self.changes.iter().filter_map(|(_, change)| key_of(change));
        to.put(STEPS, Column::U64(self.changes.iter().map(|(step, _)| *step).collect()));
        to.put(CHANGES, Column::U32(keys.flat_map(|(kind, index)| [kind, index]).collect()));
        let numbers = self.changes.iter().flat_map(|(_, change)| numbers_of(change));
        to.put(NUMBERS, Column::F64(numbers.collect()));
    }

    /// Returns the changes in a checkpoint; `None` if they are not complete.
    pub fn restore(state: &State) -> Option<UserRecord> {
        let mut record = UserRecord::default();
        if let (Some(Column::U64(steps)), Some(Column::F64(gravity))) = (state.get(GRAVITY_ONLY[0]), state.get(GRAVITY_ONLY[1])) {
            for (&step, &gravity) in steps.iter().zip(gravity.as_chunks::<3>().0) {
                record.add(step, SurroundingsChange::Gravity(gravity), true);
            }
        }
        let Some(Column::U64(steps)) = state.get(STEPS) else {
            return Some(record);
        };
        let (Column::U32(keys), Column::F64(numbers)) = (state.get(CHANGES)?, state.get(NUMBERS)?) else {
            return None;
        };
        let mut numbers = numbers.as_slice();
        for (&step, &[kind, index]) in steps.iter().zip(keys.as_chunks::<2>().0) {
            let count = match kind {
                GRAVITY => 3,
                MOTION | HOLD => OF_MOTION,
                PRESENCE => 1,
                LOAD => 6,
                FREE => 0,
                _ => return None,
            };
            let (own, rest) = numbers.split_at_checked(count)?;
            numbers = rest;
            record.changes.push((step, change_of(kind, index, own)));
        }
        Some(record)
    }
}

/// Kind and index of what a change concerns; `None` for what users do not change.
fn key_of(change: &SurroundingsChange) -> Option<(u32, u32)> {
    match change {
        SurroundingsChange::Gravity(_) => Some((GRAVITY, 0)),
        SurroundingsChange::Motion { wall, .. } => Some((MOTION, *wall as u32)),
        SurroundingsChange::Wall { wall, .. } => Some((PRESENCE, *wall as u32)),
        SurroundingsChange::Load(load) => Some((LOAD, load.group)),
        SurroundingsChange::Hold { group, .. } => Some((HOLD, *group)),
        SurroundingsChange::Free { group } => Some((FREE, *group)),
        SurroundingsChange::Inlet { .. } | SurroundingsChange::Cell(_) => None,
    }
}

fn numbers_of(change: &SurroundingsChange) -> Vec<f64> {
    match change {
        SurroundingsChange::Gravity(gravity) => gravity.to_vec(),
        SurroundingsChange::Motion { motion, .. } | SurroundingsChange::Hold { motion, .. } => numbers_of_motion(motion),
        SurroundingsChange::Wall { is_there, .. } => vec![f64::from(*is_there)],
        // Loads by users are constant.
        SurroundingsChange::Load(load) => [load.force.at(0.0), load.torque.at(0.0)].concat(),
        SurroundingsChange::Free { .. } | SurroundingsChange::Inlet { .. } | SurroundingsChange::Cell(_) => Vec::new(),
    }
}

/// The change of this kind with these numbers, as many as it has.
fn change_of(kind: u32, index: u32, numbers: &[f64]) -> SurroundingsChange {
    let wall = index as usize;
    match kind {
        GRAVITY => SurroundingsChange::Gravity(three(numbers, 0)),
        MOTION => SurroundingsChange::Motion {
            wall,
            motion: Box::new(motion_of(numbers)),
        },
        PRESENCE => SurroundingsChange::Wall {
            wall,
            is_there: numbers[0] > 0.0,
        },
        LOAD => SurroundingsChange::Load(Load::constant(index, three(numbers, 0), three(numbers, 3))),
        HOLD => SurroundingsChange::Hold {
            group: index,
            motion: Box::new(motion_of(numbers)),
        },
        _ => SurroundingsChange::Free { group: index },
    }
}

/// Three values from this index on.
fn three(numbers: &[f64], at: usize) -> Vec3 {
    [numbers[at], numbers[at + 1], numbers[at + 2]]
}

fn numbers_of_motion(motion: &WallMotion) -> Vec<f64> {
    let surface = &motion.surface;
    let vectors = [
        motion.velocity,
        motion.angular_velocity,
        motion.through,
        surface.velocity,
        surface.angular_velocity,
        surface.through,
    ];
    let mut numbers = vectors.concat();
    numbers.extend(motion.servo.as_ref().map_or([0.0; OF_SERVO], numbers_of_servo));
    numbers
}

fn motion_of(numbers: &[f64]) -> WallMotion {
    WallMotion {
        velocity: three(numbers, 0),
        angular_velocity: three(numbers, 3),
        through: three(numbers, 6),
        surface: SurfaceMotion {
            velocity: three(numbers, 9),
            angular_velocity: three(numbers, 12),
            through: three(numbers, 15),
        },
        servo: servo_of(&numbers[18..]),
        ..WallMotion::default()
    }
}

fn numbers_of_servo(servo: &Servo) -> [f64; OF_SERVO] {
    let (kind, area) = match servo.target {
        ServoTarget::Force(_) => (1.0, [Extent::Length(0.0); 2]),
        ServoTarget::Stress { area, .. } => (2.0, area),
        ServoTarget::Torque(_) => (3.0, [Extent::Length(0.0); 2]),
    };
    let [one, other] = area.map(|extent| match extent {
        Extent::Length(length) => [f64::NAN, f64::NAN, length],
        Extent::Between { walls, edge } => [walls[0] as f64, walls[1] as f64, edge],
    });
    let [x, y, z] = servo.along;
    let or_none = |value: Option<f64>| value.unwrap_or(f64::NAN);
    [
        kind,
        servo.target.value(),
        x,
        y,
        z,
        one[0],
        one[1],
        one[2],
        other[0],
        other[1],
        other[2],
        servo.velocity_limit,
        or_none(servo.gain),
        or_none(servo.integral_time),
    ]
}

/// The servo with these numbers; `None` if they are those of a motion without one.
fn servo_of(numbers: &[f64]) -> Option<Servo> {
    let extent = |at: usize| {
        let [first, second, length] = three(numbers, at);
        if first.is_nan() {
            Extent::Length(length)
        } else {
            Extent::Between {
                walls: [first as usize, second as usize],
                edge: length,
            }
        }
    };
    let value = numbers[1];
    let target = match numbers[0] as u32 {
        1 => ServoTarget::Force(value),
        2 => ServoTarget::Stress {
            stress: value,
            area: [extent(5), extent(8)],
        },
        3 => ServoTarget::Torque(value),
        _ => return None,
    };
    let or_none = |value: f64| (!value.is_nan()).then_some(value);
    Some(Servo {
        along: three(numbers, 2),
        target,
        velocity_limit: numbers[11],
        gain: or_none(numbers[12]),
        integral_time: or_none(numbers[13]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sliding(speed: f64) -> Box<WallMotion> {
        Box::new(WallMotion {
            velocity: [speed, 0.0, -0.5],
            angular_velocity: [0.0, 3.0, 0.0],
            through: [0.1, 0.2, 0.3],
            ..WallMotion::default()
        })
    }

    fn pressed(target: ServoTarget) -> Box<WallMotion> {
        let servo = Servo {
            along: [0.0, 0.0, -1.0],
            target,
            velocity_limit: 0.1,
            gain: None,
            integral_time: Some(0.01),
        };
        Box::new(WallMotion {
            servo: Some(servo),
            surface: SurfaceMotion {
                velocity: [1.0, 2.0, 3.0],
                ..SurfaceMotion::default()
            },
            ..WallMotion::default()
        })
    }

    #[test]
    fn a_checkpoint_has_the_last_change_of_each_thing() {
        let mut record = UserRecord::default();
        for step in 0..1000 {
            let motion = sliding(1e-3 * step as f64);
            record.add(step, SurroundingsChange::Motion { wall: 4, motion }, true);
        }
        let between = Extent::Between { walls: [2, 3], edge: 0.01 };
        let stress = ServoTarget::Stress {
            stress: 1e4,
            area: [between, Extent::Length(0.05)],
        };
        let others = [
            SurroundingsChange::Motion {
                wall: 5,
                motion: pressed(stress),
            },
            SurroundingsChange::Motion {
                wall: 6,
                motion: pressed(ServoTarget::Torque(2.0)),
            },
            SurroundingsChange::Wall { wall: 4, is_there: false },
            SurroundingsChange::Gravity([0.0, 1.0, -9.81]),
            SurroundingsChange::Load(Load::constant(1, [1.0, 2.0, 3.0], [0.0, 0.5, 0.0])),
            SurroundingsChange::Hold {
                group: 1,
                motion: sliding(2.0),
            },
            SurroundingsChange::Free { group: 1 },
        ];
        others.into_iter().for_each(|change| record.add(1000, change, true));
        let mut state = State::default();
        record.save(&mut state);
        let again = UserRecord::restore(&state).unwrap();
        assert_eq!(again.changes(), record.changes());
        let last = SurroundingsChange::Motion {
            wall: 4,
            motion: sliding(1e-3 * 999.0),
        };
        assert_eq!((again.changes().len(), &again.changes()[0]), (8, &(999, last)));
        assert_eq!(again.groups().collect::<Vec<u32>>(), [1, 1, 1]);
    }

    #[test]
    fn motions_that_do_not_replace_earlier_ones_are_all_kept() {
        let mut record = UserRecord::default();
        for step in 0..3 {
            let motion = sliding(step as f64);
            record.add(step, SurroundingsChange::Motion { wall: 4, motion }, false);
        }
        let mut state = State::default();
        record.save(&mut state);
        let again = UserRecord::restore(&state).unwrap();
        assert_eq!((again.changes().len(), again.changes()), (3, record.changes()));
    }

    #[test]
    fn gravity_of_an_earlier_version_is_read() {
        let mut state = State::default();
        state.put(GRAVITY_ONLY[0], Column::U64(vec![3, 7]));
        state.put(GRAVITY_ONLY[1], Column::F64(vec![0.0, 0.0, -1.0, 0.0, 2.0, 0.0]));
        let record = UserRecord::restore(&state).unwrap();
        assert_eq!(record.changes(), [(7, SurroundingsChange::Gravity([0.0, 2.0, 0.0]))]);
    }
}
