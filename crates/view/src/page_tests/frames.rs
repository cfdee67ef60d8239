//! Frames as a page reads them, compared with the originals.

use glam::DVec3;
use tungstenite::Message;

use super::{asked, heap, opened, socket};
use crate::{
    Snapshot,
    coloring::{Legend, SCALE},
    render::{Pane, Rod},
};

/// A frame as a page reads it.
pub struct Frame {
    pub number: u64,
    frames: u32,
    time: f64,
    /// Grains, fluid particles, balls, solid balls, rods, panes, and n if one of n balls and rods was sent.
    pub counts: [u32; 7],
    /// Quantum of positions of balls and rods.
    pub quantum: [f64; 3],
    /// Powers of two between successive levels of radii, of balls and of rods.
    pub steps: [f64; 2],
    /// Quantum of positions of panes.
    pub quantum_of_panes: [f64; 3],
    pub picked: Option<(DVec3, f64)>,
    pub texts: [String; 6],
    pub offered: Vec<String>,
    pub fields: Vec<String>,
    pub legend: String,
    ticks: Vec<(f32, String)>,
    pub palette: Vec<[u8; 3]>,
    /// Triangles of each wall and number of edges, if the frame contains them.
    walls: Option<(Vec<Vec<[DVec3; 3]>>, usize)>,
    /// Center and radius; `None` if not drawn.
    pub balls: Vec<Option<(DVec3, f64)>>,
    pub shade: Vec<u8>,
    /// `None` if not drawn.
    pub rods: Vec<Option<Line>>,
    pub panes: Vec<[Corner; 3]>,
}

/// A rod: its ends, radius and color.
pub type Line = ([DVec3; 2], f64, [u8; 3]);

/// A corner of a pane: its place, normal and color.
pub type Corner = (DVec3, DVec3, [u8; 3]);

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take<const LENGTH: usize>(&mut self) -> [u8; LENGTH] {
        self.at += LENGTH;
        self.bytes[self.at - LENGTH..self.at].try_into().unwrap()
    }

    fn short(&mut self) -> usize {
        u16::from_le_bytes(self.take()).into()
    }

    fn whole(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn single(&mut self) -> f64 {
        f32::from_le_bytes(self.take()).into()
    }

    fn double(&mut self) -> f64 {
        f64::from_le_bytes(self.take())
    }

    fn text(&mut self) -> String {
        let length = self.whole() as usize;
        self.at += length;
        String::from_utf8(self.bytes[self.at - length..self.at].to_vec()).unwrap()
    }

    fn list<T>(&mut self, read: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.short()).map(|_| read(self)).collect()
    }

    fn singles(&mut self) -> DVec3 {
        DVec3::new(self.single(), self.single(), self.single())
    }

    fn doubles(&mut self) -> DVec3 {
        DVec3::new(self.double(), self.double(), self.double())
    }

    /// A position on a grid.
    fn place(&mut self, low: DVec3, quantum: DVec3) -> DVec3 {
        low + quantum * DVec3::from([(); 3].map(|()| self.short() as f64))
    }

    fn align(&mut self) {
        self.at = self.at.next_multiple_of(4);
    }

    fn walls(&mut self, low: DVec3) -> (Vec<Vec<[DVec3; 3]>>, usize) {
        let sizes: Vec<u32> = (0..self.whole()).map(|_| self.whole()).collect();
        let edges = self.whole() as usize;
        self.align();
        let mut walls: Vec<Vec<[DVec3; 3]>> = Vec::new();
        for size in sizes {
            walls.push((0..size).map(|_| [(); 3].map(|()| low + self.singles())).collect());
        }
        for _ in 0..2 * edges {
            self.singles();
        }
        (walls, edges)
    }
}

/// Decodes the frame in a message and checks that no bytes are left.
pub fn read(message: &Message) -> Frame {
    let Message::Binary(bytes) = message else {
        panic!("no frame: {message}")
    };
    let mut reader = Reader { bytes, at: 0 };
    assert_eq!(&reader.take::<4>(), b"SXF3");
    let number = u64::from_le_bytes(reader.take());
    let (frames, time) = (reader.whole(), reader.double());
    let counts = [(); 7].map(|()| reader.whole());
    let (low, quantum) = (reader.doubles(), reader.singles());
    let [smallest, in_radius, thinnest, in_thickness] = [(); 4].map(|()| reader.single());
    let (low_of_panes, quantum_of_panes) = (reader.doubles(), reader.singles());
    let picked = (low + reader.singles(), reader.single());
    let texts = [(); 6].map(|()| reader.text());
    let [offered, fields] = [(); 2].map(|()| reader.list(Reader::text));
    let is_scale = reader.take::<1>() == [0];
    let mut legend = reader.text();
    let mut ticks = Vec::new();
    if is_scale {
        legend = format!("{legend}|{}|{}|{}", reader.text(), reader.double(), reader.double());
        legend += &format!("|{:?}", reader.take::<2>());
        ticks = reader.list(|reader| (reader.single() as f32, reader.text()));
        assert_eq!(reader.short(), SCALE);
    } else {
        legend += &format!("|{:?}", reader.list(|reader| (reader.text(), reader.take::<3>())));
    }
    let palette = reader.list(Reader::take::<3>);
    let has_walls = reader.take::<1>() == [1];
    let walls = has_walls.then(|| reader.walls(low));
    reader.align();
    let [count, rods, panes] = [2, 4, 5].map(|place| counts[place] as usize);
    let planes = [(); 3].map(|()| {
        assert_eq!(reader.at % 4, 0);
        let plane: Vec<f64> = (0..count).map(|_| reader.short() as f64).collect();
        reader.align();
        plane
    });
    let radii: Vec<u8> = (0..count).map(|_| reader.take::<1>()[0]).collect();
    reader.align();
    let shade = (0..count).map(|_| reader.take::<1>()[0]).collect();
    reader.align();
    let ball = |place: usize| {
        let level = radii[place].checked_sub(1)?;
        let center = low + quantum * DVec3::from([0, 1, 2].map(|axis| planes[axis][place]));
        Some((center, smallest * (in_radius * f64::from(level)).exp2()))
    };
    let balls = (0..count).map(ball).collect();
    let ends: Vec<[DVec3; 2]> = (0..rods).map(|_| [(); 2].map(|()| reader.place(low, quantum))).collect();
    let painted = |ends: [DVec3; 2]| {
        let [red, green, blue, level] = reader.take();
        let radius = thinnest * (in_thickness * f64::from(level.checked_sub(1)?)).exp2();
        Some((ends, radius, [red, green, blue]))
    };
    let rods = ends.into_iter().map(painted).collect();
    let mut corner = || {
        let place = reader.place(low_of_panes, quantum_of_panes);
        let normal = DVec3::from(reader.take::<3>().map(|part| f64::from(part as i8) / 127.0));
        (place, normal, reader.take::<3>())
    };
    let panes = (0..panes).map(|_| [(); 3].map(|()| corner())).collect();
    assert_eq!(reader.at, bytes.len());
    Frame {
        number,
        frames,
        time,
        counts,
        quantum: quantum.to_array(),
        steps: [in_radius, in_thickness],
        quantum_of_panes: quantum_of_panes.to_array(),
        picked: (!picked.1.is_nan()).then_some(picked),
        texts,
        offered,
        fields,
        legend,
        ticks,
        palette,
        walls,
        balls,
        shade,
        rods,
        panes,
    }
}

/// Asserts that a radius is wrong by at most half of the step between levels.
pub fn assert_radius(found: f64, radius: f64, step: f64) {
    assert!((found / radius).log2().abs() <= 0.5 * step + 1e-9, "{found} is not {radius}");
}

#[test]
fn frames_arrive_within_half_a_quantum_and_ten_bytes_a_particle() {
    const COUNT: usize = 20_000;
    let mut moved = heap(2, COUNT);
    moved.walls[1][0][2] += DVec3::new(0.0, 0.0, 1e-9);
    let originals = [heap(0, COUNT), heap(1, COUNT), moved];
    let (_page, host, live) = opened(originals.clone());
    let mut socket = socket(&host, &live);
    for (request, original, has_walls) in [
        ("frame - - 0 - - - -", &originals[0], true),
        ("frame particles speed 1 0 - 1 -", &originals[1], false),
        ("frame - - - 1 - - -", &originals[2], true),
        ("frame - - 2 - - - grain:3", &originals[2], false),
    ] {
        let message = asked(&mut socket, request);
        assert!(message.len() <= 10 * COUNT, "{} bytes", message.len());
        let frame = read(&message);
        assert_eq!((frame.number, frame.frames, frame.time), (original.number, 3, 0.012));
        assert_eq!(frame.counts, [COUNT as u32, 0, COUNT as u32, COUNT as u32, 0, 0, 1]);
        assert_eq!(frame.texts, ["a heap", "12 ms", original.seen().as_str(), "", "", "particles"]);
        assert_eq!(frame.offered, ["particles"]);
        assert_eq!(frame.fields, ["speed", "radius"]);
        assert_eq!(frame.legend, "speed|speed [mm/s]|0|0.004|[0, 1]");
        let labels: Vec<&str> = frame.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["0", "1", "2", "3", "4"]);
        assert!((frame.ticks[3].0 - 0.75).abs() < 1e-6);
        assert_eq!(
            (&frame.palette, &frame.shade),
            (&original.coloring.palette, &original.coloring.shade)
        );
        for (axis, span) in [1.0, 1.0, 0.3].into_iter().enumerate() {
            assert!(frame.quantum[axis] < 1.000_001 * span / 65535.0);
        }
        assert!(frame.steps[0] < 1.000_001 * 3.0_f64.log2() / 254.0);
        for (ball, [x, y, z, radius]) in frame.balls.iter().zip(&original.balls) {
            let (center, found) = ball.unwrap();
            let away = center - original.origin - DVec3::new((*x).into(), (*y).into(), (*z).into());
            for axis in 0..3 {
                assert!(away[axis].abs() <= 0.5 * frame.quantum[axis] + 1e-12, "{away}");
            }
            assert_radius(found, f64::from(*radius), frame.steps[0]);
        }
        assert_eq!(frame.walls.is_some(), has_walls, "{request}");
        if let Some((walls, edges)) = frame.walls {
            assert_eq!(edges, 6);
            for (corner, found) in original.walls.iter().flatten().flatten().zip(walls.iter().flatten().flatten()) {
                assert!((*corner - *found).length() < 1e-6);
            }
            assert_eq!(walls.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
        }
    }
    assert_eq!(asked(&mut socket, "frame - - 2 2 - - -"), Message::text("nothing 3"));
}

#[test]
fn what_is_nowhere_is_not_drawn_and_harms_nothing() {
    let mut odd = heap(0, 10);
    odd.balls[1][0] = f32::NAN;
    odd.balls[2][1] = f32::INFINITY;
    odd.balls[3][2] = f32::NEG_INFINITY;
    odd.balls[4][3] = f32::NAN;
    odd.balls[5][3] = 0.0;
    odd.balls[6][3] = -1.0;
    odd.coloring.shade.truncate(4);
    odd.walls[0][0][1].x = f64::NAN;
    odd.shown = 9;
    let mut nowhere = heap(1, 5);
    nowhere.balls.fill([f32::NAN; 4]);
    nowhere.coloring.legend = Legend::Scale {
        name: String::new(),
        unit: String::new(),
        range: (f64::NAN, f64::INFINITY),
        goes_on: [true; 2],
    };
    nowhere.time = f64::NAN;
    let mut far = heap(2, 3);
    far.balls = vec![[f32::MIN, 0.0, 1e-40, 1.0], [f32::MAX, 0.0, 0.0, f32::MAX], [0.0; 4]];
    let one = heap(3, 1);
    let (_page, host, live) = opened([odd.clone(), nowhere, far, one.clone(), Snapshot::default()]);
    let mut socket = socket(&host, &live);
    let frame = read(&asked(&mut socket, "frame - - 0 - - - -"));
    let is_drawn: Vec<bool> = frame.balls.iter().map(Option::is_some).collect();
    assert_eq!(is_drawn, [true, false, false, false, false, false, true, true, true]);
    // Another object is drawn in its place.
    let (_, radius) = frame.balls[6].unwrap();
    assert!((radius - 1.0).abs() < 1e-6 && frame.shade[6] == 255, "{radius}");
    let away = frame.balls[7].unwrap().0 - odd.origin - DVec3::from([0, 1, 2].map(|axis| f64::from(odd.balls[7][axis])));
    assert!(away.length() < frame.quantum.iter().sum::<f64>(), "{away}");
    assert_eq!(frame.walls.unwrap().0.iter().map(Vec::len).collect::<Vec<_>>(), [0, 2]);
    assert!(read(&asked(&mut socket, "frame - - 1 - - - -")).balls.iter().all(Option::is_none));
    let is_drawn: Vec<bool> = read(&asked(&mut socket, "frame - - 2 - - - -"))
        .balls
        .iter()
        .map(Option::is_some)
        .collect();
    assert_eq!(is_drawn, [true, true, false]);
    let (center, radius) = read(&asked(&mut socket, "frame - - 3 - - - -")).balls[0].unwrap();
    assert!((center - one.origin - DVec3::from([0, 1, 2].map(|axis| f64::from(one.balls[0][axis])))).length() < 1e-12);
    assert_eq!(radius, f64::from(one.balls[0][3]));
    let empty = read(&asked(&mut socket, "frame - - 4 - - - -"));
    assert!(empty.balls.is_empty() && empty.walls.unwrap().0.is_empty());
}

#[test]
fn one_stray_takes_no_digits_from_the_others_and_is_reported() {
    let mut strewn = heap(0, 200);
    strewn.balls[70][2] = -1e4;
    strewn.balls[71] = [5e3, 0.0, 0.0, -0.002];
    let pane = |height: f64| {
        Pane::flat(
            [DVec3::ZERO, DVec3::X, DVec3::Y].map(|corner| strewn.origin + corner + height * DVec3::Z),
            [1, 2, 3],
        )
    };
    let rod = |height: f64| Rod {
        ends: [0.0, 1.0].map(|aside| strewn.origin + DVec3::new(aside, 0.0, height)),
        radius: 0.01,
        color: [1, 2, 3],
    };
    let heights = || (0..100).map(|k| if k == 60 { 1e4 } else { 0.01 * f64::from(k) });
    (strewn.rods, strewn.bodies) = (heights().map(rod).collect(), heights().map(pane).collect());
    let without = heap(1, 200);
    let (_page, host, live) = opened([strewn.clone(), without]);
    let mut socket = socket(&host, &live);
    let frame = read(&asked(&mut socket, "frame - - 0 - - - grain:70"));
    assert_eq!(frame.counts[..5], [200, 0, 200, 200, 100]);
    assert_eq!(frame.texts[2], "200 grains   ·   what is far away is not drawn");
    assert_eq!(read(&asked(&mut socket, "frame - - 1 - - - -")).texts[2], "200 grains");
    for axis in 0..3 {
        assert!(
            frame.quantum[axis] < 2.0 / 65535.0 && frame.quantum_of_panes[axis] < 2.0 / 65535.0,
            "{:?}",
            frame.quantum
        );
    }
    for (place, (found, ball)) in frame.balls.iter().zip(&strewn.balls).enumerate() {
        let Some((center, _)) = found else {
            assert!([70, 71].contains(&place), "ball {place} is not drawn");
            continue;
        };
        assert!(![70, 71].contains(&place), "ball {place} is far away");
        assert!((*center - strewn.center(ball)).length() < 2e-5, "{center}");
    }
    let far: Vec<usize> = (0..100).filter(|&rod| frame.rods[rod].is_none()).collect();
    assert_eq!(far, [60]);
    let area = |[a, b, c]: &[Corner; 3]| (b.0 - a.0).cross(c.0 - a.0).length();
    let far: Vec<usize> = (0..100).filter(|&pane| area(&frame.panes[pane]) < 0.9).collect();
    assert_eq!(far, [60]);
    // An outlier can be followed all the same.
    let (center, _) = frame.picked.unwrap();
    assert!((center - strewn.center(&strewn.balls[70])).length() < 1e-2, "{center}");
}

#[test]
fn small_radii_keep_their_digits_beside_large_ones() {
    let mut sizes = heap(0, 300);
    for (k, ball) in sizes.balls.iter_mut().enumerate() {
        ball[3] = 1e-3 * 1e3_f32.powf(k as f32 / 299.0);
    }
    let mut same = heap(1, 300);
    same.balls.iter_mut().for_each(|ball| ball[3] = 0.0123);
    let (_page, host, live) = opened([sizes.clone(), same]);
    let mut socket = socket(&host, &live);
    let frame = read(&asked(&mut socket, "frame - - 0 - - - -"));
    assert!(frame.steps[0] < 0.04, "{}", frame.steps[0]);
    for (found, ball) in frame.balls.iter().zip(&sizes.balls) {
        assert_radius(found.unwrap().1, f64::from(ball[3]), frame.steps[0]);
    }
    let frame = read(&asked(&mut socket, "frame - - 1 - - - -"));
    assert!(frame.balls.iter().all(|ball| ball.unwrap().1 == f64::from(0.0123_f32)));
}
