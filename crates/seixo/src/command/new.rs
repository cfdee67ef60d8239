//! `seixo new`: writes a template scene.

use super::{Done, Failure, write_file};
use crate::terminal;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use seixo_scene::templates;
use std::path::{Path, PathBuf};

/// Write a commented scene as a starting point
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo new --list             which templates there are
  seixo new silo               writes silo.toml
  seixo new silo wide.toml     writes wide.toml
  seixo new teapots            writes teapots.toml, and beside it the mesh that it reads

A template is the example of the same name.")]
pub struct NewArguments {
    /// Name of the template; without it all templates are listed
    #[arg(value_parser = PossibleValuesParser::new(templates().iter().map(|template| PossibleValue::new(template.name).help(template.about))))]
    template: Option<String>,
    /// File to write; default: TEMPLATE.toml
    file: Option<PathBuf>,
    /// List all templates, by topic
    #[arg(long, conflicts_with_all = ["template", "file", "force"])]
    list: bool,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

/// Writes the template, or lists all templates.
pub fn new(arguments: &NewArguments) -> Done {
    let wanted = arguments.template.as_deref().filter(|_| !arguments.list);
    let Some(template) = templates().iter().find(|template| Some(template.name) == wanted) else {
        return terminal::out(&list());
    };
    let file = arguments
        .file
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}.toml", template.name)));
    let beside: Vec<(PathBuf, &str)> = template
        .beside
        .iter()
        .map(|(name, text)| (file.with_file_name(name), *text))
        .collect();
    if !arguments.force {
        if file.exists() {
            return Err(in_the_way(&file, "name another file"));
        }
        // Several templates use the same files.
        let is_another = |(path, text): &&(PathBuf, &str)| path.exists() && std::fs::read(path).ok().as_deref() != Some(text.as_bytes());
        if let Some((path, _)) = beside.iter().find(is_another) {
            return Err(in_the_way(path, "name a file in another folder"));
        }
    }
    write_file(&file, template.text.as_bytes())?;
    let mut written = file.display().to_string();
    for (path, text) in &beside {
        write_file(path, text.as_bytes())?;
        written += &format!(" and {}", path.display());
    }
    let file = file.display();
    terminal::out(&format!(
        "wrote {written}: {}\nnext: seixo check {file}, then seixo run {file}",
        template.about
    ))
}

/// All templates, below the headings of their topics.
fn list() -> String {
    let all = templates();
    let width = all.iter().map(|template| template.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for of_topic in all.chunk_by(|one, next| one.topic == next.topic) {
        text += &format!("{}\n", of_topic[0].topic);
        for template in of_topic {
            text += &format!("  {:width$}  {}\n", template.name, template.about);
        }
    }
    format!("{text}\nseixo new {} writes the first of them to a file.", all[0].name)
}

fn in_the_way(path: &Path, remedy: &str) -> Failure {
    Failure::Input(format!(
        "{}: exists already, and nothing was overwritten; {remedy}, or use --force",
        path.display()
    ))
}
