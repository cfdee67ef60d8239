//! Joints of the bodies of a section to space.

use crate::{
    diagnostics::UnlocatedDiagnostic,
    fill::si,
    schema::{GrainsSection, JointSection},
    walls::unit,
};
use seixo_engine::world::{Joint, Vec3};

/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

/// The joint of a body with this center of mass \[m\].
pub(crate) fn joint(section: &JointSection, center: Vec3) -> Result<Joint, At> {
    match section {
        JointSection::Hinge(hinge) => Ok(Joint::Hinge {
            through: hinge.through.as_ref().map_or(center, si),
            axis: unit(&hinge.axis).map_err(|complaint| ("joint.hinge.axis", complaint))?,
        }),
        JointSection::Ball(ball) => Ok(Joint::Ball {
            through: ball.through.as_ref().map_or(center, si),
        }),
        JointSection::Slider(slider) => Ok(Joint::Slider {
            along: unit(&slider.along).map_err(|complaint| ("joint.slider.along", complaint))?,
        }),
    }
}

/// Refuses joints of grains that cannot have one.
pub(crate) fn check(section: &GrainsSection) -> Result<(), At> {
    let Some(request) = &section.joint else { return Ok(()) };
    joint(request, [0.0; 3])?;
    let others = [
        (
            "inlet",
            section.inlet.is_some(),
            "bodies on joints are there from the start",
            "use `file`, `fill` or `at`",
        ),
        (
            "carried_by_fluid",
            section.carried_by_fluid,
            "a fluid carries what moves freely",
            "remove one of the two, or write displaces_fluid = true for what is thicker than some spacings of the fluid",
        ),
    ];
    others
        .into_iter()
        .find(|(_, is_given, ..)| *is_given)
        .map_or(Ok(()), |(key, _, reason, remedy)| {
            Err((
                key,
                UnlocatedDiagnostic::new(format!("`{key}` does not go with `joint`: {reason}")).remedy(remedy),
            ))
        })
}
