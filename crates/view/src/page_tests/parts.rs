//! Contents of a frame other than all balls: rods, panes, a subset of the balls, a fixed scale, and details of a particle.

use std::{net::TcpStream, sync::Arc};

use axum::extract::ws::Message as Answer;
use glam::DVec3;
use tungstenite::{Message, WebSocket};

use super::{
    Dice, asked,
    frames::{Frame, assert_radius, read},
    heap, opened, socket,
};
use crate::{
    FrameSource, Particle, ParticleDetails, PictureOptions, Recording, Snapshot, ViewError,
    coloring::{Coloring, Legend},
    live::{RunControl, Status},
    page::{PageOptions, answer},
    picture_tests::run_folder,
    render::{Pane, Rod},
};

/// A random position in a cube of this width around a position.
fn near(dice: &mut Dice, place: DVec3, width: f64) -> DVec3 {
    place + width * DVec3::from([(); 3].map(|()| f64::from(dice.part()) - 0.5))
}

/// Asserts that the error is at most half a quantum along each axis, plus the rounding of 32-bit floats this far from the origin.
fn assert_at(found: DVec3, place: DVec3, quantum: &[f64]) {
    let away = found - place;
    for (axis, quantum) in quantum.iter().take(3).enumerate() {
        assert!(
            away[axis].abs() <= 0.5 * quantum + 1e-7 * 65536.0 * quantum,
            "{found} is not {place}"
        );
    }
}

#[test]
fn rods_and_panes_arrive_within_half_a_quantum() {
    const RODS: usize = 2000;
    const PANES: usize = 500;
    let mut dice = Dice(5);
    let mut original = heap(0, 10);
    let origin = original.origin;
    let rod = |k: usize| Rod {
        ends: [(); 2].map(|()| near(&mut dice, origin, 3.0)),
        radius: 0.001 * (1 + k % 100) as f64,
        color: [k as u8, 100, 255],
    };
    original.rods = (0..RODS).map(rod).collect();
    original.rods[7].ends[1].y = f64::NAN;
    original.rods[8].radius = 0.0;
    // A wall is larger than all of that and has its own box.
    let pane = |k: usize| Pane {
        corners: [(); 3].map(|()| near(&mut dice, origin, 400.0)),
        normals: [(); 3].map(|()| near(&mut dice, DVec3::ZERO, 1.0).normalize()),
        colors: [[0, k as u8, 1], [2, 3, k as u8], [255, 4, 5]],
    };
    let mut panes: Vec<Pane> = (0..PANES).map(pane).collect();
    original.bodies = panes.split_off(400);
    original.panes = panes.split_off(150);
    original.skin = panes;
    let (_page, host, live) = opened([original.clone()]);
    let message = asked(&mut socket(&host, &live), "frame - - - - - - -");
    assert!(message.len() <= 8 * 10 + 16 * RODS + 36 * PANES + 4096, "{} bytes", message.len());
    let frame = read(&message);
    assert_eq!(frame.counts[4..], [RODS as u32, PANES as u32, 1]);

    for (k, (found, rod)) in frame.rods.iter().zip(&original.rods).enumerate() {
        let Some((ends, radius, color)) = found else {
            assert!([7, 8].contains(&k), "rod {k} is not drawn");
            continue;
        };
        assert!(![7, 8].contains(&k), "rod {k} is nowhere or has no size");
        assert_eq!(*color, rod.color);
        assert_radius(*radius, f64::from(rod.radius as f32), frame.steps[1]);
        for (found, end) in ends.iter().zip(rod.ends) {
            assert_at(*found, end, &frame.quantum);
        }
    }
    for (found, ball) in frame.balls.iter().zip(&original.balls) {
        assert_at(found.unwrap().0, original.center(ball), &frame.quantum);
    }
    let originals = [original.skin, original.panes, original.bodies].concat();
    for (found, pane) in frame.panes.iter().zip(originals) {
        for (k, (place, normal, color)) in found.iter().enumerate() {
            assert_at(*place, pane.corners[k], &frame.quantum_of_panes);
            assert!((*normal - pane.normals[k]).abs().max_element() <= 0.51 / 127.0, "{normal}");
            assert_eq!(*color, pane.colors[k]);
        }
    }
}

#[test]
fn fluids_are_sent_beside_cracks() {
    let mut original = heap(0, 9);
    (original.grains, original.particles, original.shown) = (4, 5, 0);
    original.marks = Some(vec![[0.1, 0.2, 0.3, 0.02]; 3]);
    let colors: Vec<[u8; 3]> = (0..253).map(|shade| [shade, 1, 2]).collect();
    let modes = vec![[9, 0, 0], [0, 9, 0]];
    original.beside = Some(Coloring {
        palette: colors.clone(),
        shade: vec![240, 240, 240, 240, 241, 242, 243, 244, 245],
        legend: Legend::default(),
    });
    original.coloring = Coloring {
        palette: modes.clone(),
        shade: vec![0, 1, 0],
        legend: Legend::default(),
    };
    let (_page, host, live) = opened([original.clone()]);
    let frame = read(&asked(&mut socket(&host, &live), "frame cracks - - - - - -"));
    assert_eq!(frame.counts[..4], [4, 5, 8, 3]);
    assert_eq!(frame.shade, [0, 1, 0, 241, 242, 243, 244, 245]);
    assert_eq!(frame.palette, [&modes[..], &colors[2..]].concat());
    for (found, ball) in frame.balls[3..].iter().zip(&original.balls[4..]) {
        assert_at(found.unwrap().0, original.center(ball), &frame.quantum);
    }
}

#[test]
fn of_so_many_balls_and_rods_one_is_sent() {
    let mut original = heap(0, 103);
    let rod = |k: u8| Rod {
        ends: [original.origin, original.origin + DVec3::X],
        radius: 0.01,
        color: [k, 0, 0],
    };
    original.rods = (0..10).map(rod).collect();
    (original.grains, original.particles, original.is_smooth) = (50, 53, true);
    let (_page, host, live) = opened([original.clone()]);
    let mut socket = socket(&host, &live);
    for (word, every) in [("-", 1), ("1", 1), ("4", 4), ("103", 103), ("18446744073709551615", usize::MAX)] {
        let frame = read(&asked(&mut socket, &format!("frame smooth - - - - {word} -")));
        let [balls, solid, rods] = [103usize, 50, 10].map(|all| all.div_ceil(every));
        assert_eq!(frame.counts[..6], [50, 53, balls as u32, solid as u32, rods as u32, 0], "{word}");
        let mut parts = Vec::new();
        for (k, found) in frame.balls.iter().enumerate() {
            let is_it = |&place: &usize| (original.center(&original.balls[place]) - found.unwrap().0).length() < 1e-4;
            let place = (0..103).find(is_it).unwrap();
            assert_eq!(place / every, k, "one of each {every}");
            // Solid balls remain solid.
            assert_eq!(place < 50, k < solid);
            assert_eq!(frame.shade[k], original.coloring.shade[place]);
            parts.push(place % every);
        }
        // On a lattice, balls at the same place of every four would lie in few planes.
        assert!(every != 4 || (0..4).all(|part| parts.contains(&part)), "{parts:?}");
        let colors: Vec<usize> = frame.rods.iter().map(|rod| usize::from(rod.unwrap().2[0]) / every).collect();
        assert_eq!(colors, (0..rods).collect::<Vec<_>>());
    }
}

/// The text answer to a request.
fn reported(socket: &mut WebSocket<TcpStream>, request: &str) -> String {
    match asked(socket, request) {
        Message::Text(text) => text.to_string(),
        other => panic!("{request}: {other}"),
    }
}

#[test]
fn a_ball_is_known_by_its_place_in_the_frame_that_was_sent_last() {
    let mut first = heap(0, 40);
    (first.grains, first.particles) = (30, 10);
    first.id = (100..140).collect();
    let mut second = heap(1, 40);
    second.id.reverse();
    let mut broken = heap(2, 40);
    broken.marks = Some(vec![[0.0, 0.0, 0.0, 1.0]]);
    let (_page, host, live) = opened([first.clone(), second.clone(), broken]);
    let mut socket = socket(&host, &live);
    assert!(reported(&mut socket, "details grain:7").starts_with("error - no frame was sent yet"));

    let of_grain = "\n\t3 contacts\n\tgrain 5: 1 N\n\tand 2 more";
    read(&asked(&mut socket, "frame - - 0 - - - -"));
    for (request, expected) in [
        ("details ball:0", format!("details grain:100\nframe\t0{of_grain}")),
        ("details ball:29", format!("details grain:129\nframe\t0{of_grain}")),
        ("details ball:30", "details particle:130\nframe\t0".to_owned()),
        ("details grain:7", format!("details grain:7\nframe\t0{of_grain}")),
    ] {
        assert_eq!(reported(&mut socket, request), expected);
    }
    // An answer without a new frame keeps the last frame.
    assert_eq!(reported(&mut socket, "frame - - 0 0 - - -"), "nothing 3");
    assert!(reported(&mut socket, "details ball:1").starts_with("details grain:101\n"));
    let thinned = read(&asked(&mut socket, "frame - - 1 - - 3 -"));
    for (k, ball) in thinned.balls.iter().enumerate() {
        let is_it = |&place: &usize| (second.center(&second.balls[place]) - ball.unwrap().0).length() < 1e-4;
        let id = second.id[(0..40).find(is_it).unwrap()];
        let said = reported(&mut socket, &format!("details ball:{k}"));
        assert!(said.starts_with(&format!("details grain:{id}\nframe\t1\n")), "{said}");
    }
    for (request, frame) in [
        ("details ball:14", 1),
        ("details ball:18446744073709551615", 1),
        ("details ball:0", 2),
    ] {
        read(&asked(&mut socket, &format!("frame - - {frame} - - 3 -")));
        let refused = reported(&mut socket, request);
        assert!(
            refused.starts_with("error - ball ") && refused.contains("is no particle"),
            "{refused}"
        );
    }

    // The position of a picked particle does not depend on which balls are sent.
    let mut picked = |who: &str| read(&asked(&mut socket, &format!("frame - - 0 - - 16 {who}"))).picked;
    let (center, radius) = picked("particle:135").unwrap();
    assert!((center - first.center(&first.balls[35])).length() < 1e-6, "{center}");
    assert_eq!(radius, f64::from(first.balls[35][3]));
    assert!(picked("grain:135").is_none() && picked("particle:100").is_none() && picked("-").is_none());
}

/// The answer of a source to a page that has nothing yet: a frame or a text.
fn answered(show: &dyn FrameSource, request: &str) -> Result<Frame, String> {
    match answer(show, request, PageOptions::default()).0 {
        Answer::Binary(bytes) => Ok(read(&Message::Binary(bytes))),
        Answer::Text(text) => Err(text.to_string()),
        other => panic!("{request}: {other:?}"),
    }
}

#[test]
fn a_recording_shows_its_contacts_on_a_scale_that_is_held() {
    let run = run_folder();
    let recording = Recording::open(run.path()).unwrap().confined().unwrap();
    let frame = |request: &str| answered(&recording, request).unwrap_or_else(|said| panic!("{request}: {said}"));
    let grains = frame("frame - - 1 - - - -");
    assert_eq!(grains.offered, ["particles", "contacts", "chains"]);
    assert_eq!((grains.counts[2], grains.counts[4]), (27, 0));
    assert!(grains.fields.contains(&"velocity_x".to_owned()), "{:?}", grains.fields);
    let held = frame("frame - radius 1 - 0.25:2e0 - -").legend;
    assert!(held.starts_with("radius|radius [m]|0.25|2|"), "{held}");

    let contacts = frame("frame contacts - 1 - 5:20 - -");
    assert_eq!((contacts.counts[2], contacts.counts[4]), (0, 26));
    assert!(contacts.rods.iter().all(Option::is_some) && contacts.fields.is_empty());
    let held = contacts.legend;
    assert!(held.starts_with("normal force|normal force [N]|5|20|"), "{held}");
    let refused = answered(&recording, "frame bonds - 1 - - - -").err().unwrap();
    assert!(refused.starts_with("error 2 ") && refused.contains("[bonds.NAME]"), "{refused}");
}

/// A running simulation whose state never changes.
struct Running {
    controls: RunControl,
    snapshot: Arc<Snapshot>,
}

impl FrameSource for Running {
    fn title(&self) -> String {
        "running".to_owned()
    }

    fn frames(&self) -> Option<usize> {
        None
    }

    fn controls(&self) -> Option<&RunControl> {
        Some(&self.controls)
    }

    fn frame(&self, _: &PictureOptions, seen: Option<u64>) -> Result<Option<Arc<Snapshot>>, ViewError> {
        Ok((seen != Some(self.snapshot.number)).then(|| Arc::clone(&self.snapshot)))
    }

    fn details(&self, _: u64, _: Particle) -> Result<ParticleDetails, ViewError> {
        Ok(ParticleDetails::default())
    }
}

#[test]
fn a_run_reports_where_it_stands_and_offers_what_it_has() {
    let run = Running {
        controls: RunControl::default(),
        snapshot: Arc::new(Snapshot {
            particles: 2,
            ..heap(7, 5)
        }),
    };
    let status = Status {
        time: 0.5,
        until: 2.0,
        pace: 0.25,
        ..Status::default()
    };
    run.controls.report_status(status);
    run.controls.set_rate(Some(1.0));
    let frame = answered(&run, "frame - - - - - - -").ok().unwrap();
    // A running simulation has its contacts, even if it does not record them, but no time for meshes.
    assert_eq!(frame.offered, ["particles", "smooth", "contacts", "chains"]);
    let [status_reported, shortfall] = [3, 4].map(|place| frame.texts[place].as_str());
    assert!(
        status_reported.starts_with("0.5 s of 2 s   ·   0.25 s a second"),
        "{status_reported}"
    );
    assert_eq!(shortfall, "falls short: 0.250 of it");
    let nothing = || answered(&run, "frame - - - 7 - - -").err().unwrap();
    assert_eq!(nothing(), format!("nothing - {status_reported}\n{shortfall}"));
    run.controls.report_status(Status { is_over: true, ..status });
    let said = nothing();
    assert!(
        said.starts_with("nothing - done   ·   0.5 s of 2 s") && !said.contains("falls short"),
        "{said}"
    );
}
