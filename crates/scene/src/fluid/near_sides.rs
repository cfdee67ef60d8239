//! The fluid side of surfaces.

use super::{
    Layout, images,
    surface::{Outline, Piece},
};
use glam::DVec3;

/// Orients each part by majority: its near side is the one from which most voters see it that are nearest to it, or to one of its images.
pub(super) fn turn_from(pieces: &mut [Piece], layout: &Layout, voters: &[DVec3]) {
    let parts = pieces.iter().map(|piece| piece.part + 1).max().unwrap_or(0);
    let mut votes = vec![0.0; parts];
    for voter in voters {
        let mut nearest = vec![(f64::INFINITY, 0.0); parts];
        for piece in &*pieces {
            for seen in images::of_place(*voter, piece.outline.ball().0, layout) {
                let (point, normal) = piece.outline.nearest(seen);
                let (distance, side) = (point.distance_squared(seen), normal.dot(seen - point));
                if distance < nearest[piece.part].0 {
                    nearest[piece.part] = (distance, side);
                }
            }
        }
        for (vote, (_, side)) in votes.iter_mut().zip(nearest) {
            *vote += if side > 0.0 { 1.0 } else { -1.0 };
        }
    }
    for piece in pieces {
        piece.away = if votes[piece.part] > 0.0 { -1.0 } else { 1.0 };
    }
}

/// Caps close the body of a mantle, whichever voters are nearest to them: fluid is inside of both, or outside of both.
pub(super) fn turn_caps(pieces: &mut [Piece]) {
    let mantle = pieces.iter().find_map(|piece| match &piece.outline {
        Outline::Mantle(mantle) if !mantle.is_flat() => {
            let middle = mantle.base + mantle.axis * (0.5 * mantle.way.y);
            Some((middle, mantle.axis, piece.away > 0.0))
        }
        _ => None,
    });
    let Some((middle, axis, is_fluid_inside)) = mantle else { return };
    for piece in pieces {
        if let Outline::Mantle(cap) = &piece.outline
            && cap.is_flat()
        {
            // The normal of a disk is against the axis: at the base that is outward.
            let is_outward = (cap.base - middle).dot(axis) < 0.0;
            piece.away = if is_outward == is_fluid_inside { 1.0 } else { -1.0 };
        }
    }
}
