//! Probes of fluids: from the keys of a scene to logged quantities.

use super::{Kind, check_heights, unknown};
use crate::{
    ProbeKind,
    diagnostics::UnlocatedDiagnostic,
    fill::si,
    quantity::{Length, Quantity},
    schema::ProbeSection,
    walls::unit,
};
use seixo_engine::world::{Vec3, World};

/// The logged quantity of a probe of fluids.
#[derive(Clone, Debug, PartialEq)]
pub enum FluidProbe {
    /// Number of particles, their mass and energy, and extremes.
    Totals,
    /// Pressures.
    Pressure {
        /// At these points \[m\].
        at: Vec<Vec3>,
    },
    /// Velocities.
    Velocity {
        /// At these points \[m\].
        at: Vec<Vec3>,
    },
    /// Heights of the free surface.
    SurfaceHeight {
        /// At these positions x y \[m\].
        at: Vec<[f64; 2]>,
    },
    /// The largest coordinate of a fluid.
    Front {
        /// Along this unit vector.
        along: Vec3,
        /// Of this fluid, an index into the fluids of the world; without, of any.
        fluid: Option<u32>,
    },
    /// Volume per time that passes a plane along its normal.
    FlowRate {
        /// A point of the plane \[m\].
        point: Vec3,
        /// Its unit normal.
        normal: Vec3,
        /// Of this fluid, an index into the fluids of the world; without, of all.
        fluid: Option<u32>,
    },
}

/// The fluid quantity of a section, or the key at fault and the reason.
type Asked = Result<FluidProbe, (String, UnlocatedDiagnostic)>;

/// The fluid quantities of a section: one for each key that is given.
pub(super) fn kinds(section: &ProbeSection, world: &World, is_sound: bool) -> Vec<Kind> {
    let keys = [
        (
            "fluid",
            section.fluid.filter(|&is_wanted| is_wanted).map(|_| Ok(FluidProbe::Totals)),
        ),
        (
            "fluid_pressure",
            section
                .fluid_pressure
                .as_ref()
                .map(|asked| places("fluid_pressure.at", &asked.at).map(|at| FluidProbe::Pressure { at })),
        ),
        (
            "fluid_velocity",
            section
                .fluid_velocity
                .as_ref()
                .map(|asked| places("fluid_velocity.at", &asked.at).map(|at| FluidProbe::Velocity { at })),
        ),
        (
            "surface_height",
            section.surface_height.as_ref().map(|asked| surface_height(&asked.at, world)),
        ),
        ("front", front(section, world)),
        ("flow_rate", flow_rate(section, world)),
    ];
    let asked = keys.into_iter().filter_map(|(key, asked)| Some((key, asked?)));
    let kind = |(key, asked): (&str, Asked)| match (&world.fluids, is_sound) {
        (Some(_), _) => asked.map(ProbeKind::Fluid),
        // Refused fluids are absent.
        (None, false) => Ok(ProbeKind::Fluid(FluidProbe::Totals)),
        (None, true) => {
            let complaint = UnlocatedDiagnostic::new("the scene has no fluids");
            Err((key.to_owned(), complaint.remedy("add a section [fluid.NAME], or remove the probe")))
        }
    };
    asked.map(kind).collect()
}

fn surface_height(at: &[[Quantity<Length>; 2]], world: &World) -> Asked {
    check_heights(world).map_err(|complaint| ("surface_height".to_owned(), complaint))?;
    places("surface_height.at", at).map(|at| FluidProbe::SurfaceHeight { at })
}

fn front(section: &ProbeSection, world: &World) -> Option<Asked> {
    let asked = section.front.as_ref()?;
    let along = unit(&asked.along).map_err(|complaint| ("front.along".to_owned(), complaint));
    let fluid = || fluid_of("front.fluid", asked.fluid.as_deref(), world);
    Some(along.and_then(|along| fluid().map(|fluid| FluidProbe::Front { along, fluid })))
}

fn flow_rate(section: &ProbeSection, world: &World) -> Option<Asked> {
    let asked = section.flow_rate.as_ref()?;
    let point = si(&asked.through.point);
    let normal = unit(&asked.through.normal).map_err(|complaint| ("flow_rate.through.normal".to_owned(), complaint));
    let fluid = || fluid_of("flow_rate.fluid", asked.fluid.as_deref(), world);
    Some(normal.and_then(|normal| fluid().map(|fluid| FluidProbe::FlowRate { point, normal, fluid })))
}

/// Positions as plain numbers, at least one.
fn places<const N: usize>(key: &str, at: &[[Quantity<Length>; N]]) -> Result<Vec<[f64; N]>, (String, UnlocatedDiagnostic)> {
    if at.is_empty() {
        let complaint = UnlocatedDiagnostic::new("there is no place to look at").limit("one place, or several");
        return Err((key.to_owned(), complaint.remedy("write a list of places, or remove the probe")));
    }
    Ok(at.iter().map(|place| place.map(|coordinate| coordinate.si)).collect())
}

/// The index of a fluid by its name; none for all.
pub(super) fn fluid_of(key: &str, name: Option<&str>, world: &World) -> Result<Option<u32>, (String, UnlocatedDiagnostic)> {
    let Some(name) = name else { return Ok(None) };
    let kinds = world.fluids.iter().flat_map(|fluids| &fluids.kinds);
    let names: Vec<&str> = kinds.map(|fluid| fluid.name.as_str()).collect();
    match names.iter().position(|known| *known == name) {
        Some(index) => Ok(Some(index as u32)),
        None => Err((key.to_owned(), unknown("fluid", name, names.into_iter()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_engine::world::{
        Fluid, Fluids, Grains, Particles, PressureTolerance, SignedDistances, Smoothing, Solver, ViscousForce, WallParticles,
    };

    /// A world with oil and water, or a dry one.
    fn world(is_wet: bool, gravity: Vec3) -> World {
        let fluids = Fluids {
            solver: Solver::default(),
            projection: PressureTolerance::default(),
            smoothing: Smoothing::default(),
            viscous_force: ViscousForce::default(),
            particle_shifting: false,
            spacing: 0.01,
            support: 0.03,
            across: None,
            kinds: ["oil", "water"].map(|name| Fluid::new(name, 1000.0, 30.0)).to_vec(),
            particles: Particles::default(),
            boundary: WallParticles::default(),
            slips: Vec::new(),
            inside: Vec::new(),
            signed_distances: SignedDistances::default(),
            largest_speed: 1.0,
            inlets: Vec::new(),
            outlets: Vec::new(),
            body_boundaries: Vec::new(),
        };
        World {
            gravity,
            materials: Vec::new(),
            interactions: Vec::new(),
            groups: Vec::new(),
            grains: Grains::default(),
            fluids: is_wet.then_some(fluids),
            ..World::default()
        }
    }

    const DOWN: Vec3 = [0.0, 0.0, -9.81];

    fn kinds_of(text: &str, world: &World) -> Vec<Kind> {
        kinds(&toml::from_str(text).unwrap(), world, true)
    }

    #[test]
    fn keys_become_what_they_ask_for() {
        let wet = world(true, DOWN);
        let cases = [
            ("fluid = true", FluidProbe::Totals),
            (
                "fluid_pressure.at = [[0, 0, 0.5], [1, 2, 3]]",
                FluidProbe::Pressure {
                    at: vec![[0.0, 0.0, 0.5], [1.0, 2.0, 3.0]],
                },
            ),
            (
                "fluid_velocity.at = [[\"1 cm\", 0, 0]]",
                FluidProbe::Velocity {
                    at: vec![[0.01, 0.0, 0.0]],
                },
            ),
            ("surface_height.at = [[1, 2]]", FluidProbe::SurfaceHeight { at: vec![[1.0, 2.0]] }),
            (
                "front.along = [-2, 0, 0]",
                FluidProbe::Front {
                    along: [-1.0, 0.0, 0.0],
                    fluid: None,
                },
            ),
            (
                "flow_rate = { through = { point = [1, 0, 0], normal = [0, 3, 0] }, fluid = \"water\" }",
                FluidProbe::FlowRate {
                    point: [1.0, 0.0, 0.0],
                    normal: [0.0, 1.0, 0.0],
                    fluid: Some(1),
                },
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(kinds_of(text, &wet).pop(), Some(Ok(ProbeKind::Fluid(expected))), "{text}");
        }
        assert!(kinds_of("fluid = false", &wet).is_empty());
        assert_eq!(kinds_of("fluid = true\nfront.along = [1, 0, 0]", &wet).len(), 2);
    }

    #[test]
    fn what_cannot_be_logged_is_refused_with_its_key() {
        let refused = |text: &str, world: &World| match kinds_of(text, world).pop() {
            Some(Err((key, complaint))) => (key, complaint.message),
            other => panic!("{text}: {other:?}"),
        };
        let wet = world(true, DOWN);
        let cases = [
            ("front = { along = [1, 0, 0], fluid = \"watr\" }", "front.fluid", "`watr`"),
            ("front.along = [0, 0, 0]", "front.along", "length zero"),
            (
                "flow_rate.through = { point = [0, 0, 0], normal = [0, 0, 0] }",
                "flow_rate.through.normal",
                "length zero",
            ),
            ("fluid_pressure.at = []", "fluid_pressure.at", "no place"),
        ];
        for (text, key, phrase) in cases {
            let (found, message) = refused(text, &wet);
            assert!(found == key && message.contains(phrase), "{text}: {found} {message}");
        }
        for gravity in [[0.0; 3], [0.0, 0.0, 9.81], [1.0, 0.0, -9.81]] {
            let (key, message) = refused("surface_height.at = [[1, 2]]", &world(true, gravity));
            assert!(key == "surface_height" && message.contains("-z"), "{message}");
        }
        let dry = world(false, DOWN);
        assert_eq!(
            refused("fluid = true", &dry),
            ("fluid".to_owned(), "the scene has no fluids".to_owned())
        );
        let unsound = kinds(&toml::from_str("fluid_pressure.at = [[0, 0, 0]]").unwrap(), &dry, false);
        assert!(unsound[0].is_ok(), "fluids that were refused are not there to be seen");
    }
}
