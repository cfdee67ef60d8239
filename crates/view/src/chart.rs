//! Charts as SVG and PNG: curves in stacked panels over one axis, bars, and time bars in lanes.

use std::sync::OnceLock;

use plotters::{
    coord::Shift,
    prelude::*,
    style::{
        register_font,
        text_anchor::{HPos, Pos, VPos},
    },
};

use crate::{
    ChartFormat, ViewError,
    canvas::Canvas,
    color::{self, Rgb},
    scale,
};

/// Width of every chart.
const WIDTH: f64 = 1200.0;
/// Drawing units per unit of length: backends take integers only, and curves need finer coordinates.
const FINE: f64 = 4.0;
/// Most columns along the width of a curve; more cannot be distinguished.
const COLUMNS: usize = 1000;
/// Vertical distance of panels.
const GAP: f64 = 64.0;
const GRID: Rgb = [226, 230, 235];

/// Name and points of a curve.
pub type Curve = (String, Vec<(f64, f64)>);

/// Curves over one horizontal axis.
pub struct Chart {
    /// Title.
    pub title: String,
    /// Quantity and unit of the horizontal axis.
    pub horizontal: String,
    /// Panels from top to bottom.
    pub panels: Vec<Panel>,
    /// Whether both axes are logarithmic; all numbers must then be positive.
    pub is_logarithmic: bool,
}

/// Curves that share a unit.
pub struct Panel {
    /// Quantity and unit of the vertical axis.
    pub vertical: String,
    /// Height.
    pub height: f64,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Measured data, drawn as points without a line.
    pub measured: Vec<Curve>,
}

/// Horizontal bars, one per row.
pub struct Bars {
    /// Title.
    pub title: String,
    /// Name, length, and the text behind the bar.
    pub rows: Vec<(String, f64, String)>,
}

/// Bars in lanes over one horizontal axis that begins at zero.
pub struct Lanes {
    /// Title.
    pub title: String,
    /// Quantity and unit of the horizontal axis.
    pub horizontal: String,
    /// End of the axis.
    pub length: f64,
    /// Names and bars of the lanes, from top to bottom.
    pub lanes: Vec<(String, Vec<Bar>)>,
    /// Names and colors of the kinds of bars.
    pub kinds: Vec<(String, Rgb)>,
}

/// A bar in a lane.
pub struct Bar {
    /// Index of its kind.
    pub kind: usize,
    /// Start and end along the axis.
    pub from: f64,
    pub to: f64,
}

/// A drawing on a sheet.
pub trait Drawing {
    /// Height of the sheet that it needs.
    fn height(&self) -> f64;
    /// Draws it.
    fn draw<B: DrawingBackend>(&self, sheet: &Sheet<B>) -> Result<(), ViewError>;
}

/// Encodes the drawing as a file.
pub fn encode(drawing: &impl Drawing, format: ChartFormat) -> Result<Vec<u8>, ViewError> {
    static FONT: OnceLock<()> = OnceLock::new();
    FONT.get_or_init(|| drop(register_font("sans-serif", FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)));
    let size = (fine(WIDTH) as u32, fine(drawing.height()) as u32);
    match format {
        ChartFormat::Svg => {
            let mut text = String::new();
            drawing.draw(&Sheet {
                area: SVGBackend::with_string(&mut text, size).into_drawing_area(),
                sink: 0.0,
            })?;
            // The fine units stay inside; the outer size is that of the chart.
            let shown = format!(r#"width="{WIDTH}" height="{}""#, drawing.height());
            Ok(text
                .replacen(&format!(r#"width="{}" height="{}""#, size.0, size.1), &shown, 1)
                .into_bytes())
        }
        ChartFormat::Png => {
            let mut canvas = Canvas {
                width: size.0,
                height: size.1,
                rgb: vec![255; 3 * size.0 as usize * size.1 as usize],
            };
            drawing.draw(&Sheet {
                area: BitMapBackend::with_buffer(&mut canvas.rgb, size).into_drawing_area(),
                sink: 0.17,
            })?;
            canvas.reduced(2).png()
        }
    }
}

fn fine(length: f64) -> i32 {
    (length * FINE).round() as i32
}

/// Drawing surface of charts.
pub struct Sheet<B: DrawingBackend> {
    area: DrawingArea<B, Shift>,
    /// Downward shift of text as a fraction of its size: the bitmap backend places text too high.
    sink: f64,
}

impl<B: DrawingBackend> Sheet<B> {
    fn rectangle(&self, [left, top]: [f64; 2], [right, bottom]: [f64; 2], color: Rgb) -> Result<(), ViewError> {
        let corners = [(fine(left), fine(top)), (fine(right), fine(bottom))];
        self.area.draw(&Rectangle::new(corners, rgb(color).filled())).map_err(failed)
    }

    fn curve(&self, points: impl Iterator<Item = [f64; 2]>, color: Rgb) -> Result<(), ViewError> {
        let points: Vec<(i32, i32)> = points.map(|[x, y]| (fine(x), fine(y))).collect();
        self.area
            .draw(&PathElement::new(points, rgb(color).stroke_width(fine(1.6) as u32)))
            .map_err(failed)
    }

    fn point(&self, [x, y]: [f64; 2], color: Rgb) -> Result<(), ViewError> {
        self.area
            .draw(&Circle::new((fine(x), fine(y)), fine(4.0), rgb(color).filled()))
            .map_err(failed)
    }

    /// Draws a line of text; `at` gives its middle height and the end that `align` names.
    fn text(&self, at: [f64; 2], size: f64, (color, align): (Rgb, HPos), text: &str) -> Result<(), ViewError> {
        let color = rgb(color);
        let style = TextStyle::from(("sans-serif", size * FINE * 1.24).into_font())
            .color(&color)
            .pos(Pos::new(align, VPos::Center));
        self.area
            .draw(&Text::new(text.to_string(), (fine(at[0]), fine(at[1] + self.sink * size)), style))
            .map_err(failed)
    }

    /// Draws color samples with their names behind, one below the other. The given point is the left end and middle height of the first sample.
    fn legend<'a>(&self, [left, top]: [f64; 2], thickness: f64, entries: impl Iterator<Item = (&'a str, Rgb)>) -> Result<(), ViewError> {
        for (index, (name, shade)) in entries.enumerate() {
            let y = top + 24.0 * index as f64;
            self.rectangle([left, y - 0.5 * thickness], [left + 22.0, y + 0.5 * thickness], shade)?;
            self.text([left + 32.0, y], 15.0, (color::INK, HPos::Left), name)?;
        }
        Ok(())
    }
}

fn rgb([red, green, blue]: Rgb) -> RGBColor {
    RGBColor(red, green, blue)
}

fn failed<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> ViewError {
    ViewError::Encoding(error.to_string())
}

/// A range with margins at both ends; it starts at zero if the values are near zero.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
    let (low, high) = if low > 0.0 && low < 0.5 * high { (0.0, high) } else { (low, high) };
    let room = if high - low > 1e-12 * high.abs() {
        0.06 * (high - low)
    } else {
        (0.1 * high.abs()).max(1e-300)
    };
    (
        if low == 0.0 { 0.0 } else { low - room },
        if high == 0.0 && low < 0.0 { 0.0 } else { high + room },
    )
}

/// An axis between two numbers, with its ticks.
struct Axis {
    low: f64,
    high: f64,
    is_logarithmic: bool,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    fn new(low: f64, high: f64, most: usize, is_logarithmic: bool) -> Axis {
        let (low, high) = match (low < high, is_logarithmic) {
            (true, _) => (low, high),
            (false, true) if low.is_finite() => (0.5 * low, 2.0 * low),
            (false, true) => (1.0, 10.0),
            (false, false) => (low.min(0.0), low.max(0.0) + 1.0),
        };
        let ticks = if is_logarithmic {
            let ticks = scale::logarithmic_ticks(low, high);
            ticks.into_iter().map(|tick| (tick, scale::digits(tick, 3))).collect()
        } else {
            let (ticks, step) = scale::ticks(low, high, most);
            ticks.into_iter().map(|tick| (tick, scale::number(tick, step))).collect()
        };
        Axis {
            low,
            high,
            is_logarithmic,
            ticks,
        }
    }

    /// Relative position of a number along the axis, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        if self.is_logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

/// The highest and lowest point of each column, in the order of the points.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= 3 * COLUMNS {
        return points.to_vec();
    }
    let ends = |column: &[(f64, f64)]| {
        let by_height = |a: &(usize, &(f64, f64)), b: &(usize, &(f64, f64))| a.1.1.total_cmp(&b.1.1);
        let lowest = column.iter().enumerate().min_by(by_height).map_or(0, |(i, _)| i);
        let highest = column.iter().enumerate().max_by(by_height).map_or(0, |(i, _)| i);
        [lowest.min(highest), lowest.max(highest)].map(|i| column[i])
    };
    points.chunks(points.len().div_ceil(COLUMNS)).flat_map(ends).collect()
}

impl Drawing for Chart {
    fn height(&self) -> f64 {
        116.0 + self.panels.iter().map(|panel| panel.height + GAP).sum::<f64>()
    }

    fn draw<B: DrawingBackend>(&self, sheet: &Sheet<B>) -> Result<(), ViewError> {
        sheet.rectangle([0.0, 0.0], [WIDTH, self.height()], [255; 3])?;
        sheet.text([40.0, 42.0], 25.0, (color::INK, HPos::Left), &self.title)?;
        let names = self.panels.iter().filter(|panel| panel.has_names()).flat_map(Panel::all);
        let longest = names.map(|(name, _)| name.chars().count()).max();
        // Room for the names; about 8 per letter.
        let room = longest.map_or(50.0, |letters| (60.0 + 8.0 * letters as f64).clamp(230.0, 500.0));
        let (left, right) = (100.0, WIDTH - room);
        let points = self.panels.iter().flat_map(Panel::all).flat_map(|(_, points)| points);
        let times = points.map(|point| point.0);
        let (start, end) = times.fold((f64::INFINITY, f64::NEG_INFINITY), |(start, end), time| {
            (start.min(time), end.max(time))
        });
        let times = Axis::new(start, end, 8, self.is_logarithmic);
        let across = |time: f64| left + times.part(time) * (right - left);
        let mut top = 115.0;
        for panel in &self.panels {
            let bottom = top + panel.height;
            for &(time, _) in &times.ticks {
                sheet.rectangle([across(time) - 0.5, top], [across(time) + 0.5, bottom], GRID)?;
            }
            panel.draw(sheet, [top, bottom], [left, right], across, self.is_logarithmic)?;
            top = bottom + GAP;
        }
        let bottom = top - GAP;
        for (time, label) in &times.ticks {
            sheet.text([across(*time), bottom + 20.0], 15.0, (color::FAINT_INK, HPos::Center), label)?;
        }
        sheet.text([right, bottom + 44.0], 16.0, (color::INK, HPos::Right), &self.horizontal)
    }
}

impl Panel {
    /// Curves, then measured data.
    fn all(&self) -> impl Iterator<Item = &Curve> {
        self.curves.iter().chain(&self.measured)
    }

    /// Whether the names stand beside the panel; that of a single curve is the name of the axis.
    fn has_names(&self) -> bool {
        self.all().count() > 1
    }

    fn draw<B: DrawingBackend>(
        &self,
        sheet: &Sheet<B>,
        [top, bottom]: [f64; 2],
        [left, right]: [f64; 2],
        across: impl Fn(f64) -> f64,
        is_logarithmic: bool,
    ) -> Result<(), ViewError> {
        let values = self.all().flat_map(|(_, points)| points).map(|point| point.1);
        let (low, high) = if is_logarithmic {
            values.fold((f64::INFINITY, 0.0), |(low, high), value| (value.min(low), value.max(high)))
        } else {
            range(values)
        };
        let axis = Axis::new(low, high, (self.height / 50.0).max(4.0) as usize, is_logarithmic);
        let up = |value: f64| bottom - axis.part(value) * (bottom - top);
        for &(tick, ref label) in &axis.ticks {
            let y = up(tick);
            let shade = if tick == 0.0 { color::FAINT_INK } else { GRID };
            sheet.rectangle([left, y - 0.5], [right, y + 0.5], shade)?;
            sheet.text([left - 12.0, y], 15.0, (color::FAINT_INK, HPos::Right), label)?;
        }
        sheet.text([left, top - 22.0], 16.0, (color::INK, HPos::Left), &self.vertical)?;
        for (index, (_, points)) in self.curves.iter().enumerate() {
            sheet.curve(
                thinned(points).into_iter().map(|(time, value)| [across(time), up(value)]),
                color::distinct(index),
            )?;
        }
        for (index, (_, points)) in self.measured.iter().enumerate() {
            let color = color::distinct(self.curves.len() + index);
            for &(time, value) in points {
                sheet.point([across(time), up(value)], color)?;
            }
        }
        if self.has_names() {
            let names = self.all().enumerate();
            let entries = names.map(|(index, (name, _))| (name.as_str(), color::distinct(index)));
            sheet.legend([right + 22.0, top + 10.0], 3.0, entries)?;
        }
        Ok(())
    }
}

impl Drawing for Bars {
    fn height(&self) -> f64 {
        110.0 + 34.0 * self.rows.len() as f64
    }

    fn draw<B: DrawingBackend>(&self, sheet: &Sheet<B>) -> Result<(), ViewError> {
        sheet.rectangle([0.0, 0.0], [WIDTH, self.height()], [255; 3])?;
        sheet.text([40.0, 42.0], 25.0, (color::INK, HPos::Left), &self.title)?;
        let longest = self.rows.iter().map(|row| row.1).fold(f64::MIN_POSITIVE, f64::max);
        for (index, (name, length, text)) in self.rows.iter().enumerate() {
            let y = 100.0 + 34.0 * index as f64;
            let end = 230.0 + (length / longest).max(0.0) * (WIDTH - 540.0);
            sheet.text([216.0, y], 16.0, (color::INK, HPos::Right), name)?;
            sheet.rectangle([230.0, y - 10.0], [end.max(231.0), y + 10.0], color::distinct(0))?;
            sheet.text([end + 12.0, y], 15.0, (color::FAINT_INK, HPos::Left), text)?;
        }
        Ok(())
    }
}

impl Drawing for Lanes {
    fn height(&self) -> f64 {
        154.0 + (96.0 * self.lanes.len() as f64).max(24.0 * self.kinds.len() as f64)
    }

    fn draw<B: DrawingBackend>(&self, sheet: &Sheet<B>) -> Result<(), ViewError> {
        sheet.rectangle([0.0, 0.0], [WIDTH, self.height()], [255; 3])?;
        sheet.text([40.0, 42.0], 25.0, (color::INK, HPos::Left), &self.title)?;
        let (left, right, top, bottom) = (100.0, WIDTH - 230.0, 90.0, self.height() - 64.0);
        let axis = Axis::new(0.0, self.length, 8, false);
        let across = |value: f64| left + axis.part(value) * (right - left);
        for (tick, label) in &axis.ticks {
            let x = across(*tick);
            sheet.rectangle([x - 0.5, top], [x + 0.5, bottom], GRID)?;
            sheet.text([x, bottom + 20.0], 15.0, (color::FAINT_INK, HPos::Center), label)?;
        }
        let pitch = (bottom - top) / self.lanes.len() as f64;
        for (index, (name, bars)) in self.lanes.iter().enumerate() {
            let (middle, half) = (top + (index as f64 + 0.5) * pitch, 0.36 * pitch);
            sheet.text([left - 12.0, middle], 16.0, (color::INK, HPos::Right), name)?;
            for bar in bars {
                // Draw a very short bar as a line.
                let (begin, end) = (across(bar.from), across(bar.to).max(across(bar.from) + 0.5));
                sheet.rectangle([begin, middle - half], [end, middle + half], self.kinds[bar.kind].1)?;
            }
        }
        let entries = self.kinds.iter().map(|(name, shade)| (name.as_str(), *shade));
        sheet.legend([right + 22.0, top + 10.0], 14.0, entries)?;
        sheet.text([right, bottom + 44.0], 16.0, (color::INK, HPos::Right), &self.horizontal)
    }
}
