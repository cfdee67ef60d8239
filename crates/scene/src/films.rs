//! Liquid films: whether a scene has them, and what they lack.

use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    scalars::{materials_of_grains, refuse_bodies, refuse_what_shows},
    schema::SceneFile,
};
use seixo_engine::state::GrainScalar;
use seixo_engine::world::World;

/// Thickness over radius up to which a film counts as thin.
const THIN: f64 = 0.1;

/// Reports films that no contact shares, and rates of exchange without films. Without films, the world has no rates either, so films cost nothing.
pub(crate) fn check_films(file: &SceneFile, world: &mut World, findings: &mut CheckState) {
    let wet = file.grains.iter().find(|(_, section)| section.film_thickness.is_some());
    if wet.is_none() && world.grains.scalars[GrainScalar::FilmThickness].is_empty() {
        for (name, _) in file.interaction.iter().filter(|(_, section)| section.film_exchange.is_some()) {
            findings.notices.push(format!(
                "interaction.{name}: `film_exchange` has no effect, as no grain has a `film_thickness`"
            ));
        }
        for interaction in world.interactions.iter_mut().flatten() {
            interaction.film_exchange = None;
        }
        refuse_what_shows(
            file,
            GrainScalar::FilmThickness,
            |section| vec![("group_film", section.group_film.is_some()), ("film", section.film == Some(true))],
            Vec::new(),
            "add film_thickness = \"20 um\" to the sections of wet grains, or remove this",
            findings,
        );
        return;
    }
    refuse_bodies(file, GrainScalar::FilmThickness, findings);
    let materials = materials_of_grains(file, world);
    let from = |a: u32| materials.range(a..).map(move |&b| [a, b]);
    let pairs = materials.iter().flat_map(|&a| from(a));
    let (sharing, others): (Vec<[u32; 2]>, Vec<[u32; 2]>) = pairs.partition(|&[a, b]| {
        let interaction = world.interaction(a, b);
        interaction.is_some_and(|interaction| interaction.film_exchange.is_some())
    });
    if sharing.is_empty() {
        let path = wet.map_or("grains".to_owned(), |(name, _)| format!("grains.{name}.film_thickness"));
        let complaint = UnlocatedDiagnostic::new(format!("{path}: no contact of grains shares the liquid of films"));
        findings.add(
            &path,
            complaint.remedy("add film_exchange = \"5 1/s\" to an [interaction.*] of these grains"),
        );
        return;
    }
    for pair in others {
        let [a, b] = pair.map(|material| &world.materials[material as usize].name);
        findings.notices.push(format!(
            "grains of {a} and {b} share no liquid, as interaction.{a}-{b} has no `film_exchange`"
        ));
    }
    let grains = &world.grains;
    let is_thick = |&k: &usize| grains.scalars[GrainScalar::FilmThickness][k] > THIN * grains.radius[k];
    if let Some(k) = (0..grains.len().min(grains.scalars[GrainScalar::FilmThickness].len())).find(is_thick) {
        findings.notices.push(format!(
            "grain {}: its film of {:.3e} m is thick beside its radius of {:.3e} m; a film changes neither radius nor mass, so it should be thin",
            grains.id[k],
            grains.scalars[GrainScalar::FilmThickness][k],
            grains.radius[k]
        ));
    }
}
