//! The measures that `--only` shows.

use eventhorizon::statistics::Observations;

use super::{Outcome, usage};

/// Names of one `--only`, separated by commas: a measure of all nodes, such as `wait`, or a column,
/// such as `wait(desk, urgent)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Only(Vec<String>);

impl Only {
    /// Parses names. Commas in brackets belong to a name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut names, mut name, mut depth) = (Vec::new(), String::new(), 0_i32);
        for character in text.chars() {
            depth += i32::from(character == '(') - i32::from(character == ')');
            match character {
                ',' if depth == 0 => names.push(std::mem::take(&mut name)),
                _ => name.push(character),
            }
        }
        names.push(name);
        let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
        match depth == 0 && names.iter().all(|name| !name.is_empty()) {
            true => Ok(Self(names)),
            false => Err("expected measures, such as wait or wait(desk)".to_owned()),
        }
    }
}

/// A name without spaces, and with its bound as a number: `wait(desk) <= 2.0` and `wait(desk)<=2`
/// are one.
fn canonical(name: &str) -> String {
    let plain: String = name.chars().filter(|character| !character.is_whitespace()).collect();
    let bound = plain.strip_suffix(')').and_then(|rest| rest.rsplit_once("<="));
    match bound.and_then(|(left, bound)| Some((left, bound.parse::<f64>().ok()?))) {
        Some((left, bound)) => format!("{left}<={bound})"),
        None => plain,
    }
}

/// The column that a name means, however it is spaced; the name itself if no column has it.
pub fn column<'n>(name: &'n str, known: &'n [String]) -> &'n str {
    let of = canonical(name);
    known.iter().find(|column| canonical(column) == of).map_or(name, String::as_str)
}

/// The measure of a column: `wait` of `wait(desk)`.
fn measure(column: &str) -> &str {
    column.split('(').next().unwrap_or(column)
}

/// Whether a column is shown: all are without `--only`.
pub fn shows(only: &[Only], column: &str) -> bool {
    let mut names = only.iter().flat_map(|only| &only.0);
    only.is_empty() || names.any(|name| name == measure(column) || canonical(name) == canonical(column))
}

/// The observations of each point with the columns that are shown.
pub fn select(points: &[Observations], is_shown: impl Fn(&str) -> bool) -> Outcome<Vec<Observations>> {
    let selected = points.iter().map(|made| {
        let names = made.shown().map(|column| column.name.as_str()).filter(|name| is_shown(name));
        Ok(made.select(&names.collect::<Vec<_>>())?)
    });
    selected.collect()
}

/// Refuses names that no column has.
pub fn check(only: &[Only], known: &[String]) -> Outcome<()> {
    let is_known = |name: &str| {
        let of = canonical(name);
        known.iter().any(|column| name == measure(column) || of == canonical(column))
    };
    match only.iter().flat_map(|only| &only.0).find(|name| !is_known(name)) {
        None => Ok(()),
        Some(name) => Err(usage(format!(
            "--only {name}: there is no such measure. The measures are {}",
            known.join(", ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_brackets_belong_to_names() {
        let only = [Only::parse("wait, share(wait(desk, urgent) <= 4),loss(a, b)").unwrap()];
        for (column, expected) in [
            ("wait(desk)", true),
            ("wait", true),
            ("loss(a, b)", true),
            ("loss(a)", false),
            ("share(wait(desk, urgent) <= 4)", true),
            ("share(wait(desk) <= 4)", false),
            ("share(wait(desk,urgent)<=4.0)", true),
        ] {
            assert_eq!(shows(&only, column), expected, "{column}");
        }
        let known = ["wait(desk)", "loss(a, b)", "share(wait(desk, urgent) <= 4)"].map(str::to_owned);
        assert!(check(&only, &known).is_ok() && check(&only, &known[1..]).is_err());
        let known = ["share(wait(desk) <= 2)".to_owned()];
        assert_eq!(column("share(wait( desk )<=2.0)", &known), known[0]);
        assert_eq!(column("share(wait(desk)<=3)", &known), "share(wait(desk)<=3)");
        assert!(Only::parse("wait(desk").is_err() && Only::parse("wait,").is_err());
    }
}
