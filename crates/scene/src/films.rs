//! Liquid films: whether a scene has them, and what they lack.

use crate::{assemble::CheckState, diagnostics::UnlocatedDiagnostic, scalars::refuse_what_shows, schema::SceneFile};
use seixo_engine::state::GrainScalar;
use seixo_engine::world::World;

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
    if !world.has_films() {
        let path = wet.map_or("grains".to_owned(), |(name, _)| format!("grains.{name}.film_thickness"));
        let complaint = UnlocatedDiagnostic::new(format!("{path}: no contact shares the liquid of films"));
        findings.add(
            &path,
            complaint.remedy("add film_exchange = \"5 1/s\" to an [interaction.*] of these grains"),
        );
    }
}
