//! What other programs, and people in a hurry, call the keys of a scene.

/// A key and the words that mean it elsewhere.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("add", &["create", "insert"]),
    ("angular_velocity", &["omega", "spin", "angularVelocity"]),
    ("bonds", &["bond", "cement", "parallel_bond"]),
    ("checkpoint", &["restart", "savefile", "write_restart"]),
    ("cohesion", &["adhesion"]),
    ("thermal_conductivity", &["conductivity", "k", "lambda"]),
    ("count", &["number", "n", "particles_number"]),
    ("damping_ratio", &["zeta", "bond_damping"]),
    ("density", &["rho", "rho0", "rhop0", "dens"]),
    ("device", &["backend", "package", "processor"]),
    ("divisible", &["decomposition_invariant", "deterministic", "reproducible"]),
    ("domain", &["box", "bounds", "bounding_box", "simulation_box", "limits"]),
    ("domains", &["processors", "ranks", "subdomains", "np"]),
    ("every", &["interval", "dump_every", "period", "output_interval", "TimeOut"]),
    ("fields", &["variables", "columns", "dump_custom"]),
    ("fill", &["pack", "packing", "fillbox"]),
    ("fluid", &["water", "liquid", "sph"]),
    ("frequency", &["freq"]),
    (
        "friction",
        &["mu", "friction_coefficient", "coefficientFriction", "sliding_friction", "xmu"],
    ),
    ("friction_angle", &["phi", "frictionAngle"]),
    ("gpus", &["devices", "n_gpu"]),
    ("grains", &["particle", "particles", "atoms", "spheres", "granular", "bodies"]),
    ("gravity", &["g", "gravitational_acceleration"]),
    (
        "specific_heat_capacity",
        &["cp", "heat_capacity", "thermal_capacity", "specific_heat"],
    ),
    ("inlet", &["factory", "insertion", "emitter", "pour", "inflow"]),
    ("integrator", &["scheme", "stepalgorithm", "time_integration", "fix_nve"]),
    ("interaction", &["pair", "pair_style", "contact", "pair_coeff", "contact_model"]),
    ("leaving", &["boundary_condition", "out_of_domain"]),
    ("local_damping", &["damping", "numerical_damping"]),
    ("material", &["materials", "atom_type", "type"]),
    ("max", &["upper", "hi", "pointmax"]),
    ("mesh", &["stl", "file", "geometry", "facets"]),
    ("min", &["lower", "lo", "pointmin"]),
    ("motion", &["move", "mvrectuniform", "movement", "kinematics"]),
    ("normal", &["normal_model", "pair_model", "contact_law"]),
    ("outlet", &["outflow", "sink"]),
    ("output", &["dump", "vtk", "write", "export"]),
    ("overlap_limit", &["max_overlap", "overlap"]),
    (
        "poisson_ratio",
        &["poisson", "nu", "poissonsRatio", "poissons_ratio", "poisson_number"],
    ),
    ("probe", &["monitor", "measure", "gauge", "compute", "recorder"]),
    ("radius", &["r", "diameter", "radius_min", "radius_max", "size", "particle_radius"]),
    ("rate", &["mass_rate", "massrate", "mass_flow_rate"]),
    ("remove", &["delete", "erase"]),
    ("restitution", &["e", "cor", "coefficient_of_restitution", "coefficientRestitution"]),
    ("rolling", &["rolling_friction", "mu_r", "rolling_resistance"]),
    ("rotate", &["omega", "angular_speed", "rotation", "mvrot"]),
    ("seed", &["random_seed"]),
    ("shape", &["clump", "multisphere", "template", "cluster"]),
    ("shear", &["strain_rate", "deform", "lees_edwards"]),
    ("sides", &["boundary", "periodic", "boundaries", "boundary_conditions", "pbc"]),
    ("skin", &["neighbor_skin", "verlet_distance", "verletDist", "cutoff_skin"]),
    ("solver", &["method", "formulation", "sph_method"]),
    ("sound_speed", &["c0", "cs", "coefsound", "speed_of_sound", "speedsound"]),
    ("spacing", &["dp", "dx", "particle_spacing", "particle_distance", "resolution"]),
    ("stage", &["phase", "step", "event"]),
    ("stiffness", &["k", "kn", "k_n", "normal_stiffness"]),
    ("surface_energy", &["gamma", "work_of_adhesion", "cohesionEnergyDensity"]),
    ("surface_tension", &["sigma", "tension"]),
    ("tangential", &["tangential_model", "shear_model"]),
    ("tensile_strength", &["sigma_max", "sigmaMax", "strength"]),
    ("threads", &["cores", "omp_threads", "nthreads", "ompthreads"]),
    ("time_step", &["dt", "timestep", "delta_t", "dtini"]),
    ("title", &["name", "label"]),
    ("translate", &["velocity", "speed", "linear_velocity"]),
    (
        "until",
        &[
            "time", "end_time", "t_end", "duration", "timemax", "TimeMax", "end", "run_time", "max_time",
        ],
    ),
    ("velocity", &["v", "vel", "initial_velocity"]),
    ("viscosity", &["eta", "visco", "dynamic_viscosity", "mu"]),
    ("wall", &["boundary", "geometry", "mesh", "fix_wall", "obstacle"]),
    ("world", &["environment", "global", "simulation"]),
    (
        "youngs_modulus",
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
    ("zone", &["region", "deletion_zone"]),
];

/// What a key is called elsewhere.
pub(crate) fn of(key: &str) -> Vec<&'static str> {
    let found = SYNONYMS.iter().find(|(known, _)| *known == key);
    found.map_or_else(Vec::new, |(_, words)| words.to_vec())
}

/// The key among these that a word means elsewhere.
pub(crate) fn meant<'a>(word: &str, keys: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let is_meant = |key: &&str| of(key).iter().any(|known| known.eq_ignore_ascii_case(word));
    keys.into_iter().find(is_meant)
}

/// The keys that have synonyms.
#[cfg(test)]
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    SYNONYMS.iter().map(|(key, _)| *key)
}
