//! Particles at non-finite positions, or far from all others, do not disturb the view.

use std::fs;

use glam::DVec3;
use seixo_engine::state::GrainSnapshot;
use seixo_files::vtk::{self, Field};

use crate::{
    PictureOptions, Snapshot,
    camera::{Camera, Projection},
    color::Rgb,
    render::{RenderScene, SphereBatch, render},
};

const RED: Rgb = [200, 60, 40];
const SIDE: u32 = 128;

#[test]
fn a_near_ball_is_seen_whatever_stands_behind_it_in_memory() {
    let camera = Camera {
        eye: DVec3::new(0.0, 0.0, -5.0),
        axes: [DVec3::X, DVec3::Y, DVec3::Z],
        focal: 300.0,
        center: [f64::from(SIDE) / 2.0; 2],
        near: 0.1,
        middle: 5.0,
        projection: Projection::Perspective,
    };
    let drawn = |places: &[[f32; 4]]| {
        let balls = SphereBatch {
            places,
            shade: &vec![0; places.len()],
            palette: &[RED],
            ..SphereBatch::default()
        };
        let stage = RenderScene {
            balls,
            ..RenderScene::default()
        };
        render(&stage, &[], &camera, (SIDE, SIDE)).unwrap().rgb
    };
    let near = [0.0, 0.0, 0.0, 1.0];
    let alone = drawn(&[near]);
    assert!(alone != drawn(&[]), "a ball is seen");
    for nowhere in [[f32::NAN, f32::NAN, f32::NAN, 1.0], [0.0, 0.0, 0.0, f32::NAN]] {
        assert!(drawn(&[near, nowhere]) == alone, "{nowhere:?}");
    }
}

#[test]
fn a_stray_a_kilometer_away_takes_no_digits_from_the_others() {
    let folder = tempfile::Builder::new().suffix(".out").tempdir().unwrap();
    let fields = folder.path().join("fields");
    fs::create_dir(&fields).unwrap();
    let mut position: Vec<[f64; 3]> = (0..200).map(|k| [1.3e-4 * f64::from(k), 1e-3 * f64::from(k % 7), 0.0]).collect();
    position[77] = [0.0, 0.0, -1000.0];
    let grains = GrainSnapshot {
        id: (0..200).collect(),
        velocity: vec![[0.0; 3]; 200],
        radius: vec![5e-4; 200],
        position,
        ..GrainSnapshot::default()
    };
    fs::write(fields.join("grains_000000.vtp"), vtk::grains(&grains, &[Field::Velocity], 0.5)).unwrap();
    let snapshot = Snapshot::read(folder.path(), &PictureOptions::default()).unwrap();
    for (k, (ball, place)) in snapshot.balls.iter().zip(&grains.position).enumerate() {
        let off = (snapshot.center(ball) - DVec3::from(*place)).length();
        assert!(off < if k == 77 { 1e-4 } else { 2e-9 }, "grain {k} is off by {off} m");
    }
}
