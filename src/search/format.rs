//! Parsers of maps, scenarios and graphs.

use glam::UVec2;

use super::{Graph, Grid, MAX_SIDE, SearchError};

/// How the letters of a Moving AI map are interpreted. `.`, `G` (ground) and `S` (swamp) are
/// passable from each other, and `@`, `O` and `T` are blocked. The variants differ for water, `W`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Terrain {
    /// Water is passable only from water, as the format defines.
    #[default]
    Format,
    /// Water is ground.
    Open,
    /// Water is blocked.
    Land,
}

/// A search of a Moving AI scenario, with the length of its optimal path.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioSearch {
    /// Its line in the scenario, from 1.
    pub line: usize,
    /// The file of the map, as named in the scenario.
    pub map: String,
    /// Cells in a row of the map, and rows.
    pub size: UVec2,
    /// The first cell.
    pub start: UVec2,
    /// The last cell.
    pub goal: UVec2,
    /// Length of the optimal path: straight moves count 1, diagonal ones sqrt 2.
    pub length: f64,
    /// The value of the last digit of `length` in the file.
    pub digit: f64,
}

impl ScenarioSearch {
    /// Whether a length is the optimal one, to the digits in the file, or to the seven digits of
    /// lengths with [`Moves::OCTILE`](super::Moves::OCTILE). Some files truncate after the last
    /// digit, others round.
    pub fn agrees(&self, length: f64) -> bool {
        (length - self.length).abs() < self.digit + 1e-7 * self.length
    }

    /// Checks that the search is for a map of this size. Errors name the scenario `file`.
    ///
    /// # Errors
    /// [`SearchError::OtherMap`] with the line and both sizes.
    pub fn check_size(&self, file: &str, grid: &Grid) -> Result<(), SearchError> {
        let (width, height) = (grid.width(), grid.height());
        if self.size == UVec2::new(width, height) {
            return Ok(());
        }
        let (file, map) = (file.to_owned(), self.map.clone());
        Err(SearchError::OtherMap { file, line: self.line, map, size: self.size, width, height })
    }

    /// Whether the search is for a map with this name: a file name, with or without folders.
    pub fn is_on(&self, map: &str) -> bool {
        let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or("").to_ascii_lowercase();
        name(&self.map) == name(map)
    }
}

/// The number of each line from 1, and its words. The byte order mark that some editors write first
/// is skipped.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.strip_prefix('\u{feff}').unwrap_or(text).lines())
}

fn error(file: &str, line: usize, message: impl Into<String>) -> SearchError {
    SearchError::Format { file: file.to_owned(), line, message: message.into() }
}

/// The next word as a number.
fn number<T: std::str::FromStr>(
    (file, line): (&str, usize),
    word: Option<&str>,
    what: &str,
) -> Result<T, SearchError> {
    let word = word.ok_or_else(|| error(file, line, format!("{what} is missing")))?;
    word.parse().map_err(|_| error(file, line, format!("'{word}' is not a {what}")))
}

/// Reads a map of the Moving AI benchmarks (`type octile`). [`Terrain`] defines the letters.
///
/// Errors name the text `file`.
///
/// # Errors
/// [`SearchError::Format`] with the line.
pub fn moving_ai_map(file: &str, text: &str, terrain: Terrain) -> Result<Grid, SearchError> {
    const LAND: u8 = 0;
    const WATER: u8 = 1;
    let (mut width, mut height) = (None, None);
    let mut lines = lines(text);
    let mut last = 0;
    loop {
        let Some((line, content)) = lines.next() else {
            return Err(error(file, last + 1, "the file ends before the line 'map'"));
        };
        last = line;
        let mut words = content.split_ascii_whitespace();
        let side = |word| {
            let side: u32 = number((file, line), word, "number of cells")?;
            match (1..=MAX_SIDE).contains(&side) {
                true => Ok(Some(side)),
                false => {
                    Err(error(file, line, format!("expected 1 to {MAX_SIDE} cells in a side, found {side}")))
                }
            }
        };
        match words.next() {
            Some("type") | None => {}
            Some("width") => width = side(words.next())?,
            Some("height") => height = side(words.next())?,
            Some("map") => break,
            Some(word) => {
                return Err(error(file, line, format!("'{word}': expected type, width, height or map")));
            }
        }
    }
    let missing = |what| error(file, last, format!("the {what} is missing before the line 'map'"));
    let (width, height) = (width.ok_or_else(|| missing("width"))?, height.ok_or_else(|| missing("height"))?);
    // At most the length of the text, whatever size the head declares.
    let mut costs = Vec::with_capacity(text.len().min(width as usize * height as usize));
    let mut media = Vec::with_capacity(costs.capacity());
    for row in 0..height {
        let Some((line, content)) = lines.next() else {
            return Err(error(
                file,
                last + 1,
                format!("the map has {height} rows, but the file ends after {row}"),
            ));
        };
        last = line;
        if content.len() != width as usize {
            let found = content.len();
            return Err(error(file, line, format!("expected a row of {width} cells, found {found}")));
        }
        for letter in content.bytes() {
            let (cost, medium) = match letter {
                b'.' | b'G' | b'S' => (1, LAND),
                b'W' if terrain == Terrain::Format => (1, WATER),
                b'W' => (u8::from(terrain == Terrain::Open), LAND),
                b'@' | b'O' | b'T' => (0, LAND),
                other => {
                    let other = char::from(other).escape_default();
                    return Err(error(
                        file,
                        line,
                        format!("expected a terrain (one of . G S W @ O T), found '{other}'"),
                    ));
                }
            };
            costs.push(cost);
            media.push(medium);
        }
    }
    if let Some((line, _)) = lines.find(|(_, content)| !content.trim().is_empty()) {
        return Err(error(file, line, format!("the map has {height} rows, but here is another")));
    }
    Grid::new(width, height, costs)?.with_media(media)
}

/// Reads a scenario of the Moving AI benchmarks (`version 1`).
///
/// # Errors
/// [`SearchError::Format`] with the line.
pub fn moving_ai_scenario(file: &str, text: &str) -> Result<Vec<ScenarioSearch>, SearchError> {
    let mut lines = lines(text).filter(|(_, content)| !content.trim().is_empty());
    match lines.next() {
        Some((_, content)) if content.starts_with("version 1") => {}
        Some((line, _)) => return Err(error(file, line, "expected 'version 1'")),
        None => return Err(error(file, 1, "the file is empty")),
    }
    let search = |(line, content): (usize, &str)| {
        let at = (file, line);
        // Names of maps may contain blanks if columns are separated by tabs.
        let mut words: Box<dyn Iterator<Item = &str>> = match content.contains('\t') {
            true => Box::new(content.split('\t').map(str::trim)),
            false => Box::new(content.split_ascii_whitespace()),
        };
        let _bucket: u32 = number(at, words.next(), "number of a bucket")?;
        let map = words.next().ok_or_else(|| error(file, line, "the name of the map is missing"))?.to_owned();
        let mut cell = |what| -> Result<UVec2, SearchError> {
            Ok(UVec2::new(number(at, words.next(), what)?, number(at, words.next(), what)?))
        };
        let (size, start, goal) = (cell("size of the map")?, cell("place")?, cell("place")?);
        if start.cmpge(size).any() || goal.cmpge(size).any() {
            return Err(error(
                file,
                line,
                format!("the cell is not on the map of {} times {} cells", size.x, size.y),
            ));
        }
        let printed = words.next();
        let length: f64 = number(at, printed, "length")?;
        if !(length.is_finite() && length >= 0.0) {
            return Err(error(file, line, "expected a length of at least 0"));
        }
        let digits =
            printed.and_then(|printed| printed.split_once('.')).map_or(0, |(_, digits)| digits.len());
        // Most of these files were printed with six digits and without trailing zeros.
        let whole = printed.map_or(0, |printed| printed.split('.').next().map_or(0, str::len));
        let digits = digits.max(6_usize.saturating_sub(whole).min(2));
        let digit = 10_f64.powi(-i32::try_from(digits.min(12)).expect("small"));
        Ok(ScenarioSearch { line, map, size, start, goal, length, digit })
    };
    lines.map(search).collect()
}

/// The words of the lines of a DIMACS file without comments, with their place for errors.
fn dimacs_lines<'t>(
    file: &'t str,
    text: &'t str,
) -> impl Iterator<Item = ((&'t str, usize), std::str::SplitAsciiWhitespace<'t>)> {
    let words = lines(text).map(move |(line, content)| ((file, line), content.split_ascii_whitespace()));
    words.filter(|(_, words)| !matches!(words.clone().next(), None | Some("c")))
}

/// A vertex of a DIMACS file, which numbers them from 1.
fn vertex(at: (&str, usize), word: Option<&str>, vertices: u32) -> Result<u32, SearchError> {
    let vertex: u32 = number(at, word, "number of a vertex")?;
    match (1..=vertices).contains(&vertex) {
        true => Ok(vertex - 1),
        false => {
            Err(error(at.0, at.1, format!("expected a vertex number from 1 to {vertices}, found {vertex}")))
        }
    }
}

/// Reads a graph of the 9th DIMACS challenge (`.gr`): a line `p sp VERTICES ARCS`, then `ARCS`
/// lines `a FROM TO WEIGHT`. Vertices are numbered from 1 in the file and from 0 in the result.
///
/// # Errors
/// [`SearchError::Format`] with the line.
pub fn dimacs_graph(file: &str, text: &str) -> Result<Graph, SearchError> {
    let mut lines = dimacs_lines(file, text);
    let missing = || error(file, text.lines().count() + 1, "the line 'p sp VERTICES ARCS' is missing");
    let (head, mut words) = lines.next().ok_or_else(missing)?;
    if (words.next(), words.next()) != (Some("p"), Some("sp")) {
        return Err(error(file, head.1, "expected 'p sp VERTICES ARCS'"));
    }
    let vertices: u32 = number(head, words.next(), "number of vertices")?;
    let count: usize = number(head, words.next(), "number of arcs")?;
    // A vertex takes memory before any arc names it, so bound the vertices by a multiple of what
    // the text could name.
    let most = 1 << 20;
    if vertices as usize > most.max(text.len()) {
        return Err(error(file, head.1, format!("{vertices} vertices in a file of {} bytes", text.len())));
    }
    let mut arcs = Vec::new();
    for (at, mut words) in lines {
        if words.next() != Some("a") {
            return Err(error(file, at.1, "expected 'a FROM TO WEIGHT' or a comment, 'c'"));
        }
        if arcs.len() == count {
            return Err(error(file, at.1, format!("the file has {count} arcs, but here is another")));
        }
        let (from, to) = (vertex(at, words.next(), vertices)?, vertex(at, words.next(), vertices)?);
        arcs.push((from, to, number(at, words.next(), "weight")?));
    }
    if arcs.len() != count {
        let found = arcs.len();
        return Err(error(
            file,
            text.lines().count() + 1,
            format!("the file has {count} arcs, but ends after {found}"),
        ));
    }
    Graph::new(vertices, &arcs)
}

/// Reads coordinates of vertices of the 9th DIMACS challenge (`.co`): a line `p aux sp co
/// VERTICES`, then a line `v VERTEX X Y` for each vertex. The result is (x, y) by vertex.
///
/// # Errors
/// [`SearchError::Format`] with the line.
pub fn dimacs_coordinates(file: &str, text: &str) -> Result<Vec<(i32, i32)>, SearchError> {
    let mut lines = dimacs_lines(file, text);
    let end = || text.lines().count() + 1;
    let missing = || error(file, end(), "the line 'p aux sp co VERTICES' is missing");
    let (head, mut words) = lines.next().ok_or_else(missing)?;
    if [(); 4].map(|()| words.next()) != [Some("p"), Some("aux"), Some("sp"), Some("co")] {
        return Err(error(file, head.1, "expected 'p aux sp co VERTICES'"));
    }
    let vertices: u32 = number(head, words.next(), "number of vertices")?;
    if vertices as usize > text.len() {
        return Err(error(file, head.1, format!("{vertices} vertices in a file of {} bytes", text.len())));
    }
    let mut places = vec![None; vertices as usize];
    for (at, mut words) in lines {
        if words.next() != Some("v") {
            return Err(error(file, at.1, "expected 'v VERTEX X Y' or a comment, 'c'"));
        }
        let vertex = vertex(at, words.next(), vertices)?;
        let place = (number(at, words.next(), "coordinate")?, number(at, words.next(), "coordinate")?);
        if places[vertex as usize].replace(place).is_some() {
            return Err(error(file, at.1, format!("the vertex {} has coordinates already", vertex + 1)));
        }
    }
    let reported = places.iter().enumerate().map(|(vertex, place)| {
        place.ok_or_else(|| error(file, end(), format!("the vertex {} has no coordinates", vertex + 1)))
    });
    reported.collect()
}
