//! Energies and probes over time, and seconds per pass, on a panel.

use egui_plot::{Corner, Legend, Line, Plot, PlotPoints};

use crate::chart::Chart;

/// Points of a curve that are drawn, at most.
const MOST_POINTS: usize = 2000;

/// Shows charts, one below the other.
pub fn charts(ui: &mut egui::Ui, charts: &[Chart]) {
    for chart in charts {
        egui::CollapsingHeader::new(&chart.title)
            .default_open(charts.len() == 1)
            .show(ui, |ui| {
                for (index, panel) in chart.panels.iter().enumerate() {
                    ui.weak(&panel.vertical);
                    let legend = Legend::default()
                        .position(Corner::LeftTop)
                        .text_style(egui::TextStyle::Small)
                        .background_alpha(0.4);
                    let plot = Plot::new((&chart.title, index))
                        .height(200.0)
                        .legend(legend)
                        .allow_scroll(false)
                        .x_axis_label(&chart.horizontal);
                    plot.show(ui, |ui| {
                        // Energies of what a scene does not have would only crowd the legend.
                        for (name, points) in panel.curves.iter().filter(|(_, points)| points.iter().any(|(_, y)| *y != 0.0)) {
                            let some = points.iter().step_by(points.len().div_ceil(MOST_POINTS).max(1));
                            let points: PlotPoints = some.map(|&(x, y)| [x, y]).collect();
                            ui.line(Line::new(name.clone(), points));
                        }
                    });
                }
            });
    }
}

/// Shows seconds per pass as bars.
pub fn passes(ui: &mut egui::Ui, rows: &[(String, f64, String)]) {
    let longest = rows.iter().map(|(_, seconds, _)| *seconds).fold(f64::MIN_POSITIVE, f64::max);
    egui::Grid::new("passes").num_columns(3).striped(true).show(ui, |ui| {
        for (name, seconds, text) in rows {
            ui.label(name);
            let (area, _) = ui.allocate_exact_size(egui::vec2(90.0, 10.0), egui::Sense::hover());
            let end = area.left() + area.width() * (seconds / longest) as f32;
            let bar = egui::Rect::from_min_max(area.min, egui::pos2(end.max(area.left() + 1.0), area.bottom()));
            ui.painter().rect_filled(bar, 1.0, egui::Color32::from_rgb(46, 105, 168));
            ui.weak(text);
            ui.end_row();
        }
    });
}
