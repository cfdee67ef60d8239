//! Keys of sections of grains that do not go together.

use crate::{diagnostics::UnlocatedDiagnostic, schema::GrainsSection};

/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

/// Refuses an inlet of clumps.
pub(crate) fn refuse_clumps_of_inlet(section: &GrainsSection, is_polyhedron: bool) -> Result<(), At> {
    if section.shape.is_none() || section.inlet.is_none() || is_polyhedron {
        return Ok(());
    }
    Err((
        "inlet",
        UnlocatedDiagnostic::new("clumps do not come through inlets yet")
            .limit("`file`, `fill` or `at`; or a shape with kind = \"polyhedron\"")
            .remedy("let them fall from a fill with method = \"rain\", or leave `shape` out"),
    ))
}

/// Refuses ids of clumps from a file.
pub(crate) fn refuse_ids_of_clumps(section: &GrainsSection, is_polyhedron: bool, has_ids: bool) -> Result<(), At> {
    if section.shape.is_none() || is_polyhedron || !has_ids {
        return Ok(());
    }
    let complaint = UnlocatedDiagnostic::new("a column `id` numbers grains, and a clump has several");
    Err(("file", complaint.remedy("drop the column")))
}

/// Refuses keys of polyhedral grains that are for other bodies.
pub(crate) fn refuse_couplings_of_polyhedra(section: &GrainsSection, is_polyhedron: bool) -> Result<(), At> {
    let has_blocks = section.blocks.is_some();
    if !is_polyhedron && !has_blocks {
        return Ok(());
    }
    let refused = [
        (
            section.displaces_fluid && section.joint.is_some(),
            "displaces_fluid",
            "fluids do not flow around polyhedral grains on joints yet",
            "leave `displaces_fluid` or `joint` out, or use a clump: a shape of spheres, without `kind`",
        ),
        (
            section.displaces_fluid && has_blocks,
            "displaces_fluid",
            "each block has a shape of its own, and fluids do not flow around blocks yet",
            "leave `displaces_fluid` out, so that fluids pass through them; or use a polyhedron by `shape`",
        ),
        (
            section.carried_by_fluid && has_blocks,
            "carried_by_fluid",
            "a fluid carries spheres, whose drag is known, and no blocks",
            "leave `carried_by_fluid` out",
        ),
        (
            section.melts_into.is_some(),
            "melts_into",
            "polyhedral grains do not melt yet",
            "leave `melts_into` out, or use a clump: a shape of spheres, without `kind`",
        ),
    ];
    let first = refused.into_iter().find(|(is_there, ..)| *is_there);
    first.map_or(Ok(()), |(_, key, what, remedy)| {
        Err((key, UnlocatedDiagnostic::new(what).remedy(remedy)))
    })
}

/// Refuses masses of grains that take them from elsewhere.
pub(crate) fn refuse_mass(section: &GrainsSection) -> Result<(), UnlocatedDiagnostic> {
    let is_body = section.shape.is_some() || !section.is_boundary() && (section.joint.is_some() || section.displaces_fluid);
    if is_body {
        let complaint =
            UnlocatedDiagnostic::new("a mass is for single spheres: that of a rigid body follows from its volume and the density");
        return Err(complaint.remedy("remove it, and write a material with another density"));
    }
    if section.inlet.is_some() {
        let complaint = UnlocatedDiagnostic::new("grains of an inlet have the density of their material").limit("`file`, `fill` or `at`");
        return Err(complaint.remedy("remove it, and write a material with another density"));
    }
    Ok(())
}

/// Refuses grains that fluids cannot carry, because fluids have to flow around them.
pub(crate) fn refuse_to_be_carried(section: &GrainsSection) -> Result<(), At> {
    if section.displaces_fluid {
        let complaint = UnlocatedDiagnostic::new("a fluid flows around what displaces it, and through what it carries");
        return Err((
            "carried_by_fluid",
            complaint.remedy(
                "keep `displaces_fluid` for what is thicker than some spacings of the fluid, `carried_by_fluid` for what is smaller",
            ),
        ));
    }
    if section.shape.is_some() {
        let complaint = UnlocatedDiagnostic::new("a fluid carries spheres, whose drag is known, and no clumps");
        return Err((
            "carried_by_fluid",
            complaint
                .remedy("leave `shape` out, or write displaces_fluid = true for clumps that are thicker than some spacings of the fluid"),
        ));
    }
    Ok(())
}
