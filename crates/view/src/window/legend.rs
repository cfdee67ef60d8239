//! The legend on a panel.

use crate::{color, coloring::Legend, scale};

/// Height of the color bar in points.
const BAR: f32 = 14.0;

/// Draws a legend.
pub fn legend(ui: &mut egui::Ui, legend: &Legend) {
    let rgb = |[red, green, blue]: color::Rgb| egui::Color32::from_rgb(red, green, blue);
    match legend {
        Legend::Scale {
            name,
            unit,
            range,
            goes_on,
        } => {
            let (unit, marks) = scale::marks(*range, unit, 4);
            ui.label(scale::with_unit(&name.replace('_', " "), &unit));
            let width = ui.available_width() - 16.0;
            let (area, _) = ui.allocate_exact_size(egui::vec2(width, BAR + 18.0), egui::Sense::hover());
            let painter = ui.painter();
            let steps = 64;
            for k in 0..steps {
                let [from, to] = [k, k + 1].map(|k| area.left() + width * k as f32 / steps as f32);
                let part = egui::Rect::from_min_max(egui::pos2(from, area.top()), egui::pos2(to + 0.5, area.top() + BAR));
                painter.rect_filled(part, 0.0, rgb(color::viridis((k as f64 + 0.5) / f64::from(steps))));
            }
            for (part, text) in marks {
                let x = area.left() + width * part as f32;
                let line = [egui::pos2(x, area.top() + BAR), egui::pos2(x, area.top() + BAR + 4.0)];
                painter.line_segment(line, egui::Stroke::new(1.0, rgb(color::FAINT_INK)));
                let font = egui::FontId::proportional(11.0);
                let at = egui::pos2(x, area.top() + BAR + 4.0);
                painter.text(at, egui::Align2::CENTER_TOP, text, font, rgb(color::INK));
            }
            if goes_on.contains(&true) {
                ui.weak(match goes_on {
                    [true, true] => "some lie below and above",
                    [true, false] => "some lie below",
                    _ => "some lie above",
                });
            }
        }
        Legend::Classes { name, classes } => {
            ui.label(name.replace('_', " "));
            ui.horizontal_wrapped(|ui| {
                for (label, shade) in classes.iter().take(24) {
                    let (area, _) = ui.allocate_exact_size(egui::vec2(12.0, 12.0), egui::Sense::hover());
                    ui.painter().rect_filled(area, 2.0, rgb(*shade));
                    ui.label(label);
                }
            });
        }
    }
}
