//! The keys of walls: shapes, motions, surfaces that run, servos.

use super::{Direction, Vector};
use crate::{
    quantity::{
        Angle, AngularVelocity, Any, Area, Force, Frequency, Length, Mobility, NotNegative, Number, Positive, Pressure, Quantity,
        Temperature, Time, Velocity, WearRate,
    },
    words::{End, Face, Scale, Slip, Whole, Word},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rigid boundary: exactly one of `plane`, `mesh`, `box`, `cylinder`, `cone` and `sphere`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WallSection {
    /// Its material; needed where there are grains.
    #[schemars(example = &"steel")]
    pub material: Option<String>,
    /// An infinite plane.
    pub plane: Option<Plane>,
    /// An STL, OBJ or PLY file, or a text table with three vertices a line; touched from both sides.
    #[schemars(example = &"hopper.stl")]
    pub mesh: Option<String>,
    /// By what the lengths of the mesh are multiplied, or the unit they are in.
    pub scale: Option<Scale>,
    /// Six planes around a box; each is a wall named NAME.FACE.
    #[serde(rename = "box")]
    pub box_: Option<BoxWall>,
    /// The mantle of a cylinder, touched from within and from outside.
    pub cylinder: Option<CylinderWall>,
    /// The mantle of a cone, cut or with its tip, touched from within and from outside.
    pub cone: Option<ConeWall>,
    /// A sphere, touched from within and from outside.
    pub sphere: Option<SphereWall>,
    /// How it moves; at rest if left out.
    #[serde(default)]
    pub motion: Motion,
    /// Velocity at which its surface runs while the wall stands, as that of a belt does; what is tangential to the surface counts.
    pub surface_velocity: Option<Vector<Velocity>>,
    /// Rotation of its surface while the wall stands, as that of a roller; what is tangential to the surface counts.
    pub surface_rotation: Option<SurfaceRotation>,
    /// How fluids slip along it: "none", they stick to it, or "free"; "none" if left out, "free" with the solver "muller2003", which has no other.
    pub slip: Option<Word<Slip>>,
    /// Temperature at which it is held; it insulates if left out.
    pub temperature: Option<Quantity<Temperature, NotNegative>>,
    /// Wear coefficient K of Archard's law: worn volume = K × normal force × way slid / hardness. It wears if this or `specific_wear_rate` is given.
    pub wear_coefficient: Option<Quantity<Number, Positive>>,
    /// Hardness of the wall; needed with `wear_coefficient`.
    pub hardness: Option<Quantity<Pressure, Positive>>,
    /// Worn volume per normal force and way slid, K over hardness, where a test gives that.
    pub specific_wear_rate: Option<Quantity<WearRate, Positive>>,
}

/// An infinite plane; grains are on the side that the normal points to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Plane {
    /// A point of the plane.
    pub point: Vector<Length>,
    /// Its normal, of any length.
    pub normal: Direction,
}

/// A box that grains are inside of.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BoxWall {
    /// Lower corner.
    pub min: Vector<Length>,
    /// Upper corner.
    pub max: Vector<Length>,
    /// Faces left out: left and right in x, front and back in y, bottom and top in z.
    #[serde(default)]
    pub open: Vec<Word<Face>>,
}

/// Flat faces around a round wall.
pub(crate) type Segments = Whole<3, 10_000>;

/// The mantle of a cylinder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CylinderWall {
    /// Center of one end.
    pub from: Vector<Length>,
    /// Center of the other end.
    pub to: Vector<Length>,
    /// Radius; of the corners where there are segments.
    pub radius: Quantity<Length, Positive>,
    /// Number of flat faces around; exactly round if left out.
    pub segments: Option<Segments>,
    /// Ends that are closed.
    #[serde(default)]
    pub caps: Vec<Word<End>>,
}

/// The mantle of a cone.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ConeWall {
    /// Center of one end.
    pub from: Vector<Length>,
    /// Center of the other end.
    pub to: Vector<Length>,
    /// Radii at `from` and at `to`, of the corners where there are segments; 0 for a tip.
    pub radii: [Quantity<Length, NotNegative>; 2],
    /// Number of flat faces around; exactly round if left out.
    pub segments: Option<Segments>,
    /// Ends that are closed.
    #[serde(default)]
    pub caps: Vec<Word<End>>,
}

/// A sphere.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SphereWall {
    /// Center.
    pub center: Vector<Length>,
    /// Radius.
    pub radius: Quantity<Length, Positive>,
}

/// Motion of a wall, or of grains that are a boundary: the sum of what is given here, from `start` to `stop`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Motion {
    /// Velocity of the wall and of its axis.
    #[serde(default)]
    pub translate: Vector<Velocity>,
    /// Angular velocity about the axis.
    #[serde(default)]
    pub rotate: Quantity<AngularVelocity, Any>,
    /// Direction of the axis, of any length; needed to rotate.
    pub axis: Option<Direction>,
    /// A point of the axis at the start; needed to rotate.
    pub through: Option<Vector<Length>>,
    /// Harmonic oscillations, added up.
    #[serde(default)]
    pub vibrate: Vec<Vibrate>,
    /// Text file with a column each for t, x, y, z and, to turn about the axis, angle: places at times. The first row is where the scene puts
    /// the wall, which rests before it and after the last row; between rows it goes without a jump in velocity and never overshoots.
    #[schemars(example = &"path.csv")]
    pub path: Option<String>,
    /// Force control; of a wall only.
    pub servo: Option<ServoSection>,
    /// Time before which the wall rests; times of vibrations and of the path count from it.
    #[serde(default)]
    pub start: Quantity<Time, NotNegative>,
    /// Time from which on the wall rests for good; never if left out.
    pub stop: Option<Quantity<Time, Positive>>,
}

/// A harmonic oscillation: amplitude (sin(2π frequency t + phase) − sin phase).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Vibrate {
    /// Half of the way from one end to the other.
    pub amplitude: Quantity<Length, Positive>,
    /// Oscillations in a second.
    pub frequency: Quantity<Frequency, Positive>,
    /// Direction, of any length.
    pub direction: Direction,
    /// Phase at the start; 0 if left out: fastest, along the direction.
    #[serde(default)]
    pub phase: Quantity<Angle, Any>,
}

/// Force control: the wall moves along a direction, at gain times the force that is lacking, until the grains bear `force`, or `stress` times
/// `area`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ServoSection {
    /// Force of the wall on the grains along the direction.
    pub force: Option<Quantity<Force, Positive>>,
    /// The same over the area.
    pub stress: Option<Quantity<Pressure, Positive>>,
    /// Area that the stress acts on.
    pub area: Option<Quantity<Area, Positive>>,
    /// Direction in which the wall pushes the grains, of any length.
    pub along: Direction,
    /// Speed that the wall never exceeds.
    pub velocity_limit: Quantity<Velocity, Positive>,
    /// Speed per force that is lacking; if left out, what is stable with the stiffness of as many contacts as there are.
    pub gain: Option<Quantity<Mobility, Positive>>,
}

/// Rotation of a surface.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SurfaceRotation {
    /// Angular velocity.
    pub rate: Quantity<AngularVelocity, Any>,
    /// Direction of the axis, of any length; that of a cylinder or cone if left out.
    pub axis: Option<Direction>,
    /// A point of the axis; on the axis of a cylinder or cone, or the center of a sphere, if left out.
    pub through: Option<Vector<Length>>,
}
