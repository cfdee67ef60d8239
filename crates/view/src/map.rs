//! A picture of a field on a plane, with color bar and axes.

use crate::{
    ViewError,
    canvas::Canvas,
    color,
    coloring::{Coloring, Legend},
    overlay::Overlay,
    text::TextWriter,
};

/// Values at the points of a regular grid on a plane, with their meaning.
#[derive(Clone, Debug)]
pub struct Map<'a> {
    /// Title.
    pub title: &'a str,
    /// Time \[s\].
    pub time: f64,
    /// Description of the plane.
    pub plane: &'a str,
    /// Names of the horizontal and vertical axis.
    pub axes: [&'a str; 2],
    /// The first point \[m\].
    pub origin: [f64; 2],
    /// Grid spacing \[m\].
    pub spacing: f64,
    /// Number of points in horizontal and vertical direction.
    pub points: [usize; 2],
    /// One value per point, row by row; NaN is left blank.
    pub values: &'a [f64],
    /// Name of the field.
    pub field: &'a str,
    /// Unit of the field; empty for a dimensionless number.
    pub unit: &'a str,
    /// Range of the color scale; `None` = range of the values.
    pub range: Option<(f64, f64)>,
}

impl Map<'_> {
    /// The interpolated value at a position in grid spacings from the first point. Only finite values of the four nearest points count.
    fn at(&self, [x, y]: [f64; 2]) -> Option<f64> {
        let base = [x, y].map(|place| place.floor());
        let (mut sum, mut weights) = (0.0, 0.0);
        for corner in 0..4 {
            let step = [f64::from(corner & 1), f64::from(corner >> 1)];
            let place = [base[0] + step[0], base[1] + step[1]];
            let [column, row] = [0, 1].map(|axis| (place[axis].max(0.0) as usize).min(self.points[axis] - 1));
            let value = self.values[row * self.points[0] + column];
            let weight = (1.0 - (x - place[0]).abs()) * (1.0 - (y - place[1]).abs());
            if value.is_finite() {
                sum += value * weight;
                weights += weight;
            }
        }
        // The edge of a blank area runs halfway between points.
        (weights >= 0.5).then_some(sum / weights)
    }
}

/// The map as a PNG image, `size` pixels wide and high.
pub fn map(map: &Map, size: (u32, u32)) -> Result<Vec<u8>, ViewError> {
    ViewError::check_size(size)?;
    if let Some((low, high)) = map.range.filter(|(low, high)| !(low < high && (high - low).is_finite())) {
        return Err(ViewError::Range(low, high));
    }
    let pen = TextWriter::new()?;
    let mut canvas = Canvas {
        width: size.0,
        height: size.1,
        rgb: vec![255; 3 * size.0 as usize * size.1 as usize],
    };
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    let unit = height.min(width / 1.25) / 1000.0;
    let coloring = Coloring::scaled(map.values, map.field, map.unit, map.range);
    let Legend::Scale { range: (low, high), .. } = coloring.legend else {
        return Ok(Vec::new());
    };
    // Each point represents the square around it; both axes have the same scale.
    let extent = map.points.map(|points| points as f64 * map.spacing);
    let (room, corner) = ([width - 380.0 * unit, height - 270.0 * unit], [130.0 * unit, 160.0 * unit]);
    let scale = (room[0] / extent[0]).min(room[1] / extent[1]);
    let sides = extent.map(|side| side * scale);
    let start = [0, 1].map(|axis| corner[axis] + 0.5 * (room[axis] - sides[axis]));
    for row in start[1] as i64..(start[1] + sides[1]) as i64 {
        for column in start[0] as i64..(start[0] + sides[0]) as i64 {
            let right = (column as f64 + 0.5 - start[0]) / (scale * map.spacing) - 0.5;
            let up = (start[1] + sides[1] - row as f64 - 0.5) / (scale * map.spacing) - 0.5;
            let shade = map
                .at([right, up])
                .map_or(color::GROUND, |value| color::viridis((value - low) / (high - low)));
            canvas.blend(column, row, shade, 1.0);
        }
    }
    let mut board = Overlay {
        canvas: &mut canvas,
        pen: &pen,
        unit: unit as f32,
    };
    board.heading(map.title, map.time, map.plane);
    board.legend(&coloring.legend);
    let in_units = |x: f64| (x / unit) as f32;
    let ends = [0, 1].map(|axis| {
        let first = map.origin[axis] - 0.5 * map.spacing;
        [first, first + extent[axis]]
    });
    board.axes(
        start.map(in_units),
        [start[0] + sides[0], start[1] + sides[1]].map(in_units),
        map.axes,
        ends,
    );
    canvas.png()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_where_their_places_say_and_what_is_no_number_is_blank() {
        let drawn = Map {
            title: "map",
            time: 0.0,
            plane: "y = 0",
            axes: ["x", "z"],
            origin: [0.5e-3; 2],
            spacing: 1e-3,
            points: [2, 2],
            values: &[0.0, 1.0, f64::NAN, 1.0],
            field: "solid_fraction",
            unit: "",
            range: None,
        };
        let bytes = map(&drawn, (600, 480)).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; 600 * 480 * 3];
        reader.next_frame(&mut pixels).unwrap();
        // Left, right, top and bottom of the pixels with this color, without the legend on the right.
        let bounds = |color: [u8; 3]| {
            let places = (0..600 * 480).filter(|k| k % 600 < 440 && pixels[3 * k..3 * k + 3] == color);
            places.fold([usize::MAX, 0, usize::MAX, 0], |[left, right, top, bottom], k| {
                let (x, y) = (k % 600, k / 600);
                [left.min(x), right.max(x), top.min(y), bottom.max(y)]
            })
        };
        let (low, high, blank) = (bounds(color::viridis(0.0)), bounds(color::viridis(1.0)), bounds(color::GROUND));
        assert!(
            low[1] < high[0] && blank[1] < high[0],
            "x grows to the right: {low:?} {high:?} {blank:?}"
        );
        assert!(blank[3] < low[2], "z grows upwards: {low:?} {blank:?}");
        assert!(high[3] > low[2] && high[2] < blank[3], "{high:?}");
        let wrong = Map {
            range: Some((1.0, 1.0)),
            ..drawn.clone()
        };
        assert!(matches!(map(&wrong, (600, 480)), Err(ViewError::Range(..))));
        assert!(matches!(map(&drawn, (6, 480)), Err(ViewError::Size { .. })));
    }
}
