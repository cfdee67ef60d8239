//! Errors in the contact parameters of a pair of materials.

/// Like the table of the file that includes this module; in its valid scene, line 12 is `friction = 0.3`, and line 11 `restitution = 0.5`.
pub const CASES: &[(&str, &str, &[&str])] = &[
    (
        "friction = 0.3",
        "friction = 0.3\nnormal = \"viscoelastic\"",
        &[
            "scene.toml:10:",
            "normal = \"viscoelastic\" needs `dissipative_time`",
            "1e-6 s",
            "scene.toml:11:",
            "normal = \"viscoelastic\" does not follow a restitution",
        ],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ndissipative_time = \"1 us\"",
        &["scene.toml:13:", "`dissipative_time` is for normal = \"viscoelastic\"", "remove it"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ndissipative_time = \"-1 us\"",
        &["scene.toml:13:20", "out of range", "> 0 s"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\nnormal = \"potential\"",
        &["scene.toml:10:", "normal = \"potential\" needs `potential_energy`", "1e-6 J"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\npotential_energy = \"1 mJ\"",
        &["scene.toml:13:", "`potential_energy` is for normal = \"potential\"", "remove it"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\npotential_energy = \"1 N\"",
        &["scene.toml:13:20", "force [N]", "energy [J]"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\nnormal = \"hysteretic\"",
        &["scene.toml:10:", "normal = \"hysteretic\" needs `stiffness`", "1e5 N/m"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\nstiffness = \"1e5 N/m\"",
        &["scene.toml:13:", "`stiffness` is for normal = \"linear\" and \"hysteretic\""],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ntangential = \"linear\"",
        &[
            "scene.toml:10:",
            "tangential = \"linear\" with normal = \"hertz\" needs `tangential_stiffness`",
        ],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ntangential_stiffness = \"1e5 N/m\"",
        &["scene.toml:13:", "`tangential_stiffness` is for tangential = \"linear\""],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ntangential = \"mindlin_forse\"",
        &[
            "scene.toml:13:14",
            "unknown tangential law `mindlin_forse`",
            "did you mean `mindlin_force`?",
        ],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ncohesion = { }",
        &["scene.toml:13:", "interaction.glass-glass.cohesion: `law` is missing"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ncohesion = { law = \"jrk\" }",
        &["scene.toml:13:20", "unknown law of cohesion `jrk`", "did you mean `jkr`?"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ncohesion = { law = \"sjkr\" }",
        &["scene.toml:13:", "cohesion = \"sjkr\" needs `energy_density`", "1e5 J/m^3"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ncohesion = { law = \"dmt\" }",
        &["scene.toml:13:", "cohesion = \"dmt\" needs `surface_energy`", "0.05 J/m^2"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ncohesion = { law = \"jkr\", energy_density = \"1e5 J/m^3\" }",
        &["scene.toml:13:", "cohesion = \"jkr\" has no use for `energy_density`", "remove it"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ncohesion = { law = \"jkr\", surface_energy = \"-1 J/m^2\" }",
        &["scene.toml:13:", "surface_energy", "out of range", "> 0 J/m^2"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\nnormal = \"linear\"\nstiffness = \"1e5 N/m\"\ncohesion = { law = \"jkr\", surface_energy = \"1 J/m^2\" }",
        &["scene.toml:15:", "\"jkr\" is Hertz's law with a neck", "normal = \"hertz\""],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ncohesion = { law = \"capillary\", volume = \"1e-12 m^3\" }",
        &["scene.toml:13:", "cohesion = \"capillary\" needs `surface_tension`", "0.072 N/m"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ncohesion = { law = \"capillary\", surface_tension = \"0.072 N/m\" }",
        &["scene.toml:13:", "cohesion = \"capillary\" needs `volume`", "1e-12 m^3"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ncohesion = { law = \"capillary\", surface_tension = \"0.072 N/m\", volume = \"1 mm\" }",
        &["scene.toml:13:", "length [m]", "volume [m^3]"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ncohesion = { law = \"dmt\", surface_energy = \"1 J/m^2\", contact_angle = \"20 deg\" }",
        &["scene.toml:13:", "cohesion = \"dmt\" has no use for `contact_angle`"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\nrolling = { law = \"constant\" }",
        &["scene.toml:13:", "interaction.glass-glass.rolling: `coefficient` is missing"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\nrolling = { law = \"marshall\", coefficient = 0.1 }",
        &[
            "scene.toml:13:19",
            "unknown law against rolling `marshall`",
            "constant, elastic_plastic",
        ],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\nrolling = { law = \"constant\", coefficient = -0.1 }",
        &["scene.toml:13:", "-0.1 is out of range", ">= 0"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\nrolling = { law = \"constant\", coefficient = 0.1, damping = 1 }",
        &["scene.toml:13:", "unknown key", "Seixo calls it `damping_ratio`"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ntwisting = { law = \"marshall\", coefficient = 0.1 }",
        &[
            "scene.toml:13:",
            "every law against twisting but \"marshall\"",
            "{ law = \"marshall\" }",
        ],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ntwisting = { law = \"elastic_plastic\" }",
        &[
            "scene.toml:13:",
            "`coefficient` is needed by every law against twisting but \"marshall\"",
            "coefficient = 0.1",
        ],
    ),
    (
        "friction = 0.3",
        "tangential = \"none\"\ntwisting = { law = \"marshall\" }",
        &[
            "scene.toml:13:",
            "twisting after \"marshall\" follows from friction, and there is none",
            "tangential = \"mindlin\"",
        ],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\nrolling = { law = \"elastic_plastic\", coefficient = 0.1 }\ntwisting = { law = \"elastic_plastic\", coefficient = 0.1, damping_ratio = 0.5 }",
        &[
            "scene.toml:14:",
            "springs against rolling and twisting share one damping ratio",
            "remove this one",
        ],
    ),
];
