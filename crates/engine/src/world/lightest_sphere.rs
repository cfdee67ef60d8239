//! Spheres that allow the shortest time steps, on behalf of all grains of a material.

use super::{World, mass_of_sphere, volume_of_sphere};

/// A sphere that stands for some grains of a material: none of them allows a shorter time step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LightestSphere {
    /// Index into [`World::materials`].
    pub material: usize,
    /// Radius \[m\].
    pub radius: f64,
    /// Mass \[kg\].
    pub mass: f64,
    /// Density \[kg/m³\].
    pub density: f64,
}

/// For each material the smallest sphere of its density, and a sphere for the grains whose mass is given. That one is as small as the smallest of
/// them, and its m/R is the smallest of theirs. So R, m, m/R and m²/R, with which the limits of time steps grow, are at most those of any of them.
/// `takes` selects grains of the world; all grains that may be added later are taken.
pub(crate) fn lightest_spheres(world: &World, takes: impl Fn(usize) -> bool) -> Vec<LightestSphere> {
    let grains = &world.grains;
    let now = (0..grains.len()).filter(|&k| takes(k)).map(|k| {
        let given = grains.masses.get(&grains.id[k]);
        let radius = grains.contact_radius(k, &world.shapes);
        (grains.material[k], radius, given.map(|mass| mass / radius))
    });
    let later = world.later.grains.iter().map(|kind| {
        let shape = kind.shape.and_then(|shape| world.shapes.get(shape as usize));
        // The smallest is the lightest for its radius, and has the smallest radius in contacts.
        let of_shape = shape.map(|shape| {
            let (scale, density) = (kind.radius[0], world.materials[kind.material as usize].density);
            let radius = scale * shape.rounding;
            (kind.material, radius, Some(shape.mass(scale, density) / radius))
        });
        of_shape.unwrap_or((kind.material, kind.radius[0], kind.mass_per_radius))
    });
    // Of each material: smallest radius by density, smallest radius with a given mass, smallest mass over radius.
    let mut smallest = vec![[f64::INFINITY; 3]; world.materials.len()];
    for (material, radius, given) in now.chain(later) {
        let [of_density, of_given, per_radius] = &mut smallest[material as usize];
        if let Some(given) = given {
            (*of_given, *per_radius) = (of_given.min(radius), per_radius.min(given));
        } else {
            *of_density = of_density.min(radius);
        }
    }
    let mut spheres = Vec::new();
    for (material, &[of_density, of_given, per_radius]) in smallest.iter().enumerate() {
        if of_density.is_finite() {
            let (radius, density) = (of_density, world.materials[material].density);
            spheres.push(LightestSphere {
                material,
                radius,
                mass: mass_of_sphere(radius, density),
                density,
            });
        }
        if of_given.is_finite() {
            let mass = per_radius * of_given;
            spheres.push(LightestSphere {
                material,
                radius: of_given,
                mass,
                density: mass / volume_of_sphere(of_given),
            });
        }
    }
    spheres
}
