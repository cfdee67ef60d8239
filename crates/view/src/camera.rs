//! The camera: its position, its view, and the projection of points.

use glam::DVec3;

/// Angle of view over the height of the frame in perspective \[rad\]: a long lens, so that near grains do not look much larger than far ones.
const FIELD_OF_VIEW: f64 = 0.40;

/// How lengths in the picture depend on depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Projection {
    /// Near objects are larger.
    #[default]
    Perspective,
    /// Near and far objects are equally large, to half a percent of their size over the depth of a scene that is as deep as the picture is high.
    Orthographic,
}

impl Projection {
    /// Distance of the camera over that of a camera in perspective that sees the middle of the scene as large.
    ///
    /// A camera that is far away, with a narrow angle of view, needs no other shaders. At 250 picture heights, single precision still resolves depths
    /// of 2e-5 picture heights.
    pub fn remoteness(self) -> f64 {
        match self {
            Projection::Perspective => 1.0,
            Projection::Orthographic => 100.0,
        }
    }
}

/// A rectangle of the picture \[px\], y downwards.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Left and top edge.
    pub corner: [f64; 2],
    /// Width and height.
    pub size: [f64; 2],
}

/// A camera. View coordinates are right, up, and depth along the optical axis.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    /// Position \[m\].
    pub eye: DVec3,
    /// Unit vectors to the right, upwards and into the scene.
    pub axes: [DVec3; 3],
    /// Pixels per unit of tangent.
    pub focal: f64,
    /// Point where the optical axis meets the picture \[px\].
    pub center: [f64; 2],
    /// Nearest depth that is drawn \[m\].
    pub near: f64,
    /// Depth of the middle of the scene \[m\].
    pub middle: f64,
    /// Its projection.
    pub projection: Projection,
}

impl Camera {
    /// A point in view coordinates \[m\].
    pub fn view(&self, point: DVec3) -> DVec3 {
        self.turn(point - self.eye)
    }

    /// A direction in view coordinates.
    pub fn turn(&self, direction: DVec3) -> DVec3 {
        DVec3::from(self.axes.map(|axis| axis.dot(direction)))
    }

    /// The camera that looks at a point from a direction. `distance` is that of a camera in perspective that sees the point as large.
    pub fn standing(target: DVec3, from: DVec3, distance: f64, frame: Frame, projection: Projection) -> Camera {
        let distance = distance * projection.remoteness();
        Camera {
            eye: target + from.normalize() * distance,
            axes: axes(from),
            focal: focal_length(frame, projection),
            center: center(frame),
            near: 1e-3 * distance,
            middle: distance,
            projection,
        }
    }

    /// The camera that sees all these balls (center, radius) from the direction `from`, in this projection, as large as the frame allows.
    ///
    /// A ball is inside the frame if it is on the inner side of the four planes through the eye and the edges of the frame. With the tangents t of
    /// the half angles, each plane gives one linear inequality for the eye. So the nearest eye follows in closed form.
    pub fn framing(balls: impl Iterator<Item = (DVec3, f64)>, (from, projection): (DVec3, Projection), frame: Frame) -> Camera {
        let [right, up, forward] = axes(from);
        let focal = focal_length(frame, projection);
        let tangent = frame.size.map(|side| side / (2.0 * focal));
        let slant = tangent.map(|t| (1.0 + t * t).sqrt());
        let mut reach = [f64::NEG_INFINITY; 4];
        let mut depth = [f64::INFINITY, f64::NEG_INFINITY];
        for (center, radius) in balls {
            let (x, y, z) = (right.dot(center), up.dot(center), forward.dot(center));
            let sides = [x - tangent[0] * z, -x - tangent[0] * z, y - tangent[1] * z, -y - tangent[1] * z];
            for (side, value) in sides.into_iter().enumerate() {
                reach[side] = reach[side].max(value + radius * slant[side / 2]);
            }
            depth = [depth[0].min(z - radius), depth[1].max(z + radius)];
        }
        if depth[0] > depth[1] {
            (reach, depth) = ([1.0; 4], [-1.0, 1.0]);
        }
        let back = f64::max(
            (reach[0] + reach[1]) / (2.0 * tangent[0]),
            (reach[2] + reach[3]) / (2.0 * tangent[1]),
        );
        let extent = (depth[1] - depth[0]).max(back.abs() * 1e-6).max(f64::MIN_POSITIVE.sqrt());
        let back = back.max(0.05 * extent - depth[0]);
        Camera {
            eye: right * ((reach[0] - reach[1]) / 2.0) + up * ((reach[2] - reach[3]) / 2.0) - forward * back,
            axes: [right, up, forward],
            focal,
            center: center(frame),
            near: ((depth[0] + back) * 0.5).max(0.01 * extent),
            middle: (depth[0] + depth[1]) / 2.0 + back,
            projection,
        }
    }
}

/// Unit normal of a clip plane, and the distance from this point along it up to which things are drawn \[m\].
pub fn clip_plane([x, y, z, far]: [f64; 4], point: DVec3) -> (DVec3, f64) {
    let direction = DVec3::new(x, y, z).normalize_or_zero();
    (direction, far - direction.dot(point))
}

/// Right, up and forward vectors of a camera that looks from this direction.
fn axes(from: DVec3) -> [DVec3; 3] {
    let forward = -from.normalize();
    let vertical = if forward.z.abs() > 0.999 { DVec3::Y } else { DVec3::Z };
    let right = forward.cross(vertical).normalize();
    [right, right.cross(forward), forward]
}

fn focal_length(frame: Frame, projection: Projection) -> f64 {
    projection.remoteness() * frame.size[1] / (2.0 * (FIELD_OF_VIEW / 2.0).tan())
}

fn center(frame: Frame) -> [f64; 2] {
    [0, 1].map(|side| frame.corner[side] + frame.size[side] / 2.0)
}
