//! Pointer in the scene: it rotates, moves and zooms the view, and picks and drags particles.

use glam::DVec2;
use winit::{
    event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent},
    keyboard::ModifiersState,
};

use super::{drawn::Drawn, panel::Panel, pick};
use crate::{
    camera::{Camera, Frame},
    live::UserAction,
};

/// Pointer movement between press and release below which it is a click \[px\].
const STILL: f64 = 4.0;
/// Simulated time in which a free dragged grain reaches the pointer \[s\].
const DRAG: f64 = 0.05;

/// Position of the pointer, and pressed buttons and keys.
#[derive(Default)]
pub struct Pointer {
    at: DVec2,
    /// Button pressed in the scene, with the position.
    pressed: Option<(MouseButton, DVec2)>,
    keys: ModifiersState,
    /// Whether a grain is being dragged.
    draws: bool,
}

impl Drawn {
    /// Handles a window event; `is_taken` marks an event that a panel consumed.
    pub fn handle_event(&mut self, event: &WindowEvent, panel: &mut Panel, is_taken: bool) {
        match event {
            WindowEvent::Occluded(is_hidden) => self.screen.is_hidden = *is_hidden,
            WindowEvent::ModifiersChanged(keys) => {
                self.pointer.keys = keys.state();
                if !self.pointer.keys.control_key() {
                    self.let_go(panel);
                }
            }
            WindowEvent::CursorLeft { .. } => self.let_go(panel),
            WindowEvent::Focused(false) => {
                self.pointer.pressed = None;
                self.let_go(panel);
            }
            WindowEvent::CursorMoved { position, .. } => {
                let at = DVec2::new(position.x, position.y);
                let by = at - std::mem::replace(&mut self.pointer.at, at);
                if !is_taken {
                    self.follow(by, panel);
                }
            }
            // A button pressed in the scene may be released over a panel.
            WindowEvent::MouseInput {
                state: ElementState::Released,
                ..
            } => {
                self.let_go(panel);
                if let Some((MouseButton::Left, from)) = self.pointer.pressed.take()
                    && from.distance(self.pointer.at) < STILL
                {
                    self.pick(panel);
                }
            }
            WindowEvent::MouseInput { button, .. } if !is_taken && self.is_in_scene() => {
                self.pointer.pressed = Some((*button, self.pointer.at))
            }
            WindowEvent::MouseWheel { delta, .. } if !is_taken && self.is_in_scene() => {
                let lines = match delta {
                    MouseScrollDelta::LineDelta(_, lines) => f64::from(*lines),
                    MouseScrollDelta::PixelDelta(pixels) => pixels.y / 40.0,
                };
                if let Some(orbit) = &mut self.orbit {
                    panel.path.stay();
                    orbit.zoom(lines);
                    self.note_move();
                }
            }
            _ => {}
        }
    }

    /// Whether the pointer is in the scene. A panel does not consume the first event after the pointer enters it.
    fn is_in_scene(&self) -> bool {
        let at = self.pointer.at;
        let is_within = |Frame { corner, size }: Frame| (0..2).all(|axis| (0.0..=size[axis]).contains(&(at[axis] - corner[axis])));
        self.gui.scene_frame(&self.window).is_some_and(is_within)
    }

    /// Rotates or moves the camera, or drags the picked grain, if a button is pressed.
    fn follow(&mut self, by: DVec2, panel: &mut Panel) {
        let Some((button, _)) = self.pointer.pressed else { return };
        let Some((camera, frame)) = self.camera(&panel.options) else {
            return;
        };
        if self.pointer.keys.control_key() && self.draw_along(panel, &camera) {
            self.pointer.draws = true;
            return;
        }
        let Some(orbit) = &mut self.orbit else { return };
        panel.path.stay();
        if button == MouseButton::Left && !self.pointer.keys.shift_key() {
            orbit.turn(by / frame.size[1]);
        } else {
            orbit.pan(by, &camera);
        }
        self.note_move();
    }

    /// Drags the picked grain to the pointer at constant depth; returns whether there is a grain to drag.
    fn draw_along(&self, panel: &Panel, camera: &Camera) -> bool {
        let Some((place, scene)) = panel.position_of_picked().zip(self.scene.as_ref()) else {
            return false;
        };
        let Ok(snapshot) = scene.snapshot.here() else { return false };
        let (Some(controls), true) = (panel.within_reach(), place < snapshot.grains) else {
            return false;
        };
        let depth = camera.view(snapshot.center(&snapshot.balls[place])).z;
        let [right, up, forward] = camera.axes;
        let across = (self.pointer.at.x - camera.center[0]) / camera.focal;
        let above = (camera.center[1] - self.pointer.at.y) / camera.focal;
        let to = camera.eye + (right * across + up * above + forward) * depth;
        controls.reach_in(UserAction::Drag {
            id: snapshot.id[place],
            to: to.to_array(),
            within: DRAG,
        });
        true
    }

    /// Releases the dragged grain.
    fn let_go(&mut self, panel: &Panel) {
        if std::mem::take(&mut self.pointer.draws)
            && let Some(controls) = panel.within_reach()
        {
            controls.reach_in(UserAction::LetGo);
        }
    }

    /// Picks the particle under the pointer.
    fn pick(&mut self, panel: &mut Panel) {
        let at = self.pointer.at;
        let Some((camera, _)) = self.camera(&panel.options) else { return };
        let Some(scene) = &self.scene else { return };
        match scene.snapshot.here() {
            Ok(here) => panel.pick(here, pick::ball_at(here, &camera, [at.x, at.y], panel.options.cut)),
            Err(error) => panel.error = Some(error.to_string()),
        }
    }
}
