//! Grains that are requested from GPUs, which go on meanwhile.

use crate::resumed::assert_same;
use seixo_engine::Simulation;
use seixo_engine::state::GrainColumns;

/// The columns of a frame without `output.fields`, and those of one that shows rotation and forces.
const OF_FRAMES: [GrainColumns; 2] = {
    let places = GrainColumns {
        velocity: false,
        angular_velocity: false,
        force: false,
        torque: false,
        body: false,
        mass: false,
        volume: false,
        shape: false,
        material: false,
        group: false,
        coordination: false,
        orientation: false,
    };
    [
        GrainColumns { velocity: true, ..places },
        GrainColumns {
            angular_velocity: true,
            force: true,
            ..places
        },
    ]
};

/// Asserts that grains of a simulation that `new` makes arrive as an observation shows them, with the same ledger and walls, and that both simulations
/// have the same state afterwards. The first grains are those after `first` steps. Returns the simulations: the one that was observed and the one that
/// was not.
#[track_caller]
pub fn assert_arrive(new: impl Fn() -> Simulation, first: u64, what: &str) -> [Simulation; 2] {
    let (mut plain, mut ahead) = (new(), new());
    let [frame, loads] = OF_FRAMES;
    // Few steps, and more than the GPU queues at once.
    for (steps, columns) in [(first, GrainColumns::ALL), (1, frame), (3, loads), (40, GrainColumns::ALL)] {
        plain.advance(steps).unwrap();
        plain.observe().unwrap();
        ahead.advance(steps).unwrap();
        let pending = ahead.request_grains(columns).unwrap().expect("grains on their way");
        assert_eq!((ahead.ledger(), ahead.walls_now()), (plain.ledger(), plain.walls_now()), "{what}");
        let expected = plain.snapshot_with(columns);
        plain.advance(70).unwrap();
        ahead.advance(70).unwrap();
        let arrived = std::thread::spawn(move || pending.wait()).join().unwrap().unwrap();
        assert!(arrived == expected, "{what}, {steps} steps later: {columns:?}");
    }
    // The ledger alone, and then everything at the same step.
    plain.observe().unwrap();
    ahead.observe_ledger().unwrap();
    assert_eq!(ahead.ledger(), plain.ledger(), "{what}");
    assert_same(&plain.save().unwrap(), &ahead.save().unwrap(), what);
    assert_eq!(ahead.ledger(), plain.ledger(), "{what}");
    assert!(ahead.request_grains(frame).unwrap().is_none(), "{what}: they are here already");
    [plain, ahead]
}
