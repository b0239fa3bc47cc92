//! Measured data: `fit`, distributions of CSV files, and reports.

use std::fmt::Write as _;
use std::fs::{read_to_string, write};

use crate::ended::ended;
use crate::run;

/// A folder with times that are nearly exponential, and a network that draws from them.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("eventhorizon-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut times = "number,minutes\n".to_owned();
    for number in 0..1000 {
        writeln!(times, "{number},{}", -3.0 * (1.0 - (f64::from(number) + 0.5) / 1000.0).ln()).unwrap();
    }
    write(folder.join("times.csv"), times).unwrap();
    let network = "name = \"desk\"\nuntil = 400\nunit = \"minute\"\n\
        [source.in]\ninterarrival = { exponential = 4 }\nto = \"desk\"\n\
        [station.desk]\nservice.empirical.file = \"times.csv\"\nservice.empirical.column = \"minutes\"\nto = \"out\"\n\
        [sink.out]\n";
    write(folder.join("desk.toml"), network).unwrap();
    folder
}

#[test]
fn a_fit_is_printed_as_the_line_to_paste_and_drawn() {
    let folder = folder("fit");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let plot = at("plot.svg");
    let args = [&*at("times.csv"), "--column=minutes", "--bootstrap=50", "--plot", &plot];
    let output = run("fit", &args);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = printed.lines().find(|line| line.starts_with("service = ")).unwrap();
    assert_eq!(line, "service = { exponential = 2.99896 }", "{printed}");
    assert!(read_to_string(plot).unwrap().contains("measured time"));
    ended(&run("fit", &[&at("times.csv")]), 2, &["times.csv", "`number`, `minutes`", "`column`"], "fit");
    ended(&run("fit", &[&at("times.csv"), "--column=hours"]), 2, &["no column `hours`"], "fit");
    write(folder.join("bad.csv"), "1\n2\nx\n").unwrap();
    ended(&run("fit", &[&at("bad.csv")]), 2, &["bad.csv", "line 3", "\"x\""], "fit");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_network_draws_from_a_file_and_is_reported_as_a_page() {
    let folder = folder("report");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (network, page) = (at("desk.toml"), at("desk.html"));
    let args = [&*network, "--backend=cpu", "--replications=20", "--report", &page];
    let output = run("network", &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let fingerprint = printed.lines().last().unwrap().split(' ').next_back().unwrap();
    let html = read_to_string(&page).unwrap();
    for part in ["<h1>desk</h1>", "utilisation", "time (minute)", "warm-up", fingerprint, "--replications=20"]
    {
        assert!(html.contains(part), "{part}");
    }
    write(folder.join("times.csv"), "number,minutes\n1,2\n2,soon\n").unwrap();
    ended(&run("network", &args), 2, &["desk.toml", "times.csv, line 3", "\"soon\""], "network");
    std::fs::remove_dir_all(folder).unwrap();
}
