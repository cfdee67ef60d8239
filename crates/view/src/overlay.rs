//! Text around the scene: heading, legend, scale bar.

use crate::{
    canvas::Canvas,
    color::{self, Rgb},
    coloring::Legend,
    scale,
    text::{Align, Style, TextWriter},
};

/// Draws text around the scene; all lengths are in thousandths of the picture height.
pub struct Overlay<'a> {
    /// Canvas to draw on.
    pub canvas: &'a mut Canvas,
    /// Writer of text.
    pub pen: &'a TextWriter,
    /// Length of one unit \[px\].
    pub unit: f32,
}

impl Overlay<'_> {
    fn write(&mut self, [x, y]: [f32; 2], size: f32, (color, align): (Rgb, Align), text: &str) {
        let style = Style {
            size: size * self.unit,
            color,
            align,
        };
        self.pen.write(self.canvas, [x * self.unit, y * self.unit], style, text);
    }

    fn fill(&mut self, from: [f32; 2], to: [f32; 2], color: Rgb) {
        self.canvas.fill(from.map(|x| x * self.unit), to.map(|x| x * self.unit), color);
    }

    fn width(&self) -> f32 {
        self.canvas.width as f32 / self.unit
    }

    fn height(&self) -> f32 {
        self.canvas.height as f32 / self.unit
    }

    /// Draws title, time and a description of the contents.
    pub fn heading(&mut self, title: &str, time: f64, seen: &str) {
        self.write([44.0, 66.0], 38.0, (color::INK, Align::Left), title);
        let (factor, unit) = scale::readable(time, "s");
        let time = scale::digits(time * factor, 4);
        let line = format!("t = {time} {unit}   ·   {seen}");
        self.write([45.0, 102.0], 23.0, (color::FAINT_INK, Align::Left), &line);
    }

    /// Draws a frame between two corners, with round numbers along its lower and left side. `names` are the axis names, `ends` the positions at the
    /// ends of each axis \[m\].
    pub fn axes(&mut self, [left, top]: [f32; 2], [right, bottom]: [f32; 2], names: [&str; 2], ends: [[f64; 2]; 2]) {
        for [from, to] in [
            [[left, top - 1.0], [right, top]],
            [[left, bottom], [right, bottom + 1.0]],
            [[left - 1.0, top], [left, bottom]],
            [[right, top], [right + 1.0, bottom]],
        ] {
            self.fill(from, to, color::FAINT_INK);
        }
        let largest = ends.as_flattened().iter().fold(0.0, |most: f64, end| most.max(end.abs()));
        let (factor, unit) = scale::readable(largest, "m");
        for (axis, [low, high]) in ends.into_iter().enumerate() {
            let length = if axis == 0 { right - left } else { bottom - top };
            let most = ((length / 110.0) as usize).clamp(2, 8);
            let (ticks, step) = scale::ticks(low * factor, high * factor, most);
            for tick in ticks {
                let along = ((tick / factor - low) / (high - low)) as f32 * length;
                let text = scale::number(tick, step);
                if axis == 0 {
                    let x = left + along;
                    self.fill([x - 0.75, bottom], [x + 0.75, bottom + 8.0], color::FAINT_INK);
                    self.write([x, bottom + 32.0], 22.0, (color::INK, Align::Center), &text);
                } else {
                    let y = bottom - along;
                    self.fill([left - 8.0, y - 0.75], [left, y + 0.75], color::FAINT_INK);
                    let aside = left - 16.0 - self.pen.width(&text, 22.0);
                    self.write([aside, y + 7.0], 22.0, (color::INK, Align::Left), &text);
                }
            }
        }
        let [across, up] = names.map(|name| scale::with_unit(name, &unit));
        self.write([0.5 * (left + right), bottom + 66.0], 24.0, (color::INK, Align::Center), &across);
        self.write([left - 40.0, top - 18.0], 24.0, (color::INK, Align::Left), &up);
    }

    /// Draws the legend at the right edge.
    pub fn legend(&mut self, legend: &Legend) {
        let (left, middle) = (self.width() - 150.0, self.height() / 2.0);
        match legend {
            Legend::Scale {
                name,
                unit,
                range,
                goes_on,
            } => {
                let (unit, marks) = scale::marks(*range, unit, 6);
                let (top, bottom) = (middle - 230.0, middle + 230.0);
                self.name(name, &unit, top - if goes_on[1] { 14.0 } else { 0.0 });
                for (end, outward, shade) in [(bottom, 1.0, color::viridis(0.0)), (top, -1.0, color::viridis(1.0))] {
                    if goes_on[usize::from(outward < 0.0)] {
                        self.tip([left, end], outward, shade);
                    }
                }
                for i in 0..460 {
                    let shade = color::viridis(1.0 - (f64::from(i) + 0.5) / 460.0);
                    let y = top + i as f32;
                    self.fill([left, y], [left + 20.0, (y + 1.5).min(bottom)], shade);
                }
                for (part, text) in marks {
                    let y = bottom - part as f32 * (bottom - top);
                    self.fill([left + 20.0, y - 0.75], [left + 27.0, y + 0.75], color::FAINT_INK);
                    self.write([left + 34.0, y + 7.0], 22.0, (color::INK, Align::Left), &text);
                }
            }
            Legend::Classes { name, classes } => {
                let shown = &classes[..classes.len().min(12)];
                let widest = shown.iter().map(|(label, _)| self.pen.width(label, 22.0)).fold(0.0, f32::max);
                let left = left.min(self.width() - 42.0 - widest);
                let top = middle - 18.0 * shown.len() as f32;
                self.name(name, "", top);
                for (i, (label, shade)) in shown.iter().enumerate() {
                    let y = top + 36.0 * i as f32;
                    self.fill([left, y], [left + 20.0, y + 20.0], *shade);
                    self.write([left + 32.0, y + 17.0], 22.0, (color::INK, Align::Left), label);
                }
            }
        }
    }

    /// Draws a tip at the end of a scale: some values lie beyond it.
    fn tip(&mut self, [left, end]: [f32; 2], outward: f32, shade: Rgb) {
        for row in 0..14 {
            let (inset, y) = (row as f32 * 10.0 / 14.0, end + outward * row as f32);
            self.fill([left + inset, y.min(y + outward)], [left + 20.0 - inset, y.max(y + outward)], shade);
        }
    }

    /// Draws the name of a field above its legend. The unit has its own line if both are too long for one.
    fn name(&mut self, name: &str, unit: &str, top: f32) {
        let left = self.width() - 150.0;
        let text = scale::with_unit(&name.replace('_', " "), unit);
        if self.pen.width(&text, 24.0) < 140.0 || unit.is_empty() {
            let left = left.min(self.width() - 10.0 - self.pen.width(&text, 24.0));
            self.write([left, top - 24.0], 24.0, (color::INK, Align::Left), &text);
        } else {
            let name = name.replace('_', " ");
            let aside = left.min(self.width() - 10.0 - self.pen.width(&name, 24.0));
            self.write([aside, top - 52.0], 24.0, (color::INK, Align::Left), &name);
            self.write([left, top - 24.0], 24.0, (color::INK, Align::Left), &format!("[{unit}]"));
        }
    }

    /// Draws a scale bar of round length. It is correct at the middle of the scene, where a pixel is `meters` wide.
    pub fn scale_bar(&mut self, meters: f64, room: f64) {
        let (length, label) = scale::bar(meters, room);
        let pixels = length as f32 / self.unit;
        let (left, base) = (45.0, self.height() - 44.0);
        self.fill([left, base - 1.5], [left + pixels, base + 1.5], color::INK);
        for x in [left, left + pixels] {
            self.fill([x - 1.25, base - 8.0], [x + 1.25, base + 8.0], color::INK);
        }
        self.write([left + pixels / 2.0, base - 16.0], 23.0, (color::INK, Align::Center), &label);
    }
}
