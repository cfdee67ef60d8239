//! `seixo explain`: describes the keys of a scene.

use super::{Done, Failure, write_file};
use crate::terminal;
use clap::Args;
use seixo_scene::explain::{self, Key};
use std::path::PathBuf;

/// Explain keys of the scene file: meaning, unit, accepted values, default, example
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo explain                       the sections of a scene
  seixo explain wall.motion.servo     a table with all of its keys
  seixo explain friction              every key of this name, or that other programs call so
  seixo explain units                 the units that numbers take
  seixo explain --all                 every key
  seixo explain --pages docs/reference    the same as pages of Markdown")]
pub struct ExplainArguments {
    /// Key such as wall.motion.servo, a word to search for, or `units`; without it the sections are listed
    topic: Option<String>,
    /// Explain every key
    #[arg(long, conflicts_with = "topic")]
    all: bool,
    /// Write the whole reference as Markdown pages into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["topic", "all"])]
    pages: Option<PathBuf>,
}

/// Prints the explanation, or writes the pages.
pub fn explain(arguments: &ExplainArguments) -> Done {
    if let Some(folder) = &arguments.pages {
        for (name, text) in explain::pages() {
            let path = folder.join(name);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)
                    .map_err(|error| Failure::Run(format!("{}: cannot create it: {error}", folder.display())))?;
            }
            write_file(&path, text.as_bytes())?;
        }
        return Ok(());
    }
    let keys = match arguments.topic.as_deref() {
        Some("units") => return terminal::out(&explain::units()),
        Some(topic) => explain::find(topic).map_err(|remedy| Failure::Input(format!("no key of a scene is `{topic}`: {remedy}")))?,
        None if arguments.all => explain::keys(),
        None => explain::sections(),
    };
    let text: Vec<String> = keys.iter().map(Key::text).collect();
    terminal::out(&text.join("\n"))
}
