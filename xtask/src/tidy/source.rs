//! A Rust file as the rules see it: code without comments and literals, comments without code.

/// A Rust file.
pub struct Source {
    /// Path from the root, with `/`.
    pub path: String,
    /// Its lines as they stand.
    pub lines: Vec<String>,
    /// The text with comments and the insides of literals blanked; line breaks stay.
    pub code: String,
    /// Comments with the number of their line, from 1; a block comment gives one entry a line.
    pub comments: Vec<(usize, String)>,
    /// String literals in the same form.
    pub literals: Vec<(usize, String)>,
}

/// A function's head.
pub struct Head<'a> {
    /// Line of its `fn`.
    pub line: usize,
    /// From `fn` to the body or the semicolon.
    pub text: &'a str,
}

impl Source {
    /// Reads a file's text.
    pub fn new(path: &str, text: &str) -> Source {
        let mut code = String::with_capacity(text.len());
        let (mut comments, mut literals) = (Vec::new(), Vec::new());
        let mut line = 1;
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let (length, kind) = token(rest, code.chars().next_back());
            let (token, after) = rest.split_at(length);
            match kind {
                Kind::Code => code.push(first),
                Kind::Comment | Kind::Literal => {
                    code.extend(token.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
                    let kept = if kind == Kind::Comment { &mut comments } else { &mut literals };
                    kept.extend(token.split('\n').enumerate().map(|(k, part)| (line + k, part.trim().to_owned())));
                }
            }
            line += token.matches('\n').count();
            rest = after;
        }
        Source {
            path: path.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
            code,
            comments,
            literals,
        }
    }

    /// Number of the line that holds a byte of the code, from 1.
    pub fn line_of(&self, at: usize) -> usize {
        self.code[..at].matches('\n').count() + 1
    }

    /// The words of the code with their places: runs of letters, digits and `_`.
    pub fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        words_of(&self.code)
    }

    /// Heads of all functions, those of tests included.
    pub fn heads(&self) -> Vec<Head<'_>> {
        let functions = self.words().filter(|(_, word)| *word == "fn");
        functions
            .filter_map(|(at, _)| {
                head(&self.code, at).map(|text| Head {
                    line: self.line_of(at),
                    text,
                })
            })
            .collect()
    }

    /// Line of the first `#[cfg(test)]`; code below it is test code by the custom of this repository.
    pub fn tests_from(&self) -> usize {
        self.lines
            .iter()
            .position(|line| line.trim() == "#[cfg(test)]")
            .map_or(usize::MAX, |k| k + 1)
    }
}

/// Words of a text with their places.
pub fn words_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !is_in_word(c))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// Places of the commas of a text that stand in no bracket; the arrow `->` is no bracket.
pub fn commas(text: &str) -> usize {
    let mut depth = 0;
    let mut before = ' ';
    let mut count = 0;
    for c in text.chars() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if before == '-' => {}
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => count += 1,
            _ => {}
        }
        before = c;
    }
    count
}

/// From the `fn` at `at` to what opens its body or ends it; `None` for a function pointer's type.
fn head(code: &str, at: usize) -> Option<&str> {
    let text = &code[at..];
    let name = text[2..].trim_start();
    if name.starts_with('(') {
        return None;
    }
    let mut depth = 0;
    for (k, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' | ';' if depth == 0 => return Some(&text[..k]),
            _ => {}
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// Length and kind of what starts the text; code goes character by character.
fn token(text: &str, before: Option<char>) -> (usize, Kind) {
    let first = text.chars().next().map_or(1, char::len_utf8);
    if text.starts_with("//") {
        return (text.find('\n').unwrap_or(text.len()), Kind::Comment);
    }
    if text.starts_with("/*") {
        return (block_comment(text), Kind::Comment);
    }
    if text.starts_with('"') {
        return (quoted(text, '"'), Kind::Literal);
    }
    let is_in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let raw = text.strip_prefix("br").or_else(|| text.strip_prefix('r')).filter(|_| !is_in_word);
    if let Some(raw) = raw {
        let fences = raw.len() - raw.trim_start_matches('#').len();
        if raw[fences..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(fences));
            let start = text.len() - raw.len() + fences + 1;
            return (
                text[start..].find(&close).map_or(text.len(), |end| start + end + close.len()),
                Kind::Literal,
            );
        }
    }
    // A quote starts a character if one more closes it; else it starts a lifetime.
    if let Some(inside) = text.strip_prefix('\'') {
        let mut characters = inside.chars();
        let is_character = match characters.next() {
            Some('\\') => true,
            Some(_) => characters.next() == Some('\''),
            None => false,
        };
        if is_character {
            return (quoted(text, '\''), Kind::Literal);
        }
    }
    (first, Kind::Code)
}

fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_comments_are_distinguished() {
        let text = "let a = \"// no \\\" comment\"; // yes\nlet b = r#\"x\" unsafe\"#; /* two\nlines /* nested */ */ let c = 'x'; let d: &'a str = '\\'';";
        let source = Source::new("x.rs", text);
        assert_eq!(
            source.comments,
            [(1, "// yes".into()), (2, "/* two".into()), (3, "lines /* nested */ */".into())]
        );
        assert!(!source.code.contains("unsafe") && !source.code.contains("comment"));
        assert!(source.code.contains("let c =") && source.code.contains("&'a str"));
        assert_eq!(source.code.matches('\n').count(), 2);
    }

    #[test]
    fn heads_end_where_bodies_start() {
        let source = Source::new(
            "x.rs",
            "\npub fn a<T: Fn(u8) -> u8>(x: [u8; 3], y: T) -> u8 { 1 }\ntrait B { fn c(&self); }\ntype D = fn(u8);",
        );
        let heads: Vec<_> = source.heads().iter().map(|head| (head.line, head.text.trim().to_owned())).collect();
        assert_eq!(
            heads,
            [
                (2, "fn a<T: Fn(u8) -> u8>(x: [u8; 3], y: T) -> u8".into()),
                (3, "fn c(&self)".into())
            ]
        );
        assert_eq!(commas("x: [u8; 3], y: HashMap<A, B>, f: impl Fn(A, B) -> C"), 2);
    }
}
