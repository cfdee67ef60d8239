//! Keys of walls: shape, motion, surface velocity, servo.

use super::{Direction, Turn, Vector};
use crate::{
    quantity::{
        Angle, AngularVelocity, Any, Area, Force, Frequency, Length, Mobility, NotNegative, Number, Positive, Pressure, Quantity,
        Temperature, Time, Torque, Velocity, WearRate,
    },
    vocabulary::{End, Face, LengthUnit, Scale, Slip, WallSide, WholeNumber, Word},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rigid boundary: exactly one of `plane`, `mesh`, `box`, `cylinder`, `cone` and `sphere`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WallSection {
    /// Material of the wall; needed if the scene has grains.
    #[schemars(example = &"steel")]
    pub material: Option<String>,
    /// An infinite plane.
    pub plane: Option<Plane>,
    /// An STL, OBJ or PLY file, or a text table with three vertices per line; both sides have contacts.
    #[schemars(example = &"hopper.stl")]
    pub mesh: Option<String>,
    /// Unit of the lengths of the mesh; "m" if left out.
    pub unit: Option<LengthUnit>,
    /// Factor for the lengths of the mesh, or their unit.
    pub scale: Option<Scale>,
    /// Rotation of the mesh about the origin of its file, after it is scaled.
    pub rotate: Option<Turn>,
    /// Displacement of the mesh, after it is rotated.
    #[serde(rename = "move")]
    #[schemars(example = serde_json::json!([0, 0, "10 cm"]))]
    pub shift: Option<Vector<Length>>,
    /// Six planes around a box; each is a wall named NAME.FACE. For grains each plane is infinite, also above an open side.
    #[serde(rename = "box")]
    pub box_: Option<BoxWall>,
    /// The mantle of a cylinder; contacts are possible on the inside and the outside.
    pub cylinder: Option<CylinderWall>,
    /// The mantle of a cone, truncated or with its tip; contacts are possible on the inside and the outside.
    pub cone: Option<ConeWall>,
    /// A sphere; contacts are possible on the inside and the outside.
    pub sphere: Option<SphereWall>,
    /// "outside": the wall is a solid, as an obstacle or a gate. A box is then its closed surface, a cylinder or cone has both caps, and a mesh must be
    /// closed. Grains and fluids are outside; fluids are cut out of it. "inside" is the default of a box. Without `side`, both sides of other shapes have
    /// contacts.
    #[schemars(example = &"outside")]
    pub side: Option<Word<WallSide>>,
    /// Motion of the wall; at rest if left out. To rotate, `axis` and `through` are both needed.
    #[serde(default)]
    pub motion: Motion,
    /// Velocity of the surface of a wall at rest, as of a conveyor belt; only its component tangential to the surface counts.
    #[schemars(example = serde_json::json!(["0.5 m/s", 0, 0]))]
    pub surface_velocity: Option<Vector<Velocity>>,
    /// Rotation of the surface of a wall at rest, as of a roller; only its component tangential to the surface counts.
    pub surface_rotation: Option<SurfaceRotation>,
    /// Velocity condition of fluids at the wall: "none", no slip, or "free"; "none" if left out, "free" with the solver "muller2003", which has no
    /// other.
    #[schemars(example = &"free")]
    pub slip: Option<Word<Slip>>,
    /// Constant temperature of the wall; it insulates if left out.
    pub temperature: Option<Quantity<Temperature, NotNegative>>,
    /// Wear coefficient K of Archard's law: worn volume = K × normal force × sliding distance / hardness. The wall wears if this or
    /// `specific_wear_rate` is given.
    #[schemars(example = 1e-4)]
    pub wear_coefficient: Option<Quantity<Number, Positive>>,
    /// Hardness of the wall; needed with `wear_coefficient`.
    #[schemars(example = &"2 GPa")]
    pub hardness: Option<Quantity<Pressure, Positive>>,
    /// Worn volume per normal force and sliding distance, K over hardness, as wear tests give it.
    pub specific_wear_rate: Option<Quantity<WearRate, Positive>>,
}

impl WallSection {
    /// Whether it is a solid, with grains and fluids outside.
    pub fn is_solid(&self) -> bool {
        self.side == Some(Word(WallSide::Outside))
    }
}

/// An infinite plane; grains are on the side to which the normal points.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plane {
    /// A point of the plane.
    pub point: Vector<Length>,
    /// Normal of the plane, of any length.
    pub normal: Direction,
}

/// A box with grains inside.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "min": [0, 0, 0], "max": ["10 cm", "10 cm", "20 cm"] }))]
pub(crate) struct BoxWall {
    /// Lower corner.
    pub min: Vector<Length>,
    /// Upper corner.
    pub max: Vector<Length>,
    /// Sides without a wall: left and right in x, front and back in y, bottom and top in z.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["top"]))]
    pub open: Vec<Word<Face>>,
}

/// Number of flat faces around a round wall.
pub(crate) type Segments = WholeNumber<3, 10_000>;

/// The mantle of a cylinder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "from": [0, 0, 0], "to": [0, 0, "20 cm"], "radius": "5 cm" }))]
pub(crate) struct CylinderWall {
    /// Center of one end.
    pub from: Vector<Length>,
    /// Center of the other end.
    pub to: Vector<Length>,
    /// Radius; with `segments`, that of the corners.
    pub radius: Quantity<Length, Positive>,
    /// Number of flat faces around the axis; exactly round if left out.
    #[schemars(example = 32)]
    pub segments: Option<Segments>,
    /// Ends that are closed.
    #[serde(default)]
    pub caps: Vec<Word<End>>,
}

/// The mantle of a cone.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "from": [0, 0, 0], "to": [0, 0, "20 cm"], "radii": ["2 cm", "5 cm"] }))]
pub(crate) struct ConeWall {
    /// Center of one end.
    pub from: Vector<Length>,
    /// Center of the other end.
    pub to: Vector<Length>,
    /// Radii at `from` and at `to`, with `segments` those of the corners; 0 for a tip.
    pub radii: [Quantity<Length, NotNegative>; 2],
    /// Number of flat faces around the axis; exactly round if left out.
    #[schemars(example = 32)]
    pub segments: Option<Segments>,
    /// Ends that are closed.
    #[serde(default)]
    pub caps: Vec<Word<End>>,
}

/// A sphere.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "center": [0, 0, "10 cm"], "radius": "5 cm" }))]
pub(crate) struct SphereWall {
    /// Center.
    pub center: Vector<Length>,
    /// Radius.
    pub radius: Quantity<Length, Positive>,
}

/// Motion of the frame in which a wall moves: of what carries it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "rotate": "20 rpm", "axis": [0, 0, 1], "through": [0, 0, 0] }))]
pub(crate) struct FrameSection {
    /// Velocity of the frame and of its axis of rotation.
    #[serde(default)]
    pub translate: Vector<Velocity>,
    /// Angular velocity about the axis; to rotate, `axis` and `through` are both needed.
    #[serde(default)]
    pub rotate: Quantity<AngularVelocity, Any>,
    /// Direction of the axis, of any length; needed to rotate, with `through`.
    pub axis: Option<Direction>,
    /// A point of the axis at the start; needed to rotate, with `axis`.
    pub through: Option<Vector<Length>>,
}

/// Prescribed motion of a wall, or of grains that are a boundary: the sum of the parts given here, from `start` to `stop`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "translate": [0, 0, "-1 cm/s"] }))]
pub(crate) struct Motion {
    /// Velocity of the wall and of its axis of rotation.
    #[serde(default)]
    pub translate: Vector<Velocity>,
    /// Angular velocity about the axis; to rotate, `axis` and `through` are both needed.
    #[serde(default)]
    pub rotate: Quantity<AngularVelocity, Any>,
    /// Direction of the axis, of any length; needed to rotate, with `through`.
    pub axis: Option<Direction>,
    /// A point of the axis at the start; needed to rotate, with `axis`.
    pub through: Option<Vector<Length>>,
    /// Harmonic oscillations, which add up.
    #[serde(default)]
    pub vibrate: Vec<Vibrate>,
    /// Text file with the columns t, x, y, z and, for a rotation about the axis, angle: positions at given times. The first row is the position that
    /// the scene gives the wall. The wall rests before the first and after the last row. In between, its velocity is continuous and it never
    /// overshoots.
    #[schemars(example = &"path.csv")]
    pub path: Option<String>,
    /// Control of force, stress or torque; of a wall only.
    pub servo: Option<ServoSection>,
    /// Motion of the frame in which all of this takes place, as of the arm that carries the blade of a planetary mixer. Axis and directions of the motion
    /// are those at the start, and turn with the frame. Not with a servo.
    pub frame: Option<FrameSection>,
    /// Time until which the wall rests; times of vibrations and of the path count from it.
    #[serde(default)]
    #[schemars(example = &"0.1 s")]
    pub start: Quantity<Time, NotNegative>,
    /// Time at which the wall stops for good; never if left out.
    #[schemars(example = &"2 s")]
    pub stop: Option<Quantity<Time, Positive>>,
}

/// A harmonic oscillation: amplitude (sin(2π frequency t + phase) − sin phase).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Vibrate {
    /// Half of the distance between the two ends.
    pub amplitude: Quantity<Length, Positive>,
    /// Oscillations per second.
    pub frequency: Quantity<Frequency, Positive>,
    /// Direction, of any length.
    pub direction: Direction,
    /// Phase at the start; 0 if left out: largest speed, along the direction.
    #[serde(default)]
    pub phase: Quantity<Angle, Any>,
}

/// Load control: the wall moves along a direction until its force on the grains is `force`, or `stress` times the area; or it turns until its torque is
/// `torque`. No load is missing at rest, and none at a constant speed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "along": [0, 0, -1], "velocity_limit": "0.1 m/s", "force": "100 N" }))]
pub(crate) struct ServoSection {
    /// Force of the wall on the grains along the direction. Exclusive with `stress` and `torque`.
    pub force: Option<Quantity<Force, Positive>>,
    /// Force per area of the wall on the grains; needs `area` or `between`.
    #[schemars(example = &"10 kPa")]
    pub stress: Option<Quantity<Pressure, Positive>>,
    /// Name of a probe of stress: the normal stress of its region, along the axis of `along`, is to be `stress`. From each of its lines follows by how
    /// much more or less the wall must push than `stress` times the area, which friction on other walls and an uneven sample make necessary. If left
    /// out, the wall itself bears `stress`.
    #[schemars(example = &"core")]
    pub of: Option<String>,
    /// Constant area on which the stress acts.
    pub area: Option<Quantity<Area, Positive>>,
    /// Walls around the area on which the stress acts, in one or two pairs of planes that face each other: the area is the product of their present
    /// distances, with one pair times `width`. The face of a box is named as in "tank.left".
    #[schemars(example = serde_json::json!([["left", "right"], ["front", "back"]]))]
    pub between: Option<Vec<[String; 2]>>,
    /// Constant extent of the area across one pair of walls in `between`.
    #[schemars(example = &"5 cm")]
    pub width: Option<Quantity<Length, Positive>>,
    /// Width of the strip along each wall in `between` that carries nothing, as contacts end at the centers of the outermost grains. With the mean
    /// radius of grains, the stress is that inside the sample; 0 if left out: the mean stress on the wall.
    #[schemars(example = &"1 mm")]
    pub edge: Option<Quantity<Length, NotNegative>>,
    /// Torque of the wall on the grains about the axis of the motion: `axis` through `through`, beside `servo`.
    pub torque: Option<Quantity<Torque, Positive>>,
    /// Direction in which the wall pushes the grains, of any length; needed with `force` and `stress`.
    pub along: Option<Direction>,
    /// Largest speed of the wall; needed with `force` and `stress`.
    pub velocity_limit: Option<Quantity<Velocity, Positive>>,
    /// Largest angular velocity of the wall; needed with `torque`.
    pub angular_velocity_limit: Option<Quantity<AngularVelocity, Positive>>,
    /// Speed per missing force; if left out, a stable value that follows from the stiffness of the current contacts. Not with `torque`.
    pub gain: Option<Quantity<Mobility, Positive>>,
    /// Time in which the integral part of the speed grows by a constant proportional part; if left out, a value that follows from the gain and the
    /// stiffness of the current contacts. Shorter times follow faster, and swing more.
    #[schemars(example = &"10 ms")]
    pub integral_time: Option<Quantity<Time, Positive>>,
}

/// Rotation of the surface of a wall at rest.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "rate": "2 rad/s", "axis": [0, 1, 0], "through": [0, 0, "10 cm"] }))]
pub(crate) struct SurfaceRotation {
    /// Angular velocity.
    pub rate: Quantity<AngularVelocity, Any>,
    /// Direction of the axis, of any length; that of a cylinder or cone if left out.
    pub axis: Option<Direction>,
    /// A point of the axis; on the axis of a cylinder or cone, or the center of a sphere, if left out.
    pub through: Option<Vector<Length>>,
}
