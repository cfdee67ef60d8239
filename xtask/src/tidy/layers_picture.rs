//! The picture of the layers: rows of crates, and rows of the modules of the engine.

use super::imports::{Rows, rows_of_crates, rows_of_modules};
use super::source::Source;
use super::{Page, Violation};

/// Where the picture is.
pub const PICTURE: &str = "docs/pictures/layers.svg";

const WIDTH: usize = 1000;
const LINE: usize = 24;
/// Width of a letter, and space between and around names.
const LETTER: usize = 8;
const SPACE: usize = 8;

/// Draws the picture. Names of a row stand in as many lines as they need.
pub fn draw(pages: &[Page], sources: &[Source]) -> String {
    let parts = [
        ("Crates", rows_of_crates(pages)),
        ("Modules of crates/engine", rows_of_modules("crates/engine", sources)),
    ];
    let (mut body, mut y) = (String::new(), 0);
    for (title, rows) in parts {
        y += 32;
        body += &format!("<text x=\"{SPACE}\" y=\"{y}\" font-weight=\"bold\">{title}: each row uses rows below it only</text>\n");
        y += 12;
        y = draw_rows(&rows, y, &mut body);
    }
    let height = y + SPACE;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"DejaVu Sans Mono, monospace\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// Draws rows from the highest to the lowest, and returns where they end.
fn draw_rows(rows: &Rows, mut y: usize, body: &mut String) -> usize {
    for row in rows.iter().rev() {
        let (mut lines, mut x) = (vec![Vec::new()], SPACE);
        for name in row {
            let width = name.len() * LETTER + 2 * SPACE;
            if x + width > WIDTH - 2 * SPACE {
                lines.push(Vec::new());
                x = SPACE;
            }
            let last = lines.len() - 1;
            lines[last].push((x, width, name));
            x += width + SPACE;
        }
        let height = lines.len() * (LINE + 4) + 4;
        *body += &format!(
            "<rect x=\"2\" y=\"{y}\" width=\"{}\" height=\"{height}\" fill=\"#eef3f8\" stroke=\"#8aa\"/>\n",
            WIDTH - 4
        );
        for (k, line) in lines.iter().enumerate() {
            let top = y + 4 + k * (LINE + 4);
            for (x, width, name) in line {
                *body += &format!(
                    "<rect x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{LINE}\" rx=\"4\" fill=\"white\" stroke=\"#467\"/>\n<text x=\"{}\" y=\"{}\">{name}</text>\n",
                    x + SPACE,
                    top + 17
                );
            }
        }
        y += height + 6;
    }
    y
}

/// Reports a picture that is not that of the code.
pub fn check(drawn: &str, kept: Option<&str>, found: &mut Vec<Violation>) {
    if kept != Some(drawn) {
        found.push(Violation {
            path: PICTURE.to_owned(),
            line: 1,
            rule: 15,
            what: "the picture shows other layers than the code has".to_owned(),
            remedy: "draw it again with `cargo xtask layers`",
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::page;
    use super::*;

    #[test]
    fn rows_stand_above_what_they_use() {
        let manifests = [
            page("crates/low/Cargo.toml", "[package]\n"),
            page(
                "crates/high/Cargo.toml",
                "[package]\n\n[dependencies]\nseixo-low.workspace = true\n",
            ),
        ];
        let sources = [Source::new("crates/engine/src/alone.rs", "")];
        let drawn = draw(&manifests, &sources);
        let places = ["high", "low", "alone"].map(|name| drawn.find(&format!(">{name}<")).unwrap());
        assert!(places.is_sorted(), "{places:?}");
        let mut found = Vec::new();
        check(&drawn, Some(&drawn), &mut found);
        assert!(found.is_empty());
        check(&drawn, None, &mut found);
        assert_eq!(found.len(), 1);
    }
}
