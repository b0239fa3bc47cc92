//! Shares of times, profiles, columns of one's own, names in designs, and pages.

use eventhorizon::facility::{Facility, NetworkDescription, Share, Study};
use eventhorizon::process::ProcessModel;
use eventhorizon::statistics::Intervals;

use super::experiments::{EXAMPLES, QUEUE, file, fingerprint, folder, json, number, rows};
use super::{ended, run};

/// Whether the long tests run.
fn long() -> bool {
    std::env::var_os("EVENTHORIZON_LONG").is_some()
}

fn compiled(text: &str) -> Facility {
    NetworkDescription::from_toml(text).unwrap().networks().unwrap()[0].compile().unwrap()
}

/// The share of waits of at most `time` in an M/M/c queue with these loads in servers (Erlang C).
fn erlang_c(load: f64, servers: u32, time: f64) -> f64 {
    let mut blocked = 1.0;
    for servers in 1..=servers {
        blocked = load * blocked / (f64::from(servers) + load * blocked);
    }
    let free = f64::from(servers) - load;
    let waits = f64::from(servers) * blocked / (free + load * blocked);
    1.0 - waits * (-free * time).exp()
}

/// How often intervals hold a value: at least in 22 of 24 experiments, or in 92 to 98 % of 400.
fn assert_covers(inside: u32, all: u32, what: &str) {
    let share = f64::from(inside) / f64::from(all);
    let covers = if long() { 0.92..=0.98 } else { 0.88..=1.0 };
    assert!(covers.contains(&share), "{what}: {inside} of {all}");
}

fn experiments() -> std::ops::Range<u64> {
    0..if long() { 400 } else { 24 }
}

#[test]
fn shares_of_waits_hold_the_value_of_erlang_c() {
    let facility = compiled(&QUEUE.replace("until = 2000", "until = 500"));
    let shares: Vec<Share> = ["wait(desk) <= 0", "wait(desk) <= 0.5", "share(sojourn(desk) <= 1)"]
        .map(|text| text.parse().unwrap())
        .to_vec();
    let (mut inside, mut all) = (0, 0);
    for seed in experiments() {
        let study = Study::new(20, 500.0, 100.0).seed(500 + seed);
        let report = facility.study(&study).shares(&shares).run().unwrap();
        let found: Vec<_> = report.rows.iter().filter(|row| row.up_to.is_some()).collect();
        assert_eq!(found.len(), 3);
        for (row, time) in found.iter().zip([0.0, 0.5]) {
            let (lower, upper) = (row.lower.unwrap(), row.upper.unwrap());
            let exact = erlang_c(2.0, 3, time);
            (inside, all) = (inside + u32::from(lower <= exact && exact <= upper), all + 1);
        }
        // A mean service is 1, so fewer than 1 - 1/e leave by then.
        assert!(found[2].mean.unwrap() < 0.6322 && found[2].label() == "share(sojourn <= 1)");
    }
    assert_covers(inside, all, "shares");
    for wrong in ["wait(dask) <= 1", "wait(out) <= 1", "wait(desk, urgent) <= 1", "wait(desk) <= 1e300"] {
        let shares = [wrong.parse().unwrap()];
        assert!(facility.study(&Study::new(1, 10.0, 0.0)).shares(&shares).run().is_err(), "{wrong}");
    }
    for wrong in ["wait(desk)", "weight(desk) <= 1", "wait(desk) <= -1", "wait(desk <= 1"] {
        assert!(wrong.parse::<Share>().is_err(), "{wrong}");
    }
}

/// Arrivals by time of day, and a delay of infinitely many servers: a linear differential equation.
const DAY: &str = "name = \"day\"\nunit = \"hour\"\n\
    [source.in]\ninterarrival = { exponential = 0.1 }\nto = \"stay\"\n\
    rates = [{ lasts = 10, factor = 1 }, { lasts = 10, factor = 0.2 }]\n\
    [delay.stay]\ntime = { exponential = 3.0 }\nto = \"out\"\n[sink.out]\n";

/// The mean number in the stay of `DAY` in each 5 hours.
fn numbers(intervals: usize) -> Vec<f64> {
    let (mut number, mut means) = (0.0, Vec::new());
    for interval in 0..intervals {
        let limit = if interval / 2 % 2 == 0 { 30.0 } else { 6.0 };
        let left = (-5.0_f64 / 3.0).exp();
        means.push(limit + (number - limit) * 3.0 * (1.0 - left) / 5.0);
        number = limit + (number - limit) * left;
    }
    means
}

#[test]
fn profiles_hold_the_numbers_of_a_day() {
    let facility = compiled(DAY);
    let (exact, mut inside, mut all) = (numbers(8), 0, 0);
    for seed in experiments() {
        let study = Study::new(20, 40.0, 0.0).seed(900 + seed);
        let profile = facility.profile(&study, Intervals::new(5.0), |name| name == "number(stay)").unwrap();
        assert_eq!(profile.rows.len(), 8);
        for (row, exact) in profile.rows.iter().zip(&exact) {
            let near = (row.mean.unwrap() - exact).abs() <= row.half_width.unwrap();
            (inside, all) = (inside + u32::from(near), all + 1);
            assert!(
                row.min <= row.q05 && row.q05 <= row.median && row.q95 <= row.max && row.observations == 20
            );
        }
    }
    assert_covers(inside, all, "profiles");
    // Days after the first are alike, and folded; the average over a whole run is that of the report.
    let study = Study::new(20, 200.0, 40.0);
    let days =
        facility.profile(&study, Intervals::new(5.0).every(20.0), |name| name == "number(stay)").unwrap();
    assert_eq!((days.rows.len(), days.rows[0].observations), (4, 20 * 8));
    let report = facility.study(&study).run().unwrap();
    let whole = report.row("stay", Some("customer"), eventhorizon::facility::Measure::Number).unwrap();
    let mean = days.rows.iter().map(|row| row.mean.unwrap()).sum::<f64>() / 4.0;
    assert!((mean - whole.mean.unwrap()).abs() < 1e-6 * mean, "{mean}, {whole:?}");
}

#[test]
fn profiles_of_processes_are_the_averages_of_their_measures() {
    let text = std::fs::read_to_string(format!("{EXAMPLES}/processes/mm3.toml")).unwrap();
    let compiled = ProcessModel::from_toml(&text).unwrap().compile().unwrap();
    let study = eventhorizon::process::Study::new(8, 400.0, 0.0);
    let is_average =
        |name: &str| ["in_use(", "queue(", "utilisation("].iter().any(|kind| name.starts_with(kind));
    let profile = compiled.profile(&study, 0, Intervals::new(100.0), 0.95, is_average).unwrap();
    let results = compiled.study(&study).run().unwrap().report(0.95).unwrap();
    assert!(profile.measures().count() > 1);
    for measure in profile.measures() {
        let means: Vec<f64> = profile.of(measure).map(|row| row.mean.unwrap()).collect();
        let row = results.rows.iter().find(|row| row.name == measure).unwrap();
        let mean = means.iter().sum::<f64>() / 4.0;
        assert!((mean - row.mean.unwrap()).abs() < 1e-6, "{measure}: {means:?}, {row:?}");
    }
}

#[test]
fn a_search_keeps_a_bound_on_a_share_of_waits() {
    let folder = folder("shares");
    let queue = file(&folder, "queue.toml", &QUEUE.replace("exponential = 0.5", "exponential = 0.1"));
    let best = (11..).find(|&servers| erlang_c(10.0, servers, 0.2) >= 0.9).unwrap();
    let bound = ["--minimise", "station.desk.servers", "--subject-to", "share( wait(desk)<=0.2) >= 0.9"];
    let fixed = ["--set", "station.desk.servers=1..30", "--backend", "cpu", "--until", "600"];
    let found = json("optimise", &[&[queue.as_str()], &bound[..], &fixed].concat());
    assert_eq!(found["best"]["station.desk.servers"], best, "{found}");
    let refused = ["--minimise", "wait_95(desk)", "--set", "station.desk.servers=11..13"];
    ended(&run("optimise", &[&[queue.as_str()], &refused[..]].concat()), 2, &["bound a share"], "a quantile");
}

#[test]
fn columns_of_ones_own_are_computed_from_measures_and_paths() {
    let folder = folder("columns");
    let text = format!(
        "{QUEUE}[columns]\ncost = \"20 * station.desk.servers + 5 * queue(desk)\"\n\
         profit = \"30 * throughput(out) - cost\"\n"
    );
    let queue = file(&folder, "queue.toml", &text);
    let few = ["--replications", "8", "--backend", "cpu"];
    let made = json("network", &[&[queue.as_str(), "--set", "station.desk.servers=3,4"][..], &few].concat());
    let mean = |measure: &str, point: usize| number(&rows(&made, measure)[point]["mean"]);
    for (point, servers) in [(0, 3.0), (1, 4.0)] {
        let cost = 20.0 * servers + 5.0 * mean("queue(desk)", point);
        assert!((mean("cost", point) - cost).abs() < 1e-9 * cost);
        let profit = 30.0 * mean("throughput(out)", point) - cost;
        assert!((mean("profit", point) - profit).abs() < 1e-9 * cost);
    }
    let best = ["--set", "station.desk.servers=3,4", "--best", "cost", "--smallest", "--budget", "40"];
    let found = json("network", &[&[queue.as_str(), "--backend", "cpu"], &best[..]].concat());
    assert_eq!(found["selected"]["best"], 0);
    let one = json("network", &[&[queue.as_str(), "--column", "both = cost + profit"][..], &few].concat());
    assert!(number(&rows(&one, "both")[0]["mean"]) > 50.0, "{one}");
    let found = ["optimise", "--set", "station.desk.servers=3..6", "--minimise", "cost", "--backend", "cpu"];
    let found = json(found[0], &[&[queue.as_str(), "--budget", "400"], &found[1..]].concat());
    assert_eq!(found["best"]["station.desk.servers"], 3, "{found}");
    let wrong = run("network", &[&[queue.as_str(), "--column", "x = weight(desk)"][..], &few].concat());
    ended(&wrong, 2, &["column `x`", "`weight(desk)` is no measure"], "an unknown measure");
}

#[test]
fn names_vary_as_numbers_do() {
    let folder = folder("names");
    let queue = file(&folder, "queue.toml", QUEUE);
    let few = ["--replications", "4", "--backend", "cpu"];
    let set = |values: &str| format!("station.desk.discipline={values}");
    let made = |values: &str| json("network", &[&[queue.as_str(), "--set", &set(values)][..], &few].concat());
    let both = made("fifo,lifo");
    let sum = fingerprint(&made("fifo")).wrapping_add(fingerprint(&made("lifo")));
    assert_eq!(fingerprint(&both), sum);
    assert_eq!(rows(&both, "wait(desk)")[1]["factors"]["station.desk.discipline"], "lifo");
    let csv = file(&folder, "points.csv", "station.desk.discipline,station.desk.servers\nfifo,3\nlifo,4\n");
    let picture = folder.join("wait.svg").display().to_string();
    let drawn = ["--only", "wait(desk)", "--plot", &picture];
    let set = set("fifo,lifo");
    json("network", &[&[queue.as_str(), "--set", &set], &drawn[..], &few].concat());
    let svg = std::fs::read_to_string(&picture).unwrap();
    assert!(svg.contains("fifo") && svg.contains("lifo"), "{svg}");
    let points = json("network", &[&[queue.as_str(), "--design", &csv][..], &few].concat());
    assert_eq!(rows(&points, "wait(desk)")[1]["factors"]["station.desk.servers"], 4);
    let wrong = run("network", &[&queue, "--set", "station.desk.discipline=fifo,fofi"]);
    ended(&wrong, 2, &["station.desk.discipline=fofi", "unknown variant"], "an unknown name");
}

/// Tags of a page are closed, and it loads nothing.
fn assert_whole(html: &str, words: &[&str]) {
    for tag in ["table", "figure", "svg", "dl", "div", "span", "body", "html"] {
        let count = |mark: &str| html.matches(&format!("{mark}{tag}")).count();
        assert_eq!(count("<"), count("</"), "{tag}");
    }
    let links = html.matches("http").count() - html.matches("http://www.w3.org/2000/svg").count();
    assert!(links == 0 && !html.contains("NaN"), "nothing is loaded");
    words.iter().for_each(|word| assert!(html.contains(word), "{word}"));
}

#[test]
fn pages_show_single_networks_designs_and_processes() {
    let folder = folder("pages");
    let path = |name: &str| folder.join(name).display().to_string();
    let page = |command: &str, args: &[&str]| {
        let (page, profile) = (path("page.html"), path("profile.csv"));
        let mut all = vec!["--report", &page, "--backend", "cpu", "--replications", "4"];
        if args.contains(&"--profile") {
            all.extend(["--profile-to", &profile]);
        }
        json(command, &[args, &all].concat());
        std::fs::read_to_string(&page).unwrap()
    };
    let queue = file(&folder, "queue.toml", QUEUE);
    let profile = ["--profile", "100", "--period", "500"];
    let html = page("network", &[&[queue.as_str(), "--share", "wait(desk) <= 1"][..], &profile].concat());
    assert_whole(&html, &["Profile", "<polygon", "share(wait &lt;= 1)", "95 % interval", "fingerprint"]);
    let csv = std::fs::read_to_string(path("profile.csv")).unwrap();
    assert!(csv.starts_with("measure,begin,end,mean,half_width,q05") && csv.contains("queue(desk),400,500"));
    let html = page("network", &[&queue, "--set", "station.desk.servers=3,4"]);
    assert_whole(&html, &["By parameter", "station.desk.servers", "difference", "±"]);
    let model = format!("{EXAMPLES}/processes/emergency.toml");
    let html = page(
        "process",
        &[&[model.as_str(), "--until", "3000", "--set", "doctors=3"], &["--profile", "60"][..]].concat(),
    );
    assert_whole(&html, &["Over time", "Profile", "<polygon", "utilisation(", "fingerprint"]);
    let html = page("process", &[&model, "--until", "2000", "--set", "doctors=3,4"]);
    assert_whole(&html, &["By parameter", "difference"]);
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let folder = folder("ignored");
    let queue = file(&folder, "queue.toml", QUEUE);
    let refused = |args: &[&str], words: &[&str]| {
        ended(&run("network", &[&[queue.as_str()], args].concat()), 2, words, &format!("{args:?}"));
    };
    refused(&["--paired"], &["--paired", "none has a list"]);
    refused(&["--paired", "--set", "station.desk.servers=3,4"], &["only one has a list"]);
    let best = ["--set", "station.desk.servers=3,4", "--best", "wait(desk)", "--budget", "40"];
    refused(&[&best[..], &["--replications", "9"]].concat(), &["--replications", "--budget"]);
    refused(&["--only", "weight"], &["--only weight", "wait(desk)"]);
    refused(
        &["--set", "station.desk.servers=3,4", "--profile", "10"],
        &["--profile is for a single network"],
    );
    refused(&["--profile", "1e9"], &["length of the intervals"]);
    refused(&["--profile", "10", "--period", "15"], &["period of a profile"]);
    refused(&["--period", "15"], &["--profile"]);
}
