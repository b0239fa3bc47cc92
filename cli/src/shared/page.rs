//! A report as one HTML file: styles and pictures are in it, for phones and dark screens, too.

use std::fmt::Write as _;

/// A page in the making.
pub struct Page {
    body: String,
    title: String,
    /// Names that have colours, in their order.
    names: Vec<String>,
}

/// Colours of the style sheet; further names have them again.
const COLOURS: usize = 8;
/// Size of a plot, and the margins for its axes.
const SIZE: [f64; 2] = [720.0, 300.0];
const LEFT: f64 = 62.0;
const BELOW: f64 = 44.0;

/// A line of a plot: a name, and values at equal distances, NaN where one is missing.
pub struct Line<'l> {
    pub name: &'l str,
    pub values: &'l [f64],
    /// The lower and the upper end of a band around it.
    pub band: Option<[&'l [f64]; 2]>,
}

/// The axes of a plot over time.
pub struct Axes<'a> {
    /// The text of the horizontal one, with its unit.
    pub time: &'a str,
    /// The text of the vertical one, with its unit.
    pub value: &'a str,
    /// The distance of two values.
    pub part: f64,
    /// Where the warm-up ends.
    pub warm_up: f64,
}

impl Page {
    /// A page about the things with these names, each of which has one colour throughout.
    pub fn new(title: &str, about: &str, names: impl IntoIterator<Item = String>) -> Self {
        let mut body = format!("<h1>{}</h1>\n", escaped(title));
        if !about.is_empty() {
            let _ = writeln!(body, "<p class=\"soft\">{}</p>", escaped(about));
        }
        Self { body, title: title.to_owned(), names: names.into_iter().collect() }
    }

    pub fn heading(&mut self, text: &str) {
        let _ = writeln!(self.body, "<h2>{}</h2>", escaped(text));
    }

    pub fn warning(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p class=\"warning\">{}</p>", escaped(text));
    }

    pub fn text(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", escaped(text));
    }

    /// A table whose first columns, as many as `texts`, are texts. Names in the first have their
    /// colour.
    pub fn table(&mut self, head: &[&str], texts: usize, rows: impl IntoIterator<Item = Vec<String>>) {
        let class = |column: usize| if column < texts { " class=\"text\"" } else { "" };
        self.body += "<div class=\"wide\"><table>\n<tr>";
        for (column, cell) in head.iter().enumerate() {
            let _ = write!(self.body, "<th{}>{}</th>", class(column), escaped(cell));
        }
        self.body += "</tr>\n";
        for row in rows {
            self.body += "<tr>";
            for (column, cell) in row.iter().enumerate() {
                let dot = self.colour(cell).filter(|_| column == 0).map_or_else(String::new, dot);
                let _ = write!(self.body, "<td{}>{dot}{}</td>", class(column), escaped(cell));
            }
            self.body += "</tr>\n";
        }
        self.body += "</table></div>\n";
    }

    /// A picture that was drawn for white paper. The style sheet inverts its lightness for dark
    /// screens.
    pub fn picture(&mut self, svg: &str, caption: &str) {
        // Only the element itself is part of HTML.
        let svg = svg.find("<svg").map_or(svg, |at| &svg[at..]);
        let caption = escaped(caption);
        let _ = writeln!(
            self.body,
            "<figure><div class=\"plate\">{svg}</div><figcaption>{caption}</figcaption></figure>"
        );
    }

    /// Lines over time, with the warm-up shaded and the legend above.
    pub fn over_time(&mut self, axes: &Axes<'_>, lines: &[Line<'_>], caption: &str) {
        let bands = lines.iter().filter_map(|line| line.band).flatten();
        let all = lines.iter().map(|line| line.values).chain(bands).flatten();
        let most = all.fold(0.0_f64, |most, value| most.max(*value));
        let parts = lines.iter().map(|line| line.values.len()).max().unwrap_or(0);
        #[allow(clippy::cast_precision_loss, reason = "a picture")]
        let end = axes.part * parts as f64;
        if most <= 0.0 || end <= 0.0 {
            return;
        }
        let (x_ticks, y_ticks) = (ticks(end), ticks(most));
        let top = y_ticks.last().copied().unwrap_or(most).max(most);
        let x = |time: f64| LEFT + time / end * (SIZE[0] - LEFT - 24.0);
        let y = |value: f64| SIZE[1] - BELOW - value / top * (SIZE[1] - BELOW - 10.0);
        let mut svg = format!("<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\">", SIZE[0], SIZE[1]);
        if axes.warm_up > 0.0 {
            let _ = write!(
                svg,
                "<rect x=\"{LEFT}\" y=\"10\" width=\"{:.1}\" height=\"{:.1}\" fill=\"var(--mark)\"/><text x=\"{:.1}\" y=\"24\">warm-up</text>",
                x(axes.warm_up.min(end)) - LEFT,
                SIZE[1] - BELOW - 10.0,
                LEFT + 6.0
            );
        }
        for &tick in &y_ticks {
            let at = y(tick);
            let _ = write!(
                svg,
                "<path d=\"M{LEFT} {at:.1}H{:.1}\" stroke=\"var(--line)\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>",
                SIZE[0] - 24.0,
                LEFT - 6.0,
                at + 4.0
            );
        }
        for &tick in &x_ticks {
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>",
                x(tick),
                SIZE[1] - BELOW + 17.0
            );
        }
        for Line { name, values, band } in lines {
            #[allow(clippy::cast_precision_loss, reason = "a picture")]
            let point = |(part, value): (usize, &f64)| {
                let at = format!("{:.1},{:.1}", x(axes.part * (part as f64 + 0.5)), y(*value));
                value.is_finite().then_some(at)
            };
            let points = values.iter().enumerate().filter_map(point);
            if let Some([lower, upper]) = band {
                let there = lower.iter().enumerate().filter_map(point);
                let back = upper.iter().enumerate().rev().filter_map(point);
                let _ = write!(
                    svg,
                    "<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"0.18\"/>",
                    there.chain(back).collect::<Vec<_>>().join(" "),
                    variable(self.colour(name).unwrap_or(0)),
                );
            }
            let _ = write!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke-width=\"1.6\" stroke=\"{}\"{}/>",
                points.collect::<Vec<_>>().join(" "),
                variable(self.colour(name).unwrap_or(if band.is_some() { 0 } else { COLOURS - 1 })),
                // Names beyond the colours are dashed.
                if self.colour(name).is_some_and(|colour| colour >= COLOURS) {
                    " stroke-dasharray=\"5 3\""
                } else {
                    ""
                },
            );
        }
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text><text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text></svg>",
            f64::midpoint(LEFT, SIZE[0]),
            SIZE[1] - 6.0,
            escaped(axes.time),
            (SIZE[1] - BELOW) / 2.0,
            escaped(axes.value)
        );
        let legend = lines.iter().map(|Line { name, .. }| {
            let dot = self.colour(name).map_or_else(String::new, dot);
            format!("<span>{dot}{}</span>", escaped(name))
        });
        let legend = legend.collect::<String>();
        let caption = escaped(caption);
        let _ = writeln!(
            self.body,
            "<figure><div class=\"legend\">{legend}</div>{svg}<figcaption>{caption}</figcaption></figure>"
        );
    }

    /// Names and values, as of the provenance.
    pub fn list(&mut self, pairs: &[(&str, String)]) {
        self.body += "<dl>\n";
        for (name, value) in pairs {
            let _ = writeln!(self.body, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
        }
        self.body += "</dl>\n";
    }

    /// The whole file.
    pub fn html(&self) -> String {
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
            escaped(&self.title),
            include_str!("page.css"),
            self.body
        )
    }

    fn colour(&self, name: &str) -> Option<usize> {
        place_of(&self.names, name)
    }
}

/// The place of a name among others; of a measure that of what it is of: of `queue(desk)` that of
/// `desk`.
pub fn place_of(names: &[String], name: &str) -> Option<usize> {
    let inner = of(name).unwrap_or(name);
    names.iter().position(|known| known == name || known == inner)
}

/// What a measure is of, without a class: `desk` of `share(wait(desk, sick) <= 5)`.
pub fn of(measure: &str) -> Option<&str> {
    let inner = measure.rsplit_once('(')?.1;
    let end = inner.find([')', ','])?;
    Some(&inner[..end])
}

fn variable(colour: usize) -> String {
    format!("var(--c{})", colour % COLOURS)
}

fn dot(colour: usize) -> String {
    format!("<span class=\"dot\" style=\"background:{}\"></span>", variable(colour))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Round numbers from 0 to the first that is not below the end, or near it; 4 to 8 steps.
fn ticks(end: f64) -> Vec<f64> {
    let power = 10_f64.powf(end.log10().floor());
    let step =
        [0.1, 0.2, 0.25, 0.5, 1.0, 2.0].map(|part| part * power).into_iter().find(|step| end / step <= 8.0);
    let step = step.unwrap_or(2.0 * power);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 8")]
    let count = (end / step + 1e-9).floor() as u32;
    // Rounded, so that they are printed with few digits.
    (0..=count).map(|tick| format!("{:.12}", f64::from(tick) * step).parse().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_whole_and_names_keep_their_colour() {
        let mut page = Page::new("a < b", "", ["in", "desk"].map(str::to_owned));
        page.table(&["node", "mean"], 1, [vec!["desk".to_owned(), "1.5".to_owned()]]);
        let axes = Axes { time: "time (hour)", value: "customers", part: 0.5, warm_up: 1.0 };
        let (values, low) = ([1.0, 2.0, f64::NAN, 2.0], [0.5; 4]);
        let band = Some([&low[..], &values[..]]);
        page.over_time(&axes, &[Line { name: "queue(desk)", values: &values, band }], "one run");
        assert!(!page.html().contains("NaN"), "{}", page.html());
        page.warning("\"quoted\"");
        page.list(&[("seed", "7".to_owned())]);
        let html = page.html();
        assert!(html.contains("<title>a &lt; b</title>") && html.contains("&quot;quoted&quot;"), "{html}");
        assert_eq!(
            html.matches("var(--c1)").count(),
            5,
            "table, legend, line, band and the warning's style: {html}"
        );
        assert!(html.contains("warm-up") && html.contains("time (hour)"), "{html}");
        assert!(!html.contains("http"), "nothing is loaded: {html}");
        for tag in ["table", "figure", "svg", "dl", "div", "span", "body", "html"] {
            assert_eq!(
                html.matches(&format!("<{tag}")).count(),
                html.matches(&format!("</{tag}>")).count(),
                "{tag}"
            );
        }
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(8.0), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(ticks(0.3), [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3]);
        assert_eq!(ticks(1200.0), [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0, 1200.0]);
    }
}
