//! Energies and probes over time, and seconds per pass, on a panel.

use egui_plot::{Corner, Legend, Line, Plot, PlotPoints, VLine};

use crate::{chart::Chart, scale};

/// Most points of a curve that are drawn.
const MAX_POINTS: usize = 2000;
/// Color of the line at the current time.
const NOW: egui::Color32 = egui::Color32::from_gray(120);

/// Reduces long curves to the lowest and highest point of each of many parts, so that peaks remain.
pub fn thin(charts: &mut [Chart]) {
    let panels = charts.iter_mut().flat_map(|chart| &mut chart.panels);
    for (_, points) in panels.flat_map(|panel| &mut panel.curves) {
        if points.len() <= MAX_POINTS {
            continue;
        }
        let length = points.len().div_ceil(MAX_POINTS / 2);
        let ends = |part: &[(f64, f64)]| {
            let by_height = |a: &usize, b: &usize| part[*a].1.total_cmp(&part[*b].1);
            let low = (0..part.len()).min_by(by_height).unwrap_or(0);
            let high = (0..part.len()).max_by(by_height).unwrap_or(0);
            [low.min(high), low.max(high)].map(|place| part[place])
        };
        *points = points.chunks(length).flat_map(ends).collect();
    }
}

/// Draws charts one below the other, with a line at this time \[s\].
pub fn charts(ui: &mut egui::Ui, charts: &[Chart], time: f64) {
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
                        if let Some(now) = on_axis(&chart.horizontal, time) {
                            ui.vline(VLine::new("", now).color(NOW).allow_hover(false));
                        }
                        for (name, points) in &panel.curves {
                            let points: PlotPoints = points.iter().map(|&(x, y)| [x, y]).collect();
                            ui.line(Line::new(name.clone(), points));
                        }
                    });
                }
            });
    }
}

/// A time \[s\] in the unit of an axis such as `time [ms]`; `None` for other axes.
fn on_axis(horizontal: &str, time: f64) -> Option<f64> {
    let (_, unit) = horizontal.split_once('[')?;
    Some(time * factor_to(unit.trim_end_matches(']'), "s")?)
}

/// The factor from a unit to one that [`scale::readable`] returns for it; `None` if it never does.
fn factor_to(readable_unit: &str, unit: &str) -> Option<f64> {
    (-4..=4).find_map(|power| {
        let (factor, known) = scale::readable(1.5 * 1000f64.powi(power), unit);
        (known == readable_unit).then_some(factor)
    })
}

/// Draws seconds per pass as bars.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Panel;

    #[test]
    fn the_factor_of_a_unit_that_reads_well_is_found_again() {
        for extent in [3e-11, 0.0024, 0.5, 77.0, 4e4] {
            let (factor, unit) = scale::readable(extent, "s");
            assert_eq!(factor_to(&unit, "s"), Some(factor), "{unit}");
        }
        assert_eq!(factor_to("m/s", "s"), None);
    }

    #[test]
    fn a_peak_of_one_point_is_seen_among_very_many() {
        let mut curve: Vec<(f64, f64)> = (0..1_000_003).map(|k| (f64::from(k), 1.0 + f64::from(k) / 1e9)).collect();
        (curve[123_457].1, curve[777_777].1) = (50.0, -7.0);
        let panel = Panel {
            vertical: String::new(),
            height: 100.0,
            curves: vec![("long".to_owned(), curve), ("short".to_owned(), vec![(0.0, 3.0), (1.0, 2.0)])],
            measured: Vec::new(),
        };
        let mut charts = [Chart {
            title: String::new(),
            horizontal: "time [ms]".to_owned(),
            panels: vec![panel],
            is_logarithmic: false,
        }];
        thin(&mut charts);
        let [(_, long), (_, short)] = &*charts[0].panels[0].curves else {
            panic!("two curves")
        };
        assert!(long.len() <= MAX_POINTS, "{}", long.len());
        assert!(long.contains(&(123_457.0, 50.0)) && long.contains(&(777_777.0, -7.0)));
        assert!(long.is_sorted_by(|a, b| a.0 <= b.0));
        assert_eq!(short, &[(0.0, 3.0), (1.0, 2.0)]);
        assert_eq!(on_axis("time [ms]", 0.0125), Some(12.5));
        assert_eq!(on_axis("distance [m]", 1.0), None);
        assert_eq!(on_axis("step", 1.0), None);
    }
}
