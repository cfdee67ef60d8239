//! Names of scene keys in other programs, and common short forms.

/// A key, a key that stands beside it in the table that is meant (empty: any table), and its synonyms there.
const SYNONYMS: &[(&str, &str, &[&str])] = &[
    ("add", "", &["create", "insert"]),
    ("angle_of_repose", "", &["repose", "repose_angle"]),
    ("angular_velocity", "", &["omega", "spin", "angularVelocity"]),
    ("artificial_viscosity", "", &["alpha", "visco"]),
    ("average", "", &["ave_time", "time_average", "moving_average"]),
    ("bonds", "", &["bond", "cement", "parallel_bond"]),
    ("carried_by_fluid", "", &["drag", "two_way_coupling", "unresolved"]),
    ("checkpoint", "", &["restart", "savefile", "write_restart"]),
    ("cohesion", "rolling", &["adhesion"]),
    ("cohesion", "tensile_strength", &["shear_strength"]),
    ("count", "", &["number", "n", "particles_number"]),
    ("damping_ratio", "", &["zeta", "bond_damping"]),
    ("count_through", "", &["mass_flow", "discharge"]),
    ("damping", "among", &["dashpot", "critical_damping"]),
    ("damping_ratio", "coefficient", &["damping"]),
    ("dead_zone", "", &["stagnant_zone", "dead_volume"]),
    ("decomposition_invariant", "", &["divisible", "deterministic", "reproducible"]),
    ("density", "", &["rho", "rho0", "rhop0", "dens"]),
    ("density_diffusion", "", &["delta_sph", "DensityDT"]),
    ("device", "", &["backend", "package", "processor"]),
    ("displaces_fluid", "", &["floating", "resolved"]),
    (
        "domain",
        "",
        &["box", "bounds", "bounding_box", "simulation_box", "simulationdomain", "limits"],
    ),
    ("domains", "", &["processors", "ranks", "subdomains", "np", "mpi"]),
    (
        "every",
        "",
        &["interval", "dump_every", "period", "output_interval", "TimeOut", "dump"],
    ),
    ("fastest", "", &["max_velocity", "max_speed", "speedsystem", "reference_velocity"]),
    ("fields", "", &["variables", "columns", "dump_custom"]),
    ("fill", "", &["pack", "packing", "fillbox", "insert", "factory"]),
    ("fixed", "", &["freeze", "static", "frozen"]),
    ("fluid", "", &["water", "liquid", "sph"]),
    ("frequency", "", &["freq"]),
    (
        "friction",
        "",
        &[
            "mu",
            "friction_coefficient",
            "coefficientFriction",
            "sliding_friction",
            "xmu",
            "angle_of_friction",
            "frictionAngle",
        ],
    ),
    ("freeze", "", &["solidify", "solidification"]),
    ("friction_angle", "", &["phi", "frictionAngle"]),
    ("gpus", "", &["devices", "n_gpu"]),
    ("grains", "", &["particle", "particles", "atoms", "spheres", "granular", "bodies"]),
    ("gravity", "", &["g", "gravitational_acceleration"]),
    ("inlet", "", &["factory", "insertion", "emitter", "pour", "inflow", "insert"]),
    ("integrator", "", &["scheme", "stepalgorithm", "time_integration", "fix_nve"]),
    ("interaction", "", &["pair", "pair_style", "contact", "pair_coeff"]),
    ("leaving", "", &["boundary_condition", "out_of_domain"]),
    ("local_damping", "", &["damping", "numerical_damping"]),
    ("material", "", &["materials", "atom_type", "type"]),
    ("max", "", &["upper", "hi", "pointmax"]),
    ("melts_into", "", &["phase_change", "melt"]),
    ("mesh", "", &["stl", "file", "geometry", "facets"]),
    ("min", "", &["lower", "lo", "pointmin"]),
    ("motion", "", &["move", "mvrectuniform", "movement", "kinematics"]),
    (
        "normal",
        "friction",
        &["normal_model", "pair_model", "contact_law", "contact_model"],
    ),
    ("on", "every", &["attached_to", "follows", "rides_on"]),
    ("outlet", "", &["outflow", "sink"]),
    ("output", "", &["dump", "vtk", "write", "export"]),
    ("overlap_limit", "", &["max_overlap", "overlap"]),
    (
        "poisson_ratio",
        "",
        &["poisson", "nu", "poissonsRatio", "poissons_ratio", "poisson_number"],
    ),
    ("probe", "", &["monitor", "measure", "gauge", "compute", "recorder", "sensor"]),
    (
        "radius",
        "",
        &[
            "r",
            "diameter",
            "radius_min",
            "radius_max",
            "size",
            "particle_radius",
            "size_distribution",
        ],
    ),
    ("damping", "restitution", &["gamma_n", "gamman", "gammaN", "normal_damping"]),
    ("tangential_damping", "restitution", &["gamma_t", "gammat", "gammaT"]),
    ("rate", "mass", &["mass_rate", "massrate", "mass_flow_rate", "mass_flow"]),
    ("rate", "speed", &["flow_rate", "volume_rate", "discharge"]),
    ("remove", "", &["delete", "erase"]),
    (
        "restitution",
        "friction",
        &["e", "cor", "coefficient_of_restitution", "coefficientRestitution", "en"],
    ),
    ("rolling", "", &["rolling_friction", "mu_r", "rolling_resistance"]),
    ("rotate", "", &["omega", "angular_speed", "rotation", "mvrot"]),
    ("seed", "", &["random_seed"]),
    ("shape", "", &["clump", "multisphere", "template", "cluster"]),
    ("shear", "", &["lees_edwards"]),
    (
        "control",
        "",
        &["deform", "deform_pressure", "barostat", "press", "PeriTriaxController", "goal"],
    ),
    ("sides", "", &["boundary", "periodic", "boundaries", "boundary_conditions", "pbc"]),
    (
        "skin",
        "",
        &[
            "neighbor_skin",
            "verlet_distance",
            "verletDist",
            "cutoff_skin",
            "neighbor",
            "verlet",
        ],
    ),
    ("slip", "", &["noslip", "no_slip", "free_slip"]),
    ("smoothing", "", &["kernel", "kernel_function"]),
    (
        "solid_fraction",
        "",
        &[
            "fraction",
            "volume_fraction",
            "packing_fraction",
            "volumefraction_region",
            "porosity",
        ],
    ),
    ("solver", "", &["method", "formulation", "sph_method"]),
    ("sound_speed", "", &["c0", "cs", "coefsound", "speed_of_sound", "speedsound"]),
    ("spacing", "", &["dp", "dx", "particle_spacing", "particle_distance", "resolution"]),
    (
        "specific_heat_capacity",
        "",
        &["cp", "heat_capacity", "thermal_capacity", "specific_heat"],
    ),
    ("stage", "", &["phase", "step", "event"]),
    (
        "start",
        "grains",
        &["read_restart", "restart_from", "continue_from", "initial_state"],
    ),
    ("stiffness", "friction", &["k", "kn", "k_n", "normal_stiffness"]),
    ("support", "", &["coefh", "h", "smoothing_length"]),
    ("surface_energy", "", &["gamma", "work_of_adhesion", "cohesionEnergyDensity"]),
    ("surface_tension", "", &["sigma", "tension"]),
    ("surface_velocity", "", &["surface_vel", "conveyor", "belt_speed"]),
    ("tangential", "", &["tangential_model", "shear_model"]),
    ("tangential_stiffness", "", &["kt", "ks", "k_t", "shear_stiffness"]),
    (
        "tensile_strength",
        "",
        &["sigma_max", "sigmaMax", "strength", "bond_strength", "normal_strength"],
    ),
    (
        "film_thickness",
        "",
        &[
            "liquid_content",
            "surfaceLiquidContent",
            "surfaceLiquidContentInitial",
            "liquidVolume",
            "film_volume",
            "moisture",
        ],
    ),
    ("thermal_conductivity", "", &["conductivity", "k", "lambda"]),
    ("threads", "", &["cores", "omp_threads", "nthreads", "ompthreads", "omp"]),
    ("time_step", "", &["dt", "timestep", "delta_t", "DtIni"]),
    ("title", "", &["name", "label"]),
    ("translate", "", &["speed", "linear_velocity", "velocity"]),
    (
        "until",
        "",
        &["time", "end_time", "t_end", "duration", "TimeMax", "end", "run_time", "max_time"],
    ),
    ("velocity", "", &["v", "vel", "initial_velocity"]),
    ("viscosity", "", &["eta", "visco", "dynamic_viscosity", "mu"]),
    ("wall", "", &["geometry", "mesh", "fix_wall", "obstacle"]),
    ("wall_power", "", &["power", "motor_power"]),
    ("wall_torque", "", &["torque"]),
    ("world", "", &["environment", "global", "simulation"]),
    (
        "youngs_modulus",
        "",
        &[
            "young",
            "E",
            "youngsModulus",
            "young_modulus",
            "young_s_modulus",
            "modulus",
            "elastic_modulus",
        ],
    ),
    ("zone", "", &["region", "deletion_zone"]),
];

/// Synonyms of another quantity than the key: the key, the synonym, and how the key follows from it.
const CONVERSIONS: &[(&str, &str, &str)] = &[
    ("friction", "angle_of_friction", "the tangent of the angle"),
    ("friction", "frictionAngle", "the tangent of the angle"),
    ("radius", "diameter", "half of the diameter"),
    ("solid_fraction", "porosity", "1 minus the porosity"),
];

/// Keys of pairs of materials.
const OF_PAIRS: [&str; 2] = ["friction", "restitution"];
/// Keys of the tables in which those of pairs are looked for: of walls, grains and materials.
const NOT_OF_PAIRS: [&str; 3] = ["wear_coefficient", "carried_by_fluid", "poisson_ratio"];

/// Whether a key that a table does not have is one of pairs of materials, and the table is of a wall, of grains or of a material.
pub(crate) fn is_of_a_pair(key: &str, table: &[&str]) -> bool {
    OF_PAIRS.contains(&key) && NOT_OF_PAIRS.iter().any(|known| table.contains(known))
}

/// The synonyms of a key in a table with these keys.
pub(crate) fn of(key: &str, table: &[&str]) -> Vec<&'static str> {
    let here = SYNONYMS
        .iter()
        .filter(|(known, beside, _)| *known == key && (beside.is_empty() || table.contains(beside)));
    here.flat_map(|(.., words)| *words).copied().collect()
}

/// The one of the keys of a table that has a word as a synonym.
pub(crate) fn meant<'a>(word: &str, table: &[&'a str]) -> Option<&'a str> {
    let is_meant = |key: &&&str| of(key, table).iter().any(|known| known.eq_ignore_ascii_case(word));
    table.iter().find(is_meant).copied()
}

/// How a key follows from a synonym that is another quantity.
pub(crate) fn conversion(key: &str, word: &str) -> Option<&'static str> {
    let mut known = CONVERSIONS.iter();
    let found = known.find(|(of, synonym, _)| *of == key && synonym.eq_ignore_ascii_case(word));
    found.map(|(.., conversion)| *conversion)
}

/// The keys that have synonyms, and the keys beside them.
#[cfg(test)]
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    let names = SYNONYMS.iter().flat_map(|(key, beside, _)| [*key, *beside]);
    names.filter(|name| !name.is_empty())
}
