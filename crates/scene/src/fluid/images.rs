//! Images of walls beyond periodic sides: a wall that extends past one side also enters at the opposite one.

use super::{Layout, surface::Piece};
use crate::diagnostics::UnlocatedDiagnostic;
use glam::DVec3;
use seixo_engine::world::WallMotion;

/// Largest number of images along an axis of a wall that is longer than the domain.
const MOST: f64 = 16.0;

/// Offsets of the images of these pieces that are within reach of fluids in the domain.
///
/// # Errors
/// If there are too many.
pub(super) fn shifts(pieces: &[Piece], layout: &Layout) -> Result<Vec<DVec3>, UnlocatedDiagnostic> {
    let bounds = pieces.iter().map(Piece::bounds);
    let [low, high] = bounds.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], [from, to]| {
        [low.min(from), high.max(to)]
    });
    let mut shifts = vec![DVec3::ZERO];
    for (axis, period) in layout.periods.iter().enumerate() {
        let Some([min, max]) = period.filter(|_| layout.across != Some(axis)) else {
            continue;
        };
        let (length, sight) = (max - min, layout.band() + layout.spacing);
        let first = ((min - sight - high[axis]) / length).ceil();
        let last = ((max + sight - low[axis]) / length).floor();
        if last - first > MOST {
            return Err(UnlocatedDiagnostic::new(format!(
                "it reaches over {:.0} lengths of the domain between periodic sides",
                last - first
            ))
            .limit(format!("{MOST}"))
            .remedy("let it end at the sides, where its images begin"));
        }
        let steps = || (first as i64..=last as i64).map(|k| k as f64 * length);
        let aside = |shift: &DVec3| steps().map(|step| *shift + DVec3::AXES[axis] * step).collect::<Vec<_>>();
        shifts = shifts.iter().flat_map(aside).collect();
    }
    shifts.retain(|shift| *shift != DVec3::ZERO);
    Ok(shifts)
}

/// The images of a position that are nearest to another one, on both sides of it along periodic axes.
pub(super) fn of_place(place: DVec3, near: DVec3, layout: &Layout) -> Vec<DVec3> {
    let mut images = vec![place];
    for (axis, period) in layout.periods.iter().enumerate() {
        let Some([min, max]) = period.filter(|_| layout.across != Some(axis)) else {
            continue;
        };
        let length = max - min;
        let below = ((near[axis] - place[axis]) / length).floor();
        let beside = |image: &DVec3| [below, below + 1.0].map(|k| *image + DVec3::AXES[axis] * (k * length));
        images = images.iter().flat_map(beside).collect();
    }
    images
}

/// The error for a wall with such a motion and such images: each image would rotate about an axis of its own.
pub(super) fn refuse_turning(motion: &WallMotion, shifts: &[DVec3]) -> Result<(), UnlocatedDiagnostic> {
    if motion.frame.is_some() && !shifts.is_empty() {
        let complaint =
            UnlocatedDiagnostic::new("it moves at a periodic side in a frame that moves, and its image beyond would move otherwise");
        return Err(complaint
            .remedy("let it stay away from the sides, farther than wall particles stand deep; leave the frame out; or open these sides"));
    }
    let by_path = motion.path.as_ref().filter(|path| !path.angle.is_empty()).map(|path| path.axis);
    let spin = Some(motion.angular_velocity).filter(|spin| *spin != [0.0; 3]);
    let Some(axis) = spin.or(by_path).map(DVec3::from) else {
        return Ok(());
    };
    let is_along = |shift: &DVec3| axis.cross(*shift).length() < 1e-9 * axis.length() * shift.length();
    if shifts.iter().all(is_along) {
        return Ok(());
    }
    Err(
        UnlocatedDiagnostic::new("it turns at a periodic side, and its image beyond would turn about another axis")
            .limit("turning about the axis of periodic sides, which images share")
            .remedy("let it stay away from the sides, farther than wall particles stand deep; or open these sides"),
    )
}

/// The error for a vessel that ends at periodic sides without space for its wall particles.
pub(super) fn no_room(at: DVec3, layout: &Layout) -> UnlocatedDiagnostic {
    let complaint = UnlocatedDiagnostic::new(format!(
        "its ends lie on each other across periodic sides, at {at:.4} m, with fluid between them: what holds it has no room there"
    ));
    complaint
        .limit(format!("{:.3e} m between them, {} spacings", layout.band(), layout.layers))
        .remedy("leave its ends out: fluid then goes on through the sides; or make the domain longer, or open these sides")
}
