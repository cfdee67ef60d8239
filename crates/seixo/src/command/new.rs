//! `seixo new`: a scene to start from.

use super::{Done, Failure, write_file};
use crate::say;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use seixo::scene::templates;
use std::path::PathBuf;

/// Write a commented scene to start from
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo new                    which templates there are
  seixo new silo               writes silo.toml
  seixo new silo wide.toml     writes wide.toml")]
pub struct NewArguments {
    /// The template; all are listed if left out
    #[arg(value_parser = PossibleValuesParser::new(templates().iter().map(|template| PossibleValue::new(template.name).help(template.about))))]
    template: Option<String>,
    /// The file to write; TEMPLATE.toml if left out
    file: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
}

/// Writes the template, or lists all.
pub fn new(arguments: &NewArguments) -> Done {
    let wanted = arguments.template.as_deref();
    let Some(template) = templates().iter().find(|template| Some(template.name) == wanted) else {
        let lines: Vec<String> = templates()
            .iter()
            .map(|template| format!("{:12} {}", template.name, template.about))
            .collect();
        return say::out(&format!(
            "{}\n\nseixo new {} writes the first of them to a file.",
            lines.join("\n"),
            templates()[0].name
        ));
    };
    let file = arguments
        .file
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}.toml", template.name)));
    if file.exists() && !arguments.force {
        let file = file.display();
        return Err(Failure::Input(format!(
            "{file}: exists already, and nothing was overwritten; name another file, or use --force"
        )));
    }
    write_file(&file, template.text.as_bytes())?;
    let file = file.display();
    say::out(&format!(
        "wrote {file}: {}\nnext: seixo check {file}, then seixo run {file}",
        template.about
    ))
}
