//! Details of one particle of a frame.

use std::path::Path;
use std::sync::Arc;

use seixo_files::vtk::{VtkContacts, read_contacts, unit_of};

use crate::{
    Particle, ParticleDetails, SnapshotParts, ViewError,
    fluid::SphereSet,
    picture::{contacts_of, frames_of},
    scale,
};

/// Digits of the numbers.
const DIGITS: i32 = 6;
/// Most contacts in the details.
const MAX_CONTACTS: usize = 24;

/// Details of a particle in a frame of a run folder. `tables` provides the tables of the frame with a given file.
///
/// # Errors
/// If the frame cannot be read.
pub fn details_of(
    run_folder: &Path,
    frame: usize,
    particle: Particle,
    tables: impl FnOnce(&Path) -> Result<Arc<SphereSet>, ViewError>,
) -> Result<ParticleDetails, ViewError> {
    let files = frames_of(run_folder)?;
    let last = files.len() - 1;
    let path = files.get(frame).ok_or(ViewError::FrameOutOfRange { frame, last })?;
    let balls = tables(path)?;
    let contacts = match contacts_of(run_folder, path) {
        Ok(path) if particle.is_grain => Some(read_contacts(&path)?),
        _ => None,
    };
    Ok(details(&balls, contacts.as_ref(), particle))
}

impl ParticleDetails {
    /// Details of a particle in the parts of a snapshot.
    pub fn of_parts(parts: SnapshotParts, particle: Particle) -> ParticleDetails {
        let balls = SphereSet::of_both(parts.grains, parts.fluid);
        let contacts = parts.contacts.filter(|_| particle.is_grain);
        details(&balls, contacts.as_ref(), particle)
    }

    /// Its contacts as text, one line each: their number, and some of them. Empty for a fluid particle, which has none.
    pub fn of_contacts(&self, is_grain: bool) -> Vec<String> {
        let first = match self.touching {
            Some(1) => "1 contact".to_owned(),
            Some(count) => format!("{count} contacts"),
            None if is_grain => "contacts were not recorded: contacts = true under [output]".to_owned(),
            None => return Vec::new(),
        };
        let more = self.touching.unwrap_or(0).saturating_sub(self.contacts.len());
        let last = (more > 0).then(|| format!("and {more} more"));
        std::iter::once(first).chain(self.contacts.iter().cloned()).chain(last).collect()
    }
}

/// Details of a particle from these tables.
fn details(balls: &SphereSet, contacts: Option<&VtkContacts>, Particle { id, is_grain }: Particle) -> ParticleDetails {
    let points = &balls.points;
    let among = if is_grain { 0..balls.grains } else { balls.grains..points.id.len() };
    let Some(place) = among.into_iter().find(|&place| points.id[place] == id) else {
        return ParticleDetails::default();
    };
    let (position, radius) = (&points.position[place], points.radius[place]);
    let word = |value: f64, unit: &str| {
        let (factor, unit) = scale::readable(value.abs(), unit);
        format!("{} {unit}", scale::digits(value * factor, DIGITS))
    };
    let vector = |row: &[f64], unit: &str| {
        let extent = row.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let (factor, unit) = scale::readable(extent, unit);
        let numbers: Vec<String> = row.iter().map(|value| scale::digits(value * factor, DIGITS)).collect();
        format!("{} {unit}", numbers.join(", "))
    };
    let mut values = vec![
        ("position".to_owned(), vector(position, "m")),
        ("radius".to_owned(), word(radius, "m")),
    ];
    for (name, all, width) in &points.scalars {
        let row = &all[place * width..(place + 1) * width];
        // A field of other particles only.
        if row.iter().all(|value| value.is_nan()) {
            continue;
        }
        let reported = if *width == 1 {
            word(row[0], unit_of(name))
        } else {
            vector(row, unit_of(name))
        };
        values.push((name.replace('_', " "), reported));
    }
    let is_of_it = |partners: &(u32, Option<u32>, u32)| partners.0 == id || partners.1 == Some(id);
    let of_grain = contacts.iter().flat_map(|contacts| {
        let touching = contacts.partners.iter().enumerate().filter(|(_, partners)| is_of_it(partners));
        touching.map(|(k, &(a, b, wall))| {
            let other = match (b, wall) {
                (Some(b), _) => format!("grain {}", if a == id { b } else { a }),
                (None, wall) => format!("wall {wall}"),
            };
            let across = contacts.tangential_force[k].iter().map(|force| force * force).sum::<f64>().sqrt();
            format!(
                "{other}: {} normal, {} tangential",
                word(contacts.normal_force[k], "N"),
                word(across, "N")
            )
        })
    });
    ParticleDetails {
        touching: contacts.map(|contacts| contacts.partners.iter().filter(|partners| is_of_it(partners)).count()),
        contacts: of_grain.take(MAX_CONTACTS).collect(),
        values,
    }
}
