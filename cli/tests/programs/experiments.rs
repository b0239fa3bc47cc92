//! Experiments on descriptions: designs, the best point, searches, and what starts and checks a
//! description.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use eventhorizon::facility::{NetworkDescription, Study};
use serde_json::Value;

use super::{ended, program, run};

pub(super) const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");

/// An M/M/c queue, whose exact values are known.
pub(super) const QUEUE: &str = "name = \"queue\"\nuntil = 2000\nwarm_up = 100\n\
    [source.calls]\ninterarrival = { exponential = 0.5 }\nto = \"desk\"\n\
    [station.desk]\nservers = 3\nservice = { exponential = 1.0 }\nto = \"out\"\n\
    [sink.out]\n";

pub(super) fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("experiments").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A file in the folder of a test.
pub(super) fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

pub(super) fn json(name: &str, args: &[&str]) -> Value {
    let output = run(name, &[args, &["--json"]].concat());
    assert!(output.status.success(), "{name} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

pub(super) fn rows<'v>(printed: &'v Value, measure: &str) -> Vec<&'v Value> {
    let rows = printed["results"].as_array().unwrap().iter();
    rows.filter(|row| row["measure"] == measure).collect()
}

pub(super) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

pub(super) fn fingerprint(printed: &Value) -> u64 {
    u64::from_str_radix(printed["fingerprint"].as_str().unwrap(), 16).unwrap()
}

#[test]
fn points_of_a_network_are_its_single_runs_and_their_differences_are_paired() {
    let folder = folder("points");
    let queue = file(&folder, "queue.toml", QUEUE);
    let set = "station.desk.servers=3,4";
    let both = json("network", &[&queue, "--set", set, "--replications", "20", "--backend", "cpu"]);
    let single = |servers: &str| {
        let set = format!("station.desk.servers={servers}");
        json("network", &[&queue, "--set", &set, "--replications", "20", "--backend", "cpu"])
    };
    let singles = [single("3"), single("4")];
    assert_eq!(fingerprint(&both), fingerprint(&singles[0]).wrapping_add(fingerprint(&singles[1])));
    let waits = rows(&both, "wait(desk)");
    for (row, single) in waits.iter().zip(&singles) {
        let one = single["results"].as_array().unwrap().iter();
        let one = one.filter(|row| row["node"] == "desk" && row["measure"] == "wait").collect::<Vec<_>>()[0];
        for field in ["mean", "half_width", "theory"] {
            let (found, expected) = (number(&row[field]), number(&one[field]));
            assert!((found - expected).abs() < 1e-9 * expected.abs(), "{field}: {row} and {one}");
        }
    }
    // Common random numbers: the difference is more precise than that of independent runs.
    let [first, second] = waits[..] else { panic!("two points: {both}") };
    let difference = number(&second["mean"]) - number(&first["mean"]);
    assert!((number(&second["difference"]) - difference).abs() < 1e-12 && first["difference"].is_null());
    let independent = number(&first["half_width"]).hypot(number(&second["half_width"]));
    assert!(number(&second["difference_half_width"]) < independent, "{second}");
    assert_eq!(first["factors"]["station.desk.servers"], 3);
}

#[test]
fn points_have_the_same_bits_on_a_device() {
    let folder = folder("device");
    let queue = file(&folder, "queue.toml", QUEUE);
    let args = |backend: &'static str| {
        let args = [&queue, "--set", "source.calls.interarrival.exponential=0.5,0.4", "--until", "60"];
        json("network", &[&args[..], &["--replications", "3", "--backend", backend]].concat())
    };
    let (cpu, gpu) = (args("cpu"), args("gpu"));
    assert_eq!((gpu["engine"].as_str(), fingerprint(&gpu)), (Some("gpu"), fingerprint(&cpu)));
}

#[test]
fn designs_are_tables_of_the_file_lists_of_the_command_line_and_csv_files() {
    let folder = folder("designs");
    let points = "station.desk.servers,station.desk.service.exponential\n3,1\n4,1.2\n";
    let csv = file(&folder, "points.csv", points);
    let queue = file(&folder, "queue.toml", QUEUE);
    let lists = "station.desk.servers = [3, 4]\nstation.desk.service.exponential = [1.0, 1.2]\n";
    let paired = file(&folder, "paired.toml", &format!("{QUEUE}[design]\npaired = true\n{lists}"));
    let whole = file(&folder, "whole.toml", &format!("{QUEUE}[design]\n{lists}"));
    let named = file(&folder, "named.toml", &format!("{QUEUE}[design]\ncsv = \"points.csv\"\n"));
    let few = ["--replications", "4", "--backend", "cpu"];
    let made = |args: &[&str]| json("network", &[args, &few].concat());
    let sets = ["--set", "station.desk.servers=3,4", "--set", "station.desk.service.exponential=1,1.2"];
    let expected = fingerprint(&made(&[&[queue.as_str(), "--paired"][..], &sets].concat()));
    for args in [&[paired.as_str()][..], &[&named], &[&queue, "--design", &csv]] {
        let made = made(args);
        assert_eq!((fingerprint(&made), rows(&made, "number").len()), (expected, 2), "{args:?}");
    }
    let all = made(&[&whole]);
    assert_eq!(
        (rows(&all, "number").len(), fingerprint(&all)),
        (4, fingerprint(&made(&[&[queue.as_str()][..], &sets].concat())))
    );

    // Process models have parameters.
    let model = format!("{EXAMPLES}/processes/mm3.toml");
    let text = std::fs::read_to_string(&model).unwrap();
    let design = file(&folder, "mm3.toml", &format!("{text}\n[design]\nservers = [3, 4]\n"));
    let few = ["--replications", "2", "--until", "500", "--backend", "cpu"];
    let by_file = json("process", &[&[design.as_str()][..], &few].concat());
    let by_list = json("process", &[&[model.as_str(), "--set", "servers=3,4"][..], &few].concat());
    assert_eq!(fingerprint(&by_file), fingerprint(&by_list));
    assert!(rows(&by_file, "wait")[1]["difference"].is_number(), "{by_file}");
}

#[test]
fn what_is_wrong_in_a_change_names_it_and_what_is_wrong_in_the_file_its_line() {
    let folder = folder("wrong");
    let queue = file(&folder, "queue.toml", QUEUE);
    let refused = |args: &[&str], words: &[&str]| {
        ended(&run("network", &[&[queue.as_str()], args].concat()), 2, words, &format!("{args:?}"));
    };
    refused(&["--set", "station.dask.servers=2"], &["station.dask.servers=2", "Did you mean `desk`?"]);
    refused(&["--set", "station.desk.serves=2"], &["station.desk.serves=2", "Did you mean `servers`?"]);
    refused(&["--set", "station.desk.servers=2.5"], &["station.desk.servers=2.5", "expected a whole number"]);
    refused(&["--set", "station.desk=2"], &["leads to a table"]);
    refused(&["--set", "station.desk.servers.x=2"], &["neither a table nor a list"]);
    refused(&["--set", "station.desk.servers=two"], &["station.desk.servers=two", "expected a whole number"]);
    refused(&["--set", "station..servers=2"], &["keys with dots"]);
    refused(&["--set", "until=10,20"], &["--until"]);
    let twice = ["--set", "station.desk.servers=2", "--set", "station.desk.servers=3"];
    refused(&twice, &["given twice for `station.desk.servers`"]);
    // An unstable point is named.
    refused(&["--set", "station.desk.servers=2,3"], &["at station.desk.servers=2", "Add servers"]);
    refused(&["--set", "station.desk.servers=3,4", "--best", "wait(desk)"], &["--difference", "--budget"]);
    refused(&["--best", "wait(desk)", "--budget", "100"], &["--set"]);
    refused(&["--set", "station.desk.servers=3,4", "--show", "ir"], &["--show is for a single network"]);
    let best =
        ["--set", "station.desk.servers=3,4", "--backend", "cpu", "--best", "weight(desk)", "--budget", "40"];
    refused(&best, &["no result column `weight(desk)`", "wait(desk)"]);
    let wrong = file(&folder, "wrong.toml", &QUEUE.replace("servers = 3", "servers = \"three\""));
    let output = run("network", &[&wrong, "--set", "source.calls.interarrival.exponential=1,2"]);
    ended(&output, 2, &["line 8", "servers = \"three\""], "a wrong file");
    let wrong = file(&folder, "design.toml", &format!("{QUEUE}[design]\nstation.desk.servers = [\"a\"]\n"));
    ended(
        &run("network", &[&wrong]),
        2,
        &["station.desk.servers=a", "expected a whole number"],
        "a wrong design",
    );
}

#[test]
fn the_best_point_is_selected_with_a_guarantee_or_a_budget() {
    let folder = folder("best");
    let queue = file(&folder, "queue.toml", QUEUE);
    let set = "station.desk.service.exponential=1.1,1.0,1.2,1.3";
    let best = |args: &[&str]| {
        let fixed = [queue.as_str(), "--set", set, "--backend", "cpu", "--best", "wait(desk)", "--smallest"];
        json("network", &[&fixed, args].concat())
    };
    let guaranteed = best(&["--difference", "0.05", "--replications", "2000"]);
    assert_eq!(guaranteed["selected"]["best"], 1, "{}", guaranteed["selected"]);
    let cheap = best(&["--budget", "200"]);
    assert_eq!(cheap["selected"]["best"], 1);
    let spent = cheap["selected"]["replications"].as_array().unwrap().iter().map(number).sum::<f64>();
    assert!(spent == 200.0 && number(&cheap["selected"]["probability"]) > 0.8, "{}", cheap["selected"]);
    let model = format!("{EXAMPLES}/processes/mm3.toml");
    let args = ["--set", "servers=3,4", "--best", "wait", "--smallest", "--budget", "40", "--until", "500"];
    let process = json("process", &[&[model.as_str(), "--backend", "cpu"][..], &args].concat());
    assert_eq!(process["selected"]["best"], 1);
}

#[test]
fn a_measure_is_drawn_against_a_number() {
    let folder = folder("drawn");
    let queue = file(&folder, "queue.toml", QUEUE);
    let picture = folder.join("wait.svg").display().to_string();
    let few = ["--set", "station.desk.servers=3,4,5", "--replications", "4", "--backend", "cpu"];
    let args = [&[queue.as_str(), "--only", "wait", "--plot", &picture][..], &few].concat();
    json("network", &args);
    let svg = std::fs::read_to_string(&picture).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("station.desk.servers"), "{svg:.300}");
    let output = run("network", &[&[queue.as_str(), "--plot", &picture][..], &few].concat());
    ended(&output, 2, &["one measure by --only", "wait(desk)"], "several pictures in a file");
}

#[test]
fn one_network_with_columns_is_drawn_and_its_formulas_are_numbers() {
    let folder = folder("columns");
    let queue = file(&folder, "queue.toml", QUEUE);
    let at = |name: &str| folder.join(name).display().to_string();
    let few = ["--until", "50", "--warm-up", "5", "--replications", "4", "--backend", "cpu"];
    let with = |file: &str, args: &[&str]| run("network", &[&[file][..], &few, args].concat());
    let column = ["--column", "cost = 2 * queue(desk)", "--only", "cost", "--share", "wait(desk) <= 1"];
    let output = with(&queue, &[&column[..], &["--each", &at("each.csv"), "--plot", &at("drawn")]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let each = std::fs::read_to_string(at("each.csv")).unwrap();
    let head = each.lines().next().unwrap();
    let has = |name: &str| head.contains(name);
    assert!(has("cost") && has("share(wait(desk) <= 1)") && !has("throughput"), "{head}");
    for name in ["numbers.svg", "network.svg", "cost.svg"] {
        assert!(folder.join("drawn").join(name).exists(), "{name}");
    }
    ended(&with(&queue, &["--column", "c = 1 / 0"]), 2, &["column `c` is inf"], "no number");
    let plain = file(&folder, "plain.toml", &QUEUE.replace("servers = 3\n", ""));
    let default = ["--column", "c = 20 * station.desk.servers", "--allow-unstable"];
    ended(&with(&plain, &default), 2, &["write `servers = 1` in [station.desk]"], "a default");
    // Columns stay in other forms.
    let text = format!("{QUEUE}[columns]\ncost = \"2 * queue(desk)\"\n");
    let text = run("convert", &[&file(&folder, "cost.toml", &text)]).stdout;
    assert!(String::from_utf8(text).unwrap().ends_with("\n[columns]\ncost = \"2 * queue(desk)\"\n"));
}

#[test]
fn a_description_of_another_kind_is_named_with_its_command() {
    let folder = folder("kinds");
    let queue = file(&folder, "queue.toml", QUEUE);
    let mm3 = format!("{EXAMPLES}/processes/mm3.toml");
    ended(&run("network", &[&mm3]), 2, &["it is a process model", "`eventhorizon process`"], "process");
    ended(&run("process", &[&queue]), 2, &["it is a network", "`eventhorizon network`"], "network");
    let json = folder.join("a.json").display().to_string();
    ended(&run("init", &["process", &json]), 2, &["a.json", ".toml"], "JSON");
}

#[test]
fn starting_files_check_and_run_and_overwrite_nothing() {
    let folder = folder("init");
    for (kind, command, name) in
        [("network", "network", "n.toml"), ("process", "process", "p.toml"), ("model", "run", "m.toml")]
    {
        let path = folder.join(name).display().to_string();
        assert!(run("init", &[kind, &path]).status.success(), "{kind}");
        ended(&run("init", &[kind, &path]), 2, &["exists"], kind);
        let checked = json("check", &[&path]);
        assert_eq!(checked["kind"], kind);
        let results = json(command, &[&path, "--replications", "2", "--backend", "cpu"]);
        assert!(results["results"].as_array().unwrap().len() > 1, "{kind}");
    }
    let text = run("init", &["network", "-"]).stdout;
    let mut check = program("check");
    let mut child = check.args(["-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&text).unwrap();
    let output = child.wait_with_output().unwrap();
    let checked: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(checked["kind"], "network");
}

#[test]
fn check_prints_loads_theory_and_what_is_unstable() {
    let folder = folder("check");
    let queue = file(&folder, "queue.toml", QUEUE);
    let output = run("check", &[&queue]);
    let text = String::from_utf8(output.stdout).unwrap();
    for word in ["desk", "station", "0.6667", "2.00000", "to out", "wait(desk) = 0.444444"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let unstable = run("check", &[&queue, "--set", "station.desk.servers=1"]);
    let text = String::from_utf8(unstable.stdout).unwrap();
    assert!(
        unstable.status.success() && text.contains("2.0000") && text.contains("warning: `desk`"),
        "{text}"
    );
    // The rate at a delay depends on waits, not on rates alone.
    let patient = "[station.desk]\npatience = { exponential = 1.0 }\nreneged_to = \"rest\"";
    let text = QUEUE.replace("[station.desk]", patient);
    let text = format!("{text}[delay.rest]\ntime = {{ constant = 1 }}\nto = \"out\"\n");
    let checked = json("check", &[&file(&folder, "reneged.toml", &text)]);
    let nodes = checked["points"][0]["facts"]["nodes"].as_array().unwrap();
    let rate = |name: &str| &nodes.iter().find(|node| node["name"] == name).unwrap()["classes"][0]["rate"];
    assert!(rate("rest").is_null() && number(rate("out")) == 2.0, "{checked}");
    ended(
        &run("check", &[&file(&folder, "none.toml", "name = \"none\"\n")]),
        2,
        &["eventhorizon init"],
        "no description",
    );
}

#[test]
fn customers_that_multiply_are_understood_and_refused() {
    let folder = folder("multiply");
    let back = "name = \"back\"\nuntil = 100\nwarm_up = 10\n
[source.in]\ninterarrival = { exponential = 1.0 }\nto = \"desk\"\n
[station.desk]\nservice = { exponential = 0.1 }\nsplits = 3\nto = \"back\"\n
[router.back]\nto = [{ node = \"desk\", probability = 0.2 }, \"out\"]\n
[sink.out]\n";
    // Each visit makes 3, of which one in five returns: 2.5 visits for each arrival.
    let queue = file(&folder, "back.toml", back);
    let checked = json("check", &[&queue]);
    let load = checked["points"][0]["facts"]["nodes"].as_array().unwrap();
    let desk = load.iter().find(|node| node["name"] == "desk").unwrap();
    assert!((desk["load"].as_f64().unwrap() - 0.25).abs() < 1e-9, "{desk}");
    // One in two returns: each visit makes 1.5 more.
    for share in ["0.5", "0.3333333333333333", "0.3333333333333334"] {
        let queue = file(&folder, "more.toml", &back.replace("0.2", share));
        let refused = run("network", &[&queue, "--backend=cpu", "--replications=2"]);
        ended(&refused, 2, &["desk", "grows without end"], share);
        assert!(run("check", &[&queue]).status.success());
    }
}

/// The exact value of a measure with a number of servers; `None` without a steady state.
fn exact(text: &str, servers: u32, measure: &str) -> Option<f64> {
    let mut description = NetworkDescription::from_toml(text).unwrap();
    description.set(&format!("station.desk.servers={servers}")).unwrap();
    let facility = description.networks().unwrap()[0].compile().ok()?;
    let theory = facility.facts().theory;
    Some(theory.iter().find(|(name, _)| name == measure).unwrap_or_else(|| panic!("{measure}: {theory:?}")).1)
}

#[test]
fn staffing_finds_the_optimum_of_erlang_c_and_of_erlang_a() {
    let folder = folder("staffing");
    let found = |text: &str, args: &[&str]| {
        let path = file(&folder, "desk.toml", text);
        let fixed = [path.as_str(), "--set", "station.desk.servers=1..40", "--backend", "cpu"];
        json("optimise", &[&fixed, args].concat())
    };
    // Erlang C: 20 servers' worth of work, a server costs 10 and a waiting customer 40.
    let text =
        QUEUE.replace("exponential = 0.5", "exponential = 0.05").replace("until = 2000", "until = 400");
    let cost = |servers| Some(10.0 * f64::from(servers) + 40.0 * exact(&text, servers, "queue(desk)")?);
    let optimum = (1..=40).filter_map(|servers| Some((cost(servers)?, servers)));
    let optimum = optimum.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let objective = "10 * station.desk.servers + 40 * queue(desk)";
    let result = found(&text, &["--minimise", objective, "--budget", "3000"]);
    assert_eq!(result["best"]["station.desk.servers"], optimum.1, "{result}");
    assert!((number(&result["best"]["objective"]) - optimum.0).abs() < 0.05 * optimum.0);
    assert!(result["is_local_optimum"] == true && number(&result["replications"]) <= 3000.0);
    // Erlang A: the fewest servers with which at most 4 % of the customers give up.
    let text = text.replace("servers = 3", "servers = 3\npatience = { exponential = 2.0 }");
    let share = |servers| exact(&text, servers, "reneged(desk)").unwrap();
    let optimum = (1..=40).find(|&servers| share(servers) <= 0.04).unwrap();
    let bound = ["--minimise", "station.desk.servers", "--subject-to", "reneged(desk) <= 0.04"];
    let result = found(&text, &[&bound[..], &["--budget", "3000"]].concat());
    assert_eq!(result["best"]["station.desk.servers"], optimum, "{result}");
    assert_eq!(
        (&result["is_feasible"], &result["is_clear"]),
        (&Value::Bool(true), &Value::Bool(true)),
        "{result}"
    );
    // A process model: the share of stays up to a bound.
    let args = ["--set", "doctors=1..8", "--minimise", "doctors", "--subject-to", "share(stay <= 60) >= 0.8"];
    let path = folder.join("process.toml").display().to_string();
    assert!(run("init", &["process", &path]).status.success());
    let fixed = ["--until", "3000", "--budget", "600", "--backend", "cpu"];
    let result = json("optimise", &[&[path.as_str()][..], &args, &fixed].concat());
    let shares = json("process", &[&path, "--set", "doctors=2,3,4,5", "--until", "3000", "--backend", "cpu"]);
    let enough =
        rows(&shares, "share(stay <= 60)").into_iter().find(|row| number(&row["mean"]) >= 0.8).unwrap();
    assert_eq!(number(&result["best"]["doctors"]), number(&enough["factors"]["doctors"]), "{result}");
}

#[test]
fn points_with_too_many_entities_are_worse_than_all_others() {
    let folder = folder("full");
    let text = "until = 25000\n[parameters]\nservers = 3\n[resource]\nserver = \"servers\"\n\
        [entity.job]\nevery = { exponential = 0.25 }\n\
        do = [{ use = \"server\", for = { exponential = 1 }, tally = \"wait\" }]\n";
    let model = file(&folder, "jobs.toml", text);
    // Four servers are too few, and one has the most entities soonest.
    let args = ["--set", "servers=1..6", "--minimise", "wait", "--budget", "200", "--backend", "cpu"];
    let result = json("optimise", &[&[model.as_str()][..], &args].concat());
    assert_eq!(result["best"]["servers"], 6, "{result}");
    let full = result["visited"].as_array().unwrap().iter().filter(|point| point["objective"].is_null());
    assert!(
        full.clone().count() > 0 && full.clone().all(|point| number(&point["servers"]) < 3.0),
        "{result}"
    );
}

#[test]
fn a_search_takes_real_numbers_in_steps() {
    let folder = folder("steps");
    let queue = file(&folder, "queue.toml", QUEUE);
    let set = ["--set", "station.desk.service.exponential=0.5..1:0.25", "--until", "500"];
    let found = ["--maximise", "utilisation(desk)", "--budget", "100", "--backend", "cpu"];
    let found = json("optimise", &[&[queue.as_str()], &set[..], &found].concat());
    assert_eq!(found["best"]["station.desk.service.exponential"], 1.0, "{found}");
    let visited = found["visited"].as_array().unwrap();
    assert!(visited.iter().all(|point| number(&point["station.desk.service.exponential"]) % 0.25 == 0.0));
}

#[test]
fn a_search_refuses_what_it_cannot_search() {
    let folder = folder("refused");
    let queue = file(&folder, "queue.toml", QUEUE);
    let refused = |args: &[&str], words: &[&str]| {
        let output = run("optimise", &[&[queue.as_str(), "--backend", "cpu"], args].concat());
        ended(&output, 2, words, &format!("{args:?}"));
    };
    let set = ["--set", "station.desk.servers=3..6"];
    refused(&["--set", "station.desk.servers=3", "--minimise", "1"], &["no number is searched"]);
    refused(&["--set", "station.desk.servers=6..3", "--minimise", "1"], &["6..3", "swap them"]);
    refused(
        &[&set[..], &["--minimise", "weight(desk)"]].concat(),
        &["`weight(desk)` is no measure", "wait(desk)"],
    );
    refused(&[&set[..], &["--minimise", "1 +"]].concat(), &["--minimise"]);
    refused(&[&set[..], &["--minimise", "1", "--subject-to", "wait(desk)"]].concat(), &["<="]);
    refused(
        &[&set[..], &["--minimise", "wait(desk)", "--budget", "3"]].concat(),
        &["budget of replications is 3, and a point takes 16"],
    );
    refused(&[&set[..], &set[..], &["--minimise", "1"]].concat(), &["given twice"]);
}

/// The estimates of several points cover their exact values as often as intervals do.
#[test]
fn estimates_of_points_agree_with_theory() {
    let mut description = NetworkDescription::from_toml(QUEUE).unwrap();
    description.set("station.desk.servers=3,4,5").unwrap();
    let facilities =
        description.networks().unwrap().iter().map(|network| network.compile().unwrap()).collect();
    let points = eventhorizon::facility::FacilityDesign::new(description.design().unwrap(), facilities);
    let report = points.study(&Study::new(64, 2000.0, 100.0)).run().unwrap().report(0.999).unwrap();
    let known: Vec<_> = report.rows.iter().filter(|row| row.name == "wait(desk)").collect();
    assert_eq!(known.len(), 3);
    for row in known {
        let (mean, half, theory) = (row.mean.unwrap(), row.half_width.unwrap(), row.theory.unwrap());
        assert!((mean - theory).abs() < half, "{row:?}");
    }
}
