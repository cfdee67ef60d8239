//! Labels of a legend with the names of a scene.

use crate::coloring::Legend;
use seixo_files::scene_names::SceneNames;

/// Replaces the numbers of groups, materials and fluids in a legend by their names. Numbers without a name remain.
pub fn label(legend: &mut Legend, names: &SceneNames) {
    let Legend::Classes { name, classes } = legend else { return };
    let of_field: &[String] = match name.as_str() {
        "group" => &names.groups,
        "material" => &names.materials,
        "fluid" => &names.fluids,
        _ => &[],
    };
    for (label, _) in classes {
        let known = match label.strip_prefix("fluid ") {
            Some(number) => named(&names.fluids, number),
            None => named(of_field, label),
        };
        if let Some(known) = known {
            label.clone_from(known);
        }
    }
}

/// The name with a number.
fn named<'a>(names: &'a [String], number: &str) -> Option<&'a String> {
    names.get(number.parse::<usize>().ok()?).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::OTHERS;

    #[test]
    fn legends_have_the_names_of_the_scene() {
        let names = SceneNames {
            groups: vec!["beans".to_owned(), String::new()],
            materials: vec!["steel".to_owned()],
            fluids: vec!["water".to_owned()],
            ..SceneNames::default()
        };
        let labels = |field: &str, labels: &[&str]| {
            let mut legend = Legend::Classes {
                name: field.to_owned(),
                classes: labels.iter().map(|label| ((*label).to_owned(), OTHERS)).collect(),
            };
            label(&mut legend, &names);
            let Legend::Classes { classes, .. } = legend else {
                panic!("classes remain classes")
            };
            classes.into_iter().map(|(label, _)| label).collect::<Vec<_>>()
        };
        assert_eq!(labels("group", &["0", "1", "2", "fluid 0"]), ["beans", "1", "2", "water"]);
        assert_eq!(labels("material", &["0"]), ["steel"]);
        assert_eq!(labels("fluid", &["0"]), ["water"]);
        // Numbers of fragments are no numbers of groups.
        assert_eq!(labels("fragment", &["0", "others"]), ["0", "others"]);
    }
}
