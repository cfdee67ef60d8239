//! Frames as a page reads them, and what of the originals is in them.

use glam::DVec3;
use tungstenite::Message;

use super::{asked, heap, opened, socket};
use crate::{
    Snapshot,
    coloring::{Legend, SCALE},
};

/// A frame as a page reads it.
pub struct Frame {
    pub number: u64,
    frames: u32,
    time: f64,
    pub counts: [u32; 3],
    quantum: [f64; 4],
    texts: [String; 3],
    fields: Vec<String>,
    legend: String,
    ticks: Vec<(f32, String)>,
    palette: Vec<[u8; 3]>,
    /// Triangles of each wall and number of edges, if they came along.
    walls: Option<(Vec<Vec<[DVec3; 3]>>, usize)>,
    /// Center and radius; `None` of what is not drawn.
    balls: Vec<Option<(DVec3, f64)>>,
    shade: Vec<u8>,
}

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

    fn place(&mut self) -> DVec3 {
        DVec3::new(self.single(), self.single(), self.single())
    }

    fn align(&mut self) {
        self.at = self.at.next_multiple_of(4);
    }
}

/// The frame in a message, all of which must be of it.
pub fn read(message: &Message) -> Frame {
    let Message::Binary(bytes) = message else {
        panic!("no frame: {message}")
    };
    let mut reader = Reader { bytes, at: 0 };
    assert_eq!(&reader.take::<4>(), b"SXF1");
    let number = u64::from_le_bytes(reader.take());
    let (frames, time) = (reader.whole(), reader.double());
    let counts = [reader.whole(), reader.whole(), reader.whole()];
    let low = DVec3::new(reader.double(), reader.double(), reader.double());
    let [in_x, in_y, in_z, smallest, in_radius] = [(); 5].map(|()| reader.single());
    let texts = [(); 3].map(|()| reader.text());
    let fields = reader.list(Reader::text);
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
    let sizes: Vec<u32> = if has_walls {
        (0..reader.whole()).map(|_| reader.whole()).collect()
    } else {
        Vec::new()
    };
    let edges = if has_walls { reader.whole() as usize } else { 0 };
    reader.align();
    let triangle = |reader: &mut Reader| [(); 3].map(|()| low + reader.place());
    let triangles = sizes
        .iter()
        .map(|&size| (0..size).map(|_| triangle(&mut reader)).collect())
        .collect();
    for _ in 0..2 * edges {
        reader.place();
    }
    let count = counts[2] as usize;
    let mut planes = [(); 3].map(|()| {
        assert_eq!(reader.at % 4, 0);
        let plane: Vec<f64> = (0..count).map(|_| reader.short() as f64).collect();
        reader.align();
        plane
    });
    for (plane, quantum) in planes.iter_mut().zip([in_x, in_y, in_z]) {
        plane.iter_mut().for_each(|level| *level *= quantum);
    }
    let radii: Vec<u8> = (0..count).map(|_| reader.take::<1>()[0]).collect();
    reader.align();
    let shade = (0..count).map(|_| reader.take::<1>()[0]).collect();
    assert_eq!(reader.at, bytes.len());
    let ball = |place: usize| {
        let center = low + DVec3::new(planes[0][place], planes[1][place], planes[2][place]);
        let level = radii[place].checked_sub(1)?;
        Some((center, smallest + in_radius * f64::from(level)))
    };
    Frame {
        number,
        frames,
        time,
        counts,
        quantum: [in_x, in_y, in_z, in_radius],
        texts,
        fields,
        legend,
        ticks,
        palette,
        walls: has_walls.then_some((triangles, edges)),
        balls: (0..count).map(ball).collect(),
        shade,
    }
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
        ("frame - 0 -", &originals[0], true),
        ("frame speed 1 0", &originals[1], false),
        ("frame - - 1", &originals[2], true),
        ("frame - 2 -", &originals[2], false),
    ] {
        let message = asked(&mut socket, request);
        assert!(message.len() <= 10 * COUNT, "{} bytes", message.len());
        let frame = read(&message);
        assert_eq!((frame.number, frame.frames, frame.time), (original.number, 3, 0.012));
        assert_eq!(frame.counts, [COUNT as u32, 0, COUNT as u32]);
        assert_eq!(frame.texts, ["a heap".to_owned(), "12 ms".to_owned(), original.seen()]);
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
        for (ball, [x, y, z, radius]) in frame.balls.iter().zip(&original.balls) {
            let (center, found) = ball.unwrap();
            let away = center - original.origin - DVec3::new((*x).into(), (*y).into(), (*z).into());
            for axis in 0..3 {
                assert!(away[axis].abs() <= 0.5 * frame.quantum[axis] + 1e-12, "{away}");
            }
            assert!((found - f64::from(*radius)).abs() <= 0.5 * frame.quantum[3] + 1e-12);
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
    assert_eq!(asked(&mut socket, "frame - 2 2"), Message::text("nothing 3"));
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
    let frame = read(&asked(&mut socket, "frame - 0 -"));
    let is_drawn: Vec<bool> = frame.balls.iter().map(Option::is_some).collect();
    assert_eq!(is_drawn, [true, false, false, false, false, false, false, true, true]);
    let away = frame.balls[7].unwrap().0 - odd.origin - DVec3::from([0, 1, 2].map(|axis| f64::from(odd.balls[7][axis])));
    assert!(away.length() < frame.quantum.iter().sum::<f64>(), "{away}");
    assert_eq!(frame.walls.unwrap().0.iter().map(Vec::len).collect::<Vec<_>>(), [0, 2]);
    assert!(read(&asked(&mut socket, "frame - 1 -")).balls.iter().all(Option::is_none));
    let is_drawn: Vec<bool> = read(&asked(&mut socket, "frame - 2 -")).balls.iter().map(Option::is_some).collect();
    assert_eq!(is_drawn, [true, true, false]);
    let (center, radius) = read(&asked(&mut socket, "frame - 3 -")).balls[0].unwrap();
    assert!((center - one.origin - DVec3::from([0, 1, 2].map(|axis| f64::from(one.balls[0][axis])))).length() < 1e-12);
    assert_eq!(radius, f64::from(one.balls[0][3]));
    let empty = read(&asked(&mut socket, "frame - 4 -"));
    assert!(empty.balls.is_empty() && empty.walls.unwrap().0.is_empty());
}
