//! Path of the camera: a smooth curve through saved views.

use std::time::Instant;

use super::orbit::Orbit;

/// Wall time from one view to the next \[s\].
const LEG: f64 = 2.0;

/// Saved views, and whether the camera moves along them.
#[derive(Default)]
pub struct CameraPath {
    views: Vec<Orbit>,
    started: Option<Instant>,
}

impl CameraPath {
    /// Number of saved views.
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// Appends a view.
    pub fn add_view(&mut self, view: Orbit) {
        let view = match self.views.last() {
            Some(last) => view.turned_like(last),
            None => view,
        };
        self.views.push(view);
    }

    /// Removes all views.
    pub fn forget(&mut self) {
        *self = CameraPath::default();
    }

    /// Whether the camera is moving.
    pub fn flies(&self) -> bool {
        self.started.is_some()
    }

    /// Starts the camera at the first view, or stops it.
    pub fn fly_or_stay(&mut self) {
        self.started = (self.started.is_none() && self.views.len() > 1).then(Instant::now);
    }

    /// Stops the camera.
    pub fn stay(&mut self) {
        self.started = None;
    }

    /// Current position if the camera is moving; it stops at the last view.
    pub fn now(&mut self) -> Option<Orbit> {
        let legs = self.started?.elapsed().as_secs_f64() / LEG;
        if legs >= (self.views.len() - 1) as f64 {
            self.started = None;
        }
        Some(self.after(legs))
    }

    /// Position after this many legs, on the curve of \[Catmull 1974\] through the views; the end points count twice.
    fn after(&self, legs: f64) -> Orbit {
        let last = self.views.len() - 1;
        let leg = (legs as usize).min(last.saturating_sub(1));
        let t = (legs - leg as f64).min(1.0);
        let numbers = |view: usize| self.views[view.min(last)].numbers();
        let [a, b, c, d] = [leg.saturating_sub(1), leg, leg + 1, leg + 2].map(numbers);
        Orbit::of_numbers(std::array::from_fn(|k| {
            let (a, b, c, d) = (a[k], b[k], c[k], d[k]);
            let [linear, square, cube] = [c - a, 2.0 * a - 5.0 * b + 4.0 * c - d, 3.0 * (b - c) + d - a];
            b + 0.5 * t * (linear + t * (square + t * cube))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(views: &[[f64; 6]]) -> CameraPath {
        let mut path = CameraPath::default();
        views.iter().for_each(|&view| path.add_view(Orbit::of_numbers(view)));
        path
    }

    #[test]
    fn a_camera_comes_by_every_view_without_a_jump_or_a_kink() {
        let views = [
            [0.0, 0.0, 0.0, 0.1, 0.2, 1.0],
            [1.0, 0.5, 0.0, 0.9, 0.4, 0.5],
            [1.0, -2.0, 3.0, 1.5, -0.3, 2.0],
            [0.0, 0.0, 1.0, 1.0, 0.0, 1.0],
        ];
        let path = path(&views);
        for (leg, view) in views.iter().enumerate() {
            let there = path.after(leg as f64).numbers();
            assert!(there.iter().zip(view).all(|(a, b)| (a - b).abs() < 1e-12), "{there:?}");
        }
        let step = 1e-4;
        let speed = |legs: f64| {
            let (a, b) = (path.after(legs).numbers(), path.after(legs + step).numbers());
            [0, 1, 2, 3, 4, 5].map(|k| (b[k] - a[k]) / step)
        };
        for leg in [1.0, 2.0] {
            let (before, behind) = (speed(leg - step), speed(leg));
            let is_smooth = before.iter().zip(&behind).all(|(a, b)| (a - b).abs() < 100.0 * step);
            assert!(is_smooth, "{before:?} {behind:?}");
        }
    }

    #[test]
    fn a_camera_turns_the_shorter_way() {
        let path = path(&[[0.0, 0.0, 0.0, 3.0, 0.0, 0.0], [0.0, 0.0, 0.0, -3.0, 0.0, 0.0]]);
        let half = path.after(0.5).numbers()[3];
        assert!((half - std::f64::consts::PI).abs() < 1e-12, "{half}");
    }
}
