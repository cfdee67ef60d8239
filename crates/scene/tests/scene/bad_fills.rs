//! Invalid fills: each is refused with the line of the scene, with that of the file if it is at fault, and a remedy.

use crate::loaded::{GLASS, scene};
use seixo_scene::load_text;
use std::path::Path;

/// The lines before the fill in line 13.
const BED: &str = "[grains.bed]\nmaterial = \"glass\"\n";

fn refusal_of(fill: &str, folder: &Path) -> String {
    let text = format!("{GLASS}{BED}fill = {{ {fill} }}");
    let found = load_text(&text, &folder.join("scene.toml"), &[]).expect_err(fill);
    assert!(found.list().iter().all(|d| !d.remedy.is_empty()), "{fill}");
    found.plain()
}

#[test]
fn every_bad_fill_is_refused_with_place_and_remedy() {
    const REGION: &str = "region = { box = { min = [0, 0, 0], max = [1, 1, 1] } }, ";
    const SPHERE: &str = "region = { sphere = { center = [0, 0, 0], radius = 1 } }, ";
    let cases: &[(&str, &str, &[&str])] = &[
        (
            REGION,
            "count = 9, radius = { log_normal = [0.1] }",
            &["a list of 2 values belongs here"],
        ),
        (
            REGION,
            "count = 9, radius = { log_normal = [0.1, -0.1] }",
            &["-0.1 is out of range", "> 0 and <= 1"],
        ),
        (
            REGION,
            "count = 9, radius = { weibull = [0.1, 0.5] }",
            &["the radii go from 1.8", "a factor of 1000", "narrower"],
        ),
        (
            REGION,
            "count = 9, radius = { discrete = { radii = [0.1, 0.2], shares = [0.5, 0.4], by = \"mass\" } }",
            &["the shares add up to 0.9", "accepted: 1"],
        ),
        (
            REGION,
            "count = 9, radius = { discrete = { radii = [0.1, 0.2], shares = [1], by = \"mass\" } }",
            &["2 radii with 1 shares", "as many shares as radii"],
        ),
        (
            REGION,
            "count = 9, radius = { discrete = { radii = [0.1, -0.2], shares = [0.5, 0.5], by = \"mass\" } }",
            &["-0.2 m is out of range"],
        ),
        (
            REGION,
            "count = 9, radius = { discrete = { radii = [0.1], shares = [1], by = \"weight\" } }",
            &["unknown share `weight`", "number, mass"],
        ),
        (
            REGION,
            "count = 9, radius = { uniform = [0.1, 0.2], wiebull = [0.1, 2] }",
            &["radius.wiebull: unknown key", "did you mean `weibull`?", "uniform, normal"],
        ),
        (
            REGION,
            "count = 9, radius = { normal = [0.1, 0.01], uniform = [0.1, 0.2] }",
            &["a table with exactly one choice belongs here", "{ uniform = … }"],
        ),
        (
            REGION,
            "count = 9, radius = {}",
            &["a table with exactly one choice belongs here", "{ uniform = … }"],
        ),
        (
            REGION,
            "count = 9, radius = { discrete = { radii = [0.1], shares = [1], by = \"mass\", bye = 1 } }",
            &["radius.discrete.bye: unknown key", "did you mean `by`?"],
        ),
        (
            "region = { box = { min = [0, 0, 0], max = [1, 1, 1] }, cylindre = {} }, ",
            "count = 9, radius = 0.1",
            &["region.cylindre: unknown key", "did you mean `cylinder`?"],
        ),
        (
            REGION,
            "count = 9, radius = { psd = \"none.csv\" }",
            &["none.csv", "check the path"],
        ),
        (
            REGION,
            "count = 9, radius = 0.1, method = \"grow\"",
            &["unknown fill method `grow`", "did you mean `growth`?"],
        ),
        (
            REGION,
            "count = 9, radius = 0.1, lattice = \"diamond\"",
            &["unknown lattice `diamond`", "face_centered"],
        ),
        (
            REGION,
            "count = 9, radius = 0.1, lattice = \"cubic\", method = \"random\"",
            &["`lattice` is for method = \"lattice\""],
        ),
        (
            SPHERE,
            "count = 9, radius = 0.1, periodic = [true, true, true]",
            &["only the sides of a box can be `periodic`"],
        ),
        (
            REGION,
            "count = 2, radius = 0.3, periodic = [true, true, true], method = \"random\"",
            &["a grain of radius 0.3 m does not fit", "three diameters"],
        ),
        (
            SPHERE,
            "count = 9, radius = 0.1, method = \"rain\"",
            &["rain falls into a column along gravity", "a box with a side along gravity"],
        ),
        (
            REGION,
            "count = 9, radius = 0.1, method = \"rain\"",
            &["rain falls into a column along gravity", "set world.gravity"],
        ),
        (
            REGION,
            "count = 9, radius = 0.1, minus = [{ box = { min = [-1, -1, -1], max = [2, 2, 2] } }]",
            &["`minus` takes away all of the region"],
        ),
        (
            REGION,
            "count = 9, radius = 0.1, minus = [{ box = { min = [1, 0, 0], max = [0, 1, 1] } }]",
            &["minus: the box from [1, 0, 0]", "min below max"],
        ),
        (
            "region = { cone = { from = [0, 0, 0], to = [0, 0, 1], radii = [0, 0] } }, ",
            "count = 9, radius = 0.1",
            &["both radii of the cone are 0"],
        ),
        (
            "region = { mesh = { file = \"none.stl\" } }, ",
            "count = 9, radius = 0.1",
            &["none.stl", "check the path"],
        ),
    ];
    for (region, rest, phrases) in cases {
        let message = refusal_of(&format!("{region}{rest}"), Path::new(""));
        for phrase in phrases.iter().chain(&["scene.toml:13:"]) {
            assert!(message.contains(phrase), "`{rest}`: no `{phrase}` in\n{message}");
        }
    }
}

#[test]
fn every_bad_sieve_curve_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    for (curve, phrase) in [
        ("", "psd.csv: the file is empty"),
        ("1, 0\n2, 100\n", "psd.csv:1: the first line must name the columns"),
        ("diameter[mm], passing[kg]\n", "psd.csv:1: column `passing` cannot be in `kg`"),
        (
            "diameter[mm], radius[mm], passing\n",
            "psd.csv:1: a sieve curve has a column `diameter` or `radius`",
        ),
        ("diameter[mm]\n1\n", "psd.csv:1: a sieve curve has"),
        ("diameter[mm], passing[%]\n1, 0\n", "psd.csv:2: a curve of fewer than two sieves"),
        (
            "diameter[mm], passing[%]\n1, 5\n2, 100\n",
            "psd.csv:2: column `passing[%]`: `5` is where the curve starts",
        ),
        (
            "diameter[mm], passing[%]\n-1, 0\n2, 100\n",
            "psd.csv:2: column `diameter[mm]`: `-1` is not a size",
        ),
        (
            "diameter[mm], passing[%]\n1, 0\n# coarse\n1, 50\n2, 100\n",
            "psd.csv:4: column `diameter[mm]`: `1` is not above the line before",
        ),
        (
            "diameter[mm], passing[%]\n1, 0\n2, 60\n3, 50\n4, 100\n",
            "psd.csv:4: column `passing[%]`: `50` is less than in the line before",
        ),
        (
            "diameter[mm], passing[%]\n1, 0\n2, 130\n",
            "psd.csv:3: column `passing[%]`: `130` is not a share",
        ),
        (
            "diameter[mm], passing[%]\n1, 0\n2, 90\n",
            "psd.csv:3: the curve ends where a share of 0.9 is finer",
        ),
        (
            "diameter[mm], passing[%]\n1, 0\n2\n",
            "psd.csv:3: 1 values, but the header names 2 columns",
        ),
        (
            "diameter[mm], passing[%]\n1, 0\n2, nan\n",
            "psd.csv:3: column `passing[%]`: `nan` is not a finite number",
        ),
    ] {
        std::fs::write(folder.path().join("psd.csv"), curve).unwrap();
        let region = "region = { box = { min = [0, 0, 0], max = [1, 1, 1] } }";
        let message = refusal_of(&format!("{region}, count = 9, radius = {{ psd = \"psd.csv\" }}"), folder.path());
        assert!(message.contains(phrase), "{curve}: no `{phrase}` in\n{message}");
        assert!(message.contains("scene.toml:13:"), "{message}");
    }
}

#[test]
fn meshes_without_an_inside_are_refused_with_an_edge() {
    // The corners of a tetrahedron, and its faces seen from outside; and two further corners.
    let corners = ["0 0 0", "1 0 0", "0 1 0", "0 0 1", "0 0 -1", "1 1 1"];
    let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    let stl = |faces: &[[usize; 3]]| {
        let vertex = |corner: &usize| format!("vertex {}\n", corners[*corner]);
        let facet = |face: &[usize; 3]| {
            let vertices: String = face.iter().map(vertex).collect();
            format!("facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet\n")
        };
        format!("solid a\n{}endsolid a\n", faces.iter().map(facet).collect::<String>())
    };
    let folder = tempfile::tempdir().unwrap();
    let fill = "region = { mesh = { file = \"a.stl\", scale = \"mm\" } }, count = 1, radius = \"0.1 mm\"";
    let write = |text: String| std::fs::write(folder.path().join("a.stl"), text).unwrap();
    write(stl(&faces));
    let whole = folder.path().join("a.stl").display().to_string();
    let filled = || scene(&format!("{GLASS}{BED}fill = {{ {} }}", fill.replace("a.stl", &whole)));
    let sound = filled();
    assert_eq!(sound.world.grains.len(), 1);
    assert!(!sound.notices.join("\n").contains("a.stl"), "{:?}", sound.notices);

    // A face with the wrong orientation is flipped, with a note; the grain is placed as in the valid mesh.
    write(stl(&[faces[0], faces[1], faces[2], [0, 2, 3]]));
    let turned = filled();
    assert_eq!(turned.world.grains.position, sound.world.grains.position);
    let notices = turned.notices.join("\n");
    assert!(
        notices.contains("a.stl: 1 of 4 triangles of the closed mesh face the wrong side"),
        "{notices}"
    );

    write(stl(&faces[..3]));
    let message = refusal_of(fill, folder.path());
    assert!(
        message.contains("the mesh is not closed: 1 triangles meet at the edge from"),
        "{message}"
    );
    // The missing face has the edges from the first, third and fourth corner; the first of them in the file belongs to the first face.
    assert!(
        message.contains("from [0.000000, 0.000000, 0.000000] to [0.000000, 0.001000, 0.000000] m"),
        "{message}"
    );

    // Half of an icosahedron, with opposite edges joined: every edge has two triangles, and there is only one side.
    let one_sided: Vec<[usize; 3]> = (0..5)
        .flat_map(|k| {
            let ring = |by: usize| 1 + (k + by) % 5;
            [[0, ring(0), ring(1)], [ring(0), ring(1), ring(3)]]
        })
        .collect();
    write(stl(&one_sided));
    let message = refusal_of(fill, folder.path());
    assert!(
        message.contains("one side only") && message.contains("at the edge from"),
        "{message}"
    );

    // Two tetrahedra with a common face, as a valid mesh and with a flipped triangle.
    let below = [[0, 1, 2], [0, 4, 1], [1, 4, 2], [2, 4, 0]];
    write(stl(&[faces, below].concat()));
    assert!(!filled().notices.join("\n").contains("a.stl"));
    write(stl(&[&faces[..2], &[[1, 3, 2]], &faces[3..], &below[..]].concat()));
    let message = refusal_of(fill, folder.path());
    assert!(message.contains("is not manifold: 4 triangles meet at the edge from"), "{message}");

    write(stl(&[faces[0], [0, 1, 2]]));
    let message = refusal_of(fill, folder.path());
    assert!(message.contains("encloses no volume"), "{message}");
}
