//! Positions in floating car data of SUMO (`--fcd-output`), as XML or as CSV.

use std::io::BufRead;

use super::xml::{Element, Visitor, visit};

/// The position of a vehicle or a person: its line and its coordinates as they are written.
pub type Position = (u64, [String; 2]);

/// The positions at one time, from a file as XML; by default at the last time.
///
/// # Errors
/// The line and what is wrong there.
pub fn from_xml(input: impl BufRead, time: Option<f64>) -> Result<Vec<Position>, String> {
    let mut step = Step { time, ..Step::default() };
    visit(input, &mut step)?;
    step.positions()
}

/// The positions at one time, as they are read.
#[derive(Default)]
struct Step {
    time: Option<f64>,
    /// Whether what follows belongs to that time.
    is_now: bool,
    was_there: bool,
    found: Vec<Position>,
}

impl Step {
    fn begin(&mut self, time: f64) {
        self.is_now = self.time.is_none_or(|wanted| wanted == time);
        if self.is_now {
            self.was_there = true;
            self.found.clear();
        }
    }

    fn positions(self) -> Result<Vec<Position>, String> {
        match (self.was_there, self.time) {
            (true, _) => Ok(self.found),
            (false, Some(time)) => Err(format!("it has no positions at the time {time}")),
            (false, None) => Err("it has no time step: expected floating car data of SUMO".to_owned()),
        }
    }
}

impl Visitor for Step {
    fn begins(&mut self, element: &Element) -> Result<bool, String> {
        let missing = |name: &str| format!("the element `{}` has no `{name}`", element.name);
        match &*element.name {
            "timestep" => {
                let text = element.attribute("time").ok_or_else(|| missing("time"))?;
                self.begin(text.trim().parse().map_err(|_| format!("the time `{text}` is not a number"))?);
            }
            "vehicle" | "person" if self.is_now => {
                let coordinate =
                    |name| element.attribute(name).map(str::to_owned).ok_or_else(|| missing(name));
                self.found.push((element.line, [coordinate("x")?, coordinate("y")?]));
            }
            _ => {}
        }
        Ok(false)
    }

    fn whole(&mut self, _: Element) -> Result<(), String> {
        Ok(())
    }

    fn is_done(&self) -> bool {
        // Times increase.
        self.time.is_some() && self.was_there && !self.is_now
    }
}

/// Columns of the coordinates of vehicles, and of persons.
const MOVERS: [[&str; 2]; 2] = [["vehicle_x", "vehicle_y"], ["person_x", "person_y"]];

/// Whether the first line of a file names columns of floating car data.
pub fn is_header(line: &str) -> bool {
    line.contains("timestep_time") && MOVERS.iter().any(|of| of.iter().all(|name| line.contains(name)))
}

/// The same from a file as CSV with names of columns.
///
/// # Errors
/// The line and what is wrong there.
pub fn from_csv(input: impl BufRead, time: Option<f64>) -> Result<Vec<Position>, String> {
    let mut lines = (1..).zip(input.lines());
    let mut step = Step { time, ..Step::default() };
    let mut now = None;
    let Some((_, head)) = lines.next() else { return step.positions() };
    let head = head.map_err(|error| error.to_string())?;
    let separator = if head.contains(';') { ';' } else { ',' };
    let names: Vec<&str> = head.trim_start_matches('\u{feff}').split(separator).map(str::trim).collect();
    let column = |name: &str| names.iter().position(|column| *column == name);
    let movers: Vec<_> = MOVERS.iter().filter_map(|[x, y]| Some([column(x)?, column(y)?])).collect();
    let Some(at) = column("timestep_time").filter(|_| !movers.is_empty()) else {
        return Err(
            "line 1: expected the columns timestep_time, vehicle_x and vehicle_y (or person_x and person_y)"
                .to_owned(),
        );
    };
    for (line, text) in lines {
        let text = text.map_err(|error| format!("line {line}: {error}"))?;
        if text.trim().is_empty() {
            continue;
        }
        let cells: Vec<&str> = text.split(separator).map(str::trim).collect();
        let cell = |column: usize| {
            cells.get(column).copied().ok_or_else(|| format!("line {line}: expected {} columns", names.len()))
        };
        let text = cell(at)?;
        let time: f64 =
            text.parse().map_err(|_| format!("line {line}: the time `{text}` is not a number"))?;
        if now != Some(time) {
            now = Some(time);
            step.begin(time);
        }
        if step.is_done() {
            break;
        }
        // The row of a person has no coordinates of a vehicle; that of an empty time step has none.
        for &[x, y] in movers.iter().filter(|_| step.is_now) {
            if !cell(x)?.is_empty() {
                step.found.push((line, [cell(x)?.to_owned(), cell(y)?.to_owned()]));
            }
        }
    }
    step.positions()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_have_the_positions_of_one_time() {
        let xml = "<?xml version=\"1.0\"?>\n<fcd-export>\n<timestep time=\"0.00\">\n<vehicle id=\"a\" x=\"1.5\" y=\"2\" speed=\"0\"/>\n</timestep>\n\
            <timestep time=\"1.00\">\n<vehicle id=\"a\" x=\"2.50\" y=\"2\"/>\n<person id=\"p\" x=\"0\" y=\"-1\"/>\n</timestep>\n<timestep time=\"2.00\"/>\n</fcd-export>\n";
        let csv = "timestep_time;person_id;person_x;person_y;vehicle_id;vehicle_x;vehicle_y\n0.00;;;;a;1.5;2\n\
            1.00;;;;a;2.50;2\n1.00;p;0;-1;;;\n2.00;;;;;;\n";
        assert!(is_header(csv.lines().next().unwrap()) && !is_header("1,2"));
        let persons = "timestep_time;person_x;person_y\n0;5;6\n";
        assert!(is_header(persons.lines().next().unwrap()));
        assert_eq!(from_csv(persons.as_bytes(), Some(0.0)).unwrap(), [(2, ["5".to_owned(), "6".to_owned()])]);
        let position = |line: u64, x: &str, y: &str| (line, [x.to_owned(), y.to_owned()]);
        for (time, in_xml, in_csv) in [
            (Some(0.0), vec![position(4, "1.5", "2")], vec![position(2, "1.5", "2")]),
            (
                Some(1.0),
                vec![position(7, "2.50", "2"), position(8, "0", "-1")],
                vec![position(3, "2.50", "2"), position(4, "0", "-1")],
            ),
            (None, vec![], vec![]),
        ] {
            assert_eq!(from_xml(xml.as_bytes(), time).unwrap(), in_xml, "{time:?}");
            assert_eq!(from_csv(csv.as_bytes(), time).unwrap(), in_csv, "{time:?}");
        }
        for error in [from_xml(xml.as_bytes(), Some(3.0)), from_csv(csv.as_bytes(), Some(3.0))] {
            assert!(error.unwrap_err().contains("no positions at the time 3"));
        }
        assert!(from_xml(&b"<a/>"[..], None).unwrap_err().contains("floating car data"));
        let wrong = from_xml(&b"<timestep time='0'>\n<vehicle x='1'/></timestep>"[..], None).unwrap_err();
        assert_eq!(wrong, "line 2: the element `vehicle` has no `y`");
    }
}
