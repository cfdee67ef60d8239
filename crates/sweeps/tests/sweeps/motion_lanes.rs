//! Motion in the lanes of a CPU.

use seixo_laws::Vector3;
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::motion::{AT_REST, LEFT_DOMAIN, MotionReport, NOT_FINITE, SKIN_EXCEEDED, StepParameters, TOO_FAST, advance};
use seixo_sweeps::motion_lanes::{MovingGrains, advance_part};

/// Two batches of lanes and a rest.
const GRAINS: usize = 77;

/// All numbers of some grains.
#[derive(Clone)]
struct Grains {
    position: Vec<f64>,
    velocity: Vec<f64>,
    spin: Vec<f64>,
    half_velocity: Vec<f64>,
    half_spin: Vec<f64>,
    force: Vec<f64>,
    torque: Vec<f64>,
    reference: Vec<f64>,
}

impl Grains {
    fn new() -> Grains {
        let number = |k: usize| ((31 * k + 17) % 97) as f64 / 97.0 - 0.5;
        let some = |count: usize, salt: usize, size: f64| -> Vec<f64> { (0..count).map(|k| size * number(k + salt)).collect() };
        let records = GRAINS * RECORD;
        let mut grains = Grains {
            position: some(records, 1, 1.0),
            velocity: some(records, 2, 1.0),
            spin: some(records, 3, 10.0),
            half_velocity: some(3 * GRAINS, 4, 1.0),
            half_spin: some(3 * GRAINS, 5, 10.0),
            force: some(records, 6, 1e-3),
            torque: some(records, 7, 1e-6),
            reference: Vec::new(),
        };
        for i in 0..GRAINS {
            grains.position[i * RECORD + 3] = 1e-3 * (1.5 + number(i));
            grains.velocity[i * RECORD + 3] = 1e-5 * (1.5 + number(i));
            grains.reference.extend_from_slice(&grains.position[i * RECORD..][..3]);
        }
        grains
    }

    fn advance_in_lanes(&mut self, stepping: &StepParameters<f64, f64>, frictional: bool) -> MotionReport<f64> {
        let grains = MovingGrains {
            position: &mut self.position,
            velocity: &mut self.velocity,
            spin: &mut self.spin,
            half_velocity: &mut self.half_velocity,
            half_spin: &mut self.half_spin,
            force: &self.force,
            torque: &self.torque,
            reference: &self.reference,
        };
        advance_part(grains, stepping, frictional)
    }

    fn advance_one_by_one(&mut self, stepping: &StepParameters<f64, f64>, frictional: bool) -> MotionReport<f64> {
        let mut all = AT_REST;
        for i in 0..GRAINS {
            let moved = advance(
                i,
                &mut self.position,
                &mut self.velocity,
                &mut self.spin,
                &mut self.half_velocity,
                &mut self.half_spin,
                &self.force,
                &self.torque,
                &self.reference,
                stepping,
                frictional,
            );
            all.flags |= moved.flags;
            all.stride_square = all.stride_square.max(moved.stride_square);
            all.damping_work += moved.damping_work;
        }
        all
    }

    fn bits(&self) -> Vec<u64> {
        let fields = [&self.position, &self.velocity, &self.spin, &self.half_velocity, &self.half_spin];
        fields.into_iter().flatten().map(|number| number.to_bits()).collect()
    }
}

fn stepping(local_damping: f64, lag: f64) -> StepParameters<f64, f64> {
    let at = |x: f64| Vector3 { x, y: x, z: x };
    StepParameters {
        dt: 1e-4,
        reads_ahead: 5e-5,
        velocity_lead: 5e-5,
        lag,
        gravity: Vector3 { x: 0.1, y: 0.0, z: -9.81 },
        local_damping,
        damped_gravity: 1.0,
        skin_exceeded_square: 1.0,
        stride_square: 1.0,
        domain_min: at(-1.0),
        domain_max: at(1.0),
        sides: Default::default(),
    }
}

#[test]
fn grains_in_lanes_move_with_the_bits_of_single_grains() {
    for (local_damping, lag) in [(0.0, 0.0), (0.0, 1.0), (0.2, 0.0)] {
        for frictional in [true, false] {
            let stepping = stepping(local_damping, lag);
            let (mut in_lanes, mut one_by_one) = (Grains::new(), Grains::new());
            for step in 0..3 {
                let [report, expected] = [
                    in_lanes.advance_in_lanes(&stepping, frictional),
                    one_by_one.advance_one_by_one(&stepping, frictional),
                ];
                let numbers = |report: &MotionReport<f64>| [report.stride_square, report.damping_work].map(f64::to_bits);
                assert_eq!((report.flags, numbers(&report)), (expected.flags, numbers(&expected)));
                assert!(report.stride_square > 0.0 && (report.damping_work != 0.0) == (local_damping > 0.0));
                assert!(
                    in_lanes.bits() == one_by_one.bits(),
                    "step {step}, damping {local_damping}, lag {lag}, {frictional}"
                );
            }
        }
    }
}

#[test]
fn each_lane_raises_its_flags() {
    let stepping = stepping(0.0, 0.0);
    // In the first and the last lane of a batch, and behind the last batch.
    for grain in [0, 31, 50, GRAINS - 1] {
        let flags_with = |change: fn(&mut Grains, usize)| {
            let mut grains = Grains::new();
            change(&mut grains, grain);
            grains.advance_in_lanes(&stepping, true).flags
        };
        assert_eq!(flags_with(|_, _| {}), 0);
        assert_eq!(flags_with(|grains, i| grains.reference[3 * i] = 7.0), SKIN_EXCEEDED);
        assert_eq!(flags_with(|grains, i| grains.position[i * RECORD + 1] = f64::NAN), NOT_FINITE);
        let thrown = flags_with(|grains, i| grains.half_velocity[3 * i + 2] = 1e6);
        assert_eq!(thrown, SKIN_EXCEEDED | TOO_FAST | LEFT_DOMAIN);
    }
}
