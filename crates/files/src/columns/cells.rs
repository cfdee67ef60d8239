//! Columns of a line: where one ends, and what a label says.

use std::borrow::Cow;

/// What stands between the columns of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    Semicolon,
    Tab,
    Comma,
    /// Spaces and tabs, in any number.
    Space,
}

impl Separator {
    /// All of them; of two that fit a header equally, the first is meant.
    pub(super) const ALL: [Separator; 4] = [Separator::Semicolon, Separator::Tab, Separator::Comma, Separator::Space];

    fn is(self, character: char) -> bool {
        match self {
            Separator::Semicolon => character == ';',
            Separator::Tab => character == '\t',
            Separator::Comma => character == ',',
            Separator::Space => character.is_whitespace(),
        }
    }

    /// The values of a row, without the quotes around them.
    pub(super) fn cells(self, text: &str) -> Vec<Cow<'_, str>> {
        if self == Separator::Tab && !text.contains('\t') {
            return Separator::Space.cells(text);
        }
        if text.contains('"') {
            return self.quoted_cells(text).into_iter().map(Cow::Owned).collect();
        }
        if self == Separator::Space {
            return text.split_whitespace().map(Cow::Borrowed).collect();
        }
        text.split(|c: char| self.is(c)).map(|cell| Cow::Borrowed(cell.trim())).collect()
    }

    /// The values of a row with quotes: between two of them, separators are text, and two in a row are one.
    fn quoted_cells(self, text: &str) -> Vec<String> {
        let mut cells = vec![String::new()];
        let mut is_quoted = false;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let Some(cell) = cells.last_mut() else { break };
            if is_quoted {
                if character != '"' {
                    cell.push(character);
                } else if characters.next_if_eq(&'"').is_some() {
                    cell.push('"');
                } else {
                    is_quoted = false;
                }
            } else if character == '"' && cell.trim().is_empty() {
                cell.clear();
                is_quoted = true;
            } else if self.is(character) {
                // Several spaces are one separator.
                while self == Separator::Space && characters.next_if(|next| next.is_whitespace()).is_some() {}
                cells.push(String::new());
            } else {
                cell.push(character);
            }
        }
        cells.iter().map(|cell| cell.trim().to_owned()).collect()
    }

    /// Column names of a header; what stands in brackets belongs to the name before it, spaces or not.
    pub(super) fn labels(self, text: &str) -> Vec<String> {
        if text.contains('"') {
            return self.quoted_cells(text);
        }
        let mut labels = vec![String::new()];
        let mut closing = None;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let Some(label) = labels.last_mut() else { break };
            closing = match (closing, character) {
                (None, '[') => Some(']'),
                (None, '(') => Some(')'),
                (Some(end), _) if end == character => None,
                (open, _) => open,
            };
            if self == Separator::Space && character.is_whitespace() {
                while characters.next_if(|next| next.is_whitespace()).is_some() {}
                if closing.is_some() || matches!(characters.peek(), Some('[' | '(')) {
                    continue;
                }
            }
            if closing.is_none() && self.is(character) {
                labels.push(String::new());
            } else {
                label.push(character);
            }
        }
        labels.iter().map(|label| label.trim().to_owned()).collect()
    }
}

/// A label in two parts: what stands outside and inside its last brackets, or, if it has none, its last parentheses.
pub(super) fn bracketed(label: &str) -> Option<(String, &str)> {
    let parts = |open: char, close: char| {
        let (name, rest) = label.rsplit_once(open)?;
        let (unit, rest) = rest.split_once(close).unwrap_or((rest, ""));
        Some((format!("{name}{rest}").trim().to_owned(), unit.trim()))
    };
    parts('[', ']').or_else(|| parts('(', ')'))
}

/// The ways to read a label without brackets as a name and a unit: `d / mm`, `Size, mm`, `Siebweite in mm`, `x_mm`.
pub(super) fn unbracketed(label: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = [" in ", " em ", ",", "/", "_", " "].into_iter();
    parts
        .filter_map(move |between| label.rsplit_once(between))
        .map(|(name, unit)| (name.trim(), unit.trim()))
}

/// A name as it is compared: letters and digits only, in lower case.
pub(super) fn bare(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_separators_and_double_quotes() {
        let cells = Separator::Comma.cells(r#" "1,5", 2 ,"a ""b""",,"#);
        assert_eq!(cells, ["1,5", "2", r#"a "b""#, "", ""]);
        assert_eq!(Separator::Space.cells("\"a b\"  2\t3"), ["a b", "2", "3"]);
        assert_eq!(Separator::Tab.cells("1\t\t3 4"), ["1", "", "3 4"]);
        assert_eq!(Separator::Tab.cells("1  3 4"), ["1", "3", "4"]);
    }

    #[test]
    fn labels_keep_their_units() {
        assert_eq!(Separator::Space.labels("x [mm] y[ cm ]\tz"), ["x[mm]", "y[cm]", "z"]);
        assert_eq!(
            Separator::Semicolon.labels("Sieve size (mm);d, mm;"),
            ["Sieve size (mm)", "d, mm", ""]
        );
        assert_eq!(Separator::Comma.labels("\"Points:0\",\"x (m)\""), ["Points:0", "x (m)"]);
        assert_eq!(
            Separator::Tab.labels("Sieve size (mm)\tPassing (%)"),
            ["Sieve size (mm)", "Passing (%)"]
        );
        assert_eq!(bracketed("x[m]"), Some(("x".to_owned(), "m")));
        assert_eq!(bracketed("Sieve size (mm)"), Some(("Sieve size".to_owned(), "mm")));
        assert_eq!(bracketed("x"), None);
    }
}
