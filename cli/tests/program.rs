//! The program `eventhorizon` from the outside: the models in the repository, errors for wrong
//! ones, and the commands that are examples of the library.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/models");

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eventhorizon"));
    command.env_remove("RUST_LOG").stdin(Stdio::null()).args(args).output().unwrap()
}

fn model(name: &str) -> String {
    format!("{MODELS}/{name}")
}

/// Its output as JSON.
fn json(args: &[&str]) -> Value {
    let output = run(&[args, &["--json"]].concat());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {printed}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Checks that it was refused, with these words.
fn refused(args: &[&str], words: &[&str]) {
    let output = run(args);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {printed}");
    for word in words {
        assert!(printed.contains(word), "{args:?} without {word}: {printed}");
    }
    assert!(!printed.contains("panicked") && printed.len() < 2000, "{printed}");
}

/// A folder for one test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn row<'v>(printed: &'v Value, point: u64, name: &str) -> &'v Value {
    let rows = printed["results"].as_array().unwrap();
    rows.iter()
        .find(|row| row["point"] == point && row["measure"] == name)
        .unwrap_or_else(|| panic!("{name}: {printed}"))
}

fn same_in_all_ways(printed: &Value, ways: usize) {
    let checked = printed["checked"].as_array().unwrap();
    let fingerprints: Vec<_> = checked.iter().filter_map(|way| way["fingerprint"].as_str()).collect();
    assert_eq!(fingerprints.len(), ways, "{printed}");
    assert!(fingerprints.iter().all(|fingerprint| *fingerprint == fingerprints[0]), "{printed}");
}

#[test]
fn a_model_of_processes_runs_and_is_the_same_in_all_ways() {
    let (folder, file) = (folder("epidemic"), model("epidemic.toml"));
    let path = |name: &str| folder.join(name).display().to_string();
    let (csv, each) = (path("table.csv"), path("each.csv"));
    let printed = json(&[
        "run",
        &file,
        "--replications",
        "3",
        "--check",
        "--csv",
        &csv,
        "--each",
        &each,
        "--plot",
        &path("."),
    ]);
    same_in_all_ways(&printed, 5);
    // Each person infects more than one other, and more if people meet more often.
    let rate = |point| row(&printed, point, "attack_rate")["mean"].as_f64().unwrap();
    assert!(rate(0) > 0.4 && rate(0) < rate(1) && rate(1) < 0.95, "{printed}");
    assert_eq!(row(&printed, 0, "attack_rate")["factors"]["contact"], 0.6);
    // One line for each person; the first run says how many were infected.
    let text = std::fs::read_to_string(each).unwrap();
    assert_eq!(text.lines().count(), 1001);
    assert_eq!(text.lines().next(), Some("lp,infected_at,infected,contacts"));
    assert!(std::fs::read_to_string(csv).unwrap().lines().count() == 1 + 2 * 4);
    for plot in ["attack_rate_0.svg", "last_1_convergence.svg", "attack_rate_by_contact.svg"] {
        assert!(std::fs::read_to_string(path(plot)).unwrap().contains("<svg"), "{plot}");
    }
    let reported_of = run(&["run", &file, "--describe"]);
    let text = String::from_utf8_lossy(&reported_of.stdout);
    for name in ["contact ", "infection ", "infected_at ", "attack_rate"] {
        assert!(reported_of.status.success() && text.contains(name), "{text}");
    }
    let again = json(&["run", &file, "--replications", "3", "--mapping", "team"]);
    assert_eq!(printed["fingerprint"], again["fingerprint"]);
    let other = json(&["run", &file, "--replications", "3", "--seed", "2"]);
    assert_ne!(printed["fingerprint"], other["fingerprint"]);
}

const BANK: &str = r#"
unit = "minute"
until = 200
warm_up = 20
[parameters]
tellers = [1, 2]
[resource]
teller = "tellers"
[entity.customer]
every = { exponential = 1 }
do = [
  { seize = "teller", patience = { time = { exponential = 6 }, else = "left" }, tally = "wait" },
  { delay = { exponential = 1.2 } },
  { release = "teller" },
  { tally = "stay" },
]
left = [{ count = "lost" }]
"#;

#[test]
fn a_process_model_runs_and_is_the_same_in_all_ways() {
    let folder = folder("bank");
    let path = |name: &str| folder.join(name).display().to_string();
    let file = path("bank.toml");
    std::fs::write(&file, BANK).unwrap();
    let [csv, each, trace] = ["table.csv", "each.csv", "trace.csv"].map(path);
    let outputs = ["--csv", &csv, "--each", &each, "--trace", "50", "--trace-to", &trace];
    let all = [&["process", &file, "--replications", "8", "--check", "--plot", &path(".")], &outputs[..]];
    let printed = json(&all.concat());
    same_in_all_ways(&printed, 5);
    assert_eq!((&printed["unit"], &printed["replications"]), (&"minute".into(), &8.into()));
    let mean = |point: u64, name: &str| row(&printed, point, name)["mean"].as_f64().unwrap();
    assert!(mean(0, "wait") > mean(1, "wait") && mean(0, "lost") > mean(1, "lost"), "{printed}");
    let lines = |path: &str| std::fs::read_to_string(path).unwrap().lines().count();
    assert_eq!((lines(&each), lines(&trace)), (1 + 2 * 8, 1 + 50));
    assert!(lines(&csv) > 10 && folder.join("course_0.svg").exists() && folder.join("wait_1.svg").exists());
    let best = ["--best", "wait", "--smallest", "--difference", "0.5", "--replications", "100"];
    assert_eq!(json(&[&["process", &file], &best[..]].concat())["selected"]["best"], 1);
    // A chart, and a study that is resumed.
    let [gantt, study] = ["gantt.svg", "bank.study"].map(path);
    let outputs = ["--gantt", &gantt, "--gantt-until", "30", "--checkpoint", &study];
    json(&[&["process", &file, "--replications", "3"], &outputs[..]].concat());
    assert!(std::fs::read_to_string(&gantt).unwrap().contains("customer"));
    let resumed = json(&["process", &file, "--replications", "8", "--resume", &study]);
    assert_eq!(resumed["fingerprint"], printed["fingerprint"]);
    let other = ["process", &file, "--resume", &study, "--seed", "2"];
    refused(&other, &["bank.study", "seed 1, and this one has 2"]);
    let best = ["process", &file, "--best", "wait", "--difference", "1", "--resume", &study];
    refused(&best, &["--resume"]);
    refused(&["process", &file, "--set", "tellers=0"], &["bank.toml", "the units of `teller`"]);
    refused(&["process", &file, "--set", "teller=1"], &["did you mean `tellers`"]);
    std::fs::write(&file, BANK.replace("  { release = \"teller\" },\n", "")).unwrap();
    refused(&["process", &file], &["bank.toml", "ends while it holds `teller`"]);
    let waits = BANK.replace("{ release = \"teller\" }", "{ wait = \"never\" }, { release = \"teller\" }");
    let waits =
        waits.replace("[entity", "[signal]\nnever = {}\n[entity").replace("every = ", "most = 2\nevery = ");
    std::fs::write(&file, waits).unwrap();
    let output = run(&["process", &file]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("deadlock at") && said.contains("line 17: `wait never`"), "{said}");
}

#[test]
fn a_model_of_replications_agrees_with_theory() {
    let file = model("counter.toml");
    let printed = json(&["run", &file, "--check", "--replications", "512", "--set", "service=0.5,0.25"]);
    same_in_all_ways(&printed, 4);
    for (point, service) in [(0, 0.5), (1, 0.25)] {
        // M/M/1: the load, and the mean wait.
        let load = service / 1.25;
        let wait = load * service / (1.0 - load);
        for (name, expected) in [("wait", wait), ("idle", 1.0 - load)] {
            let row = row(&printed, point, name);
            let [mean, half] = ["mean", "half_width"].map(|key| row[key].as_f64().unwrap());
            // The 99.99 % interval, and the bias of the empty start.
            assert!(
                (mean - expected).abs() < 2.0 * half + 2e-3 * expected,
                "{name}: {mean} ± {half}, not {expected}"
            );
        }
    }
    let precise =
        json(&["run", &file, "--set", "service=0.5", "--precision", "0.05", "--replications", "4096"]);
    assert_eq!(precise["stopped"][0], "reached");
    assert!(row(&precise, 0, "wait")["relative_half_width"].as_f64().unwrap() <= 0.05);
}

#[test]
fn the_best_of_several_points_is_found() {
    // Replications: a shorter service gives a shorter wait. Processes: more contacts and a higher
    // infectiousness give more infected people.
    let counter = ["run", &model("counter.toml"), "--best", "wait", "--smallest", "--difference", "0.05"];
    let printed = json(&[&counter[..], &["--set", "service=0.5,0.25,0.75"]].concat());
    assert_eq!(
        (&printed["selected"]["best"], &printed["selected"]["left"]),
        (&1.into(), &serde_json::json!([1]))
    );
    let after = printed["selected"]["ended_after"].as_array().unwrap();
    assert!(after[0].is_u64() && after[1].is_null() && after[2].is_u64(), "{printed}");
    // Eliminated points got fewer replications than the bound.
    assert!(printed["replications"].as_u64().unwrap() < 4096, "{printed}");
    let epidemic =
        ["run", &model("epidemic.toml"), "--best", "attack_rate", "--difference", "0.1", "--until", "20"];
    let printed =
        json(&[&epidemic[..], &["--set", "infection=0.1,0.2,0.9", "--replications", "200"]].concat());
    // The last of two mean times between contacts and three infection times.
    assert_eq!(printed["selected"]["best"], 5, "{printed}");
    // All replications without a decision: reported, but not a failure.
    let fine = ["run", &model("counter.toml"), "--best", "wait", "--smallest", "--difference", "1e-6"];
    let printed = json(&[&fine[..], &["--set", "service=0.5,0.501", "--replications", "20"]].concat());
    assert_eq!(
        (&printed["selected"]["best"], &printed["selected"]["left"]),
        (&Value::Null, &serde_json::json!([0, 1]))
    );
    refused(&[&counter[..], &["--set", "service=0.5"]].concat(), &["number of systems", "at least 2"]);
    refused(&["run", &model("counter.toml"), "--best", "wait"], &["--difference"]);
    refused(
        &["run", &model("counter.toml"), "--best", "way", "--difference", "1"],
        &["way", "wait, longest, idle"],
    );
}

/// The shipped files with a change, in a folder of their own.
fn changed(folder: &Path, name: &str, from: &str, to: &str) -> String {
    for extension in ["toml", "wgsl"] {
        let text = std::fs::read_to_string(model(&format!("{name}.{extension}"))).unwrap();
        std::fs::write(folder.join(format!("{name}.{extension}")), text.replace(from, to)).unwrap();
    }
    folder.join(format!("{name}.toml")).display().to_string()
}

#[test]
fn times_and_their_ticks_are_the_same_model() {
    let folder = folder("ticks");
    let printed = |from: &str, to: &str| {
        let file = changed(&folder, "counter", from, to);
        json(&["run", &file, "--replications", "20", "--set", "customers=50"])
    };
    let times = printed("time = 1.25", "time = 1.25");
    assert_eq!((&times["ticks_per_unit"], &times["warnings"]), (&100_000.into(), &Value::Array(Vec::new())));
    let ticks = printed("time = 1.25", "ticks = 125000");
    assert_eq!(times["fingerprint"], ticks["fingerprint"]);
    let stated = printed("replications = 4096", "replications = 4096\nticks_per_unit = 1024");
    assert_eq!(stated["ticks_per_unit"], 1024);
    let warnings = stated["warnings"].as_array().unwrap();
    assert!(warnings.len() == 1 && warnings[0].as_str().unwrap().starts_with("service: 0.9 is"), "{stated}");
}

#[test]
fn an_error_of_a_description_names_file_and_line() {
    let folder = folder("wrong");
    let cases: [(&str, &str, &str, &[&str]); 48] = [
        ("epidemic", "count = 1000", "count = \"many\"", &["epidemic.toml", "line 7", "a whole number"]),
        ("epidemic", "name = \"epidemic\"", "name = \"a/b\"", &["epidemic.toml:2", "letters, digits"]),
        ("epidemic", "attack_rate =", "\"../../x\" =", &["epidemic.toml:18", "letters, digits"]),
        ("epidemic", "attack_rate =", "\".x\" =", &["epidemic.toml:18", "not begin"]),
        ("epidemic", "attack_rate =", "\"a\\u001b[2J\" =", &["epidemic.toml:18", "\\u{1b}"]),
        ("epidemic", "attack_rate =", "\"\" =", &["epidemic.toml:18", "letters, digits"]),
        ("epidemic", "attack_rate =", "events =", &["epidemic.toml:18", "another name"]),
        ("epidemic", "attack_rate =", "contact =", &["epidemic.toml:18", "another name"]),
        (
            "epidemic",
            "[processes]",
            "ticks_per_unit = 0\n[processes]",
            &["epidemic.toml:6", "at least 1 tick"],
        ),
        ("epidemic", "until = 365.0", "until = nan", &["epidemic.toml:9: until is NaN", "finite"]),
        (
            "epidemic",
            "until = 365.0",
            "until = 1e-12",
            &["epidemic.toml:9: until", "1/3600000000", "ticks_per_unit"],
        ),
        (
            "epidemic",
            "lookahead = 0.5",
            "lookahead = 1e-12",
            &["epidemic.toml:8: lookahead", "ticks_per_unit"],
        ),
        ("epidemic", "time = 1.0", "time = 1e-12", &["epidemic.toml:13: infectious", "ticks_per_unit"]),
        (
            "epidemic",
            "[processes]",
            "ticks_per_unit = 1\n[processes]",
            &["epidemic.toml:9: lookahead is 0.5", "more than a thousandth"],
        ),
        (
            "counter",
            "service = { time = [1.0, 0.9] }",
            "service = 1",
            &[
                "counter.toml:8: service",
                "`draw_exponential`",
                "counter.wgsl:37",
                "{ time = 1 }",
                "{ ticks = 1 }",
            ],
        ),
        (
            "counter",
            "customers = 1000",
            "customers = { time = 64 }",
            &["counter.toml:9: customers is a time", "the number 64"],
        ),
        (
            "epidemic",
            "index_cases = 10",
            "index_cases = { time = 10 }",
            &["epidemic.toml:15: index_cases is a time"],
        ),
        (
            "epidemic",
            "{ probability = 0.9 }",
            "1",
            &["epidemic.toml:14: infection", "`draw_bernoulli`", "{ probability = … }"],
        ),
        (
            "epidemic",
            "{ probability = 0.9 }",
            "{ time = 1 }",
            &["epidemic.toml:14: infection", "{ probability = … }"],
        ),
        (
            "epidemic",
            "time_add(begins, draw_exponential(params.contact))",
            "begins + draw_exponential(params.contact)",
            &["epidemic.wgsl:44", "`time_add`"],
        ),
        (
            "epidemic",
            "time_add(now(), draw_exponential(params.contact))",
            "now() + draw_exponential(params.contact)",
            &["epidemic.wgsl:53", "`time_add`"],
        ),
        ("epidemic", "time = 1.0", "ticks = 1.5", &["epidemic.toml:13: infectious is 1.5", "whole numbers"]),
        ("epidemic", "time = 1.0", "time = inf", &["epidemic.toml:13: infectious is inf", "finite"]),
        ("epidemic", "until = 365.0", "until = 365.0\nqueue = 0", &["epidemic.toml:10", "at least 1 event"]),
        (
            "epidemic",
            "until = 365.0",
            "until = 365.0\nmailbox = 0",
            &["epidemic.toml:10", "at least 1 event"],
        ),
        (
            "epidemic",
            "until = 365.0",
            "until = 365.0\nmemory_rows = 4000000000",
            &["epidemic.toml:10", "fewer rows"],
        ),
        ("epidemic", "until = 365.0", "until = 365.0\ndata = [-1]", &["line 10", "a list of whole numbers"]),
        ("epidemic", "count = 1000", "cuont = 1000", &["epidemic.toml", "line 7", "cuont"]),
        ("epidemic", "count = 1000", "count = 0", &["epidemic.toml:7", "needs at least 1"]),
        ("epidemic", "index_cases = 10", "", &["the parameter index_cases", "is missing"]),
        ("epidemic", "index_cases = 10", "index_cases = -1", &["epidemic.toml:15", "index_cases is -1"]),
        ("epidemic", "index_cases = 10", "index_cases = []", &["epidemic.toml:15", "no value"]),
        (
            "epidemic",
            "index_cases = 10",
            "index_cases = 10\nmore = 1",
            &["epidemic.toml:16", "more is not a field"],
        ),
        ("epidemic", "probability = 0.9", "probability = 1.5", &["epidemic.toml:14", "from 0 to 1"]),
        ("epidemic", "probability = 0.9", "chance = 0.9", &["epidemic.toml:14", "{ time = … }"]),
        ("epidemic", "time = 1.0", "time = -1.0", &["epidemic.toml:13", "negative"]),
        ("epidemic", "lookahead = 0.5", "lookahead = nan", &["epidemic.toml:8", "lookahead"]),
        ("epidemic", "until = 365.0", "", &["the end of runs is missing"]),
        (
            "epidemic",
            "infected / processes",
            "infcted / processes",
            &["epidemic.toml:18", "infcted", "infected_at"],
        ),
        ("epidemic", "infected / processes", "infected +", &["epidemic.toml:18", "character 11"]),
        ("epidemic", "infected / processes", "mean(infected)", &["epidemic.toml:18", "Tally"]),
        ("epidemic", "until = 365.0", "until = 365.0\npayload = 3", &["epidemic.toml:10", "2 or 6"]),
        (
            "epidemic",
            "until = 365.0",
            "until = 365.0\ndata = [1]",
            &["epidemic.toml:10", "does not declare", "`data` in [processes]"],
        ),
        ("epidemic", "fn output", "fn results_of", &["fn output"]),
        (
            "counter",
            "customers = 1000",
            "customers = 1000\nunused = 1\nwhat = 2",
            &["counter.toml:11", "what"],
        ),
        ("counter", "fn step", "fn stop", &["counter.wgsl", "fn step"]),
        (
            "counter",
            "// import: statistics/tally.wgsl",
            "// import: statistic/tally.wgsl",
            &["counter.wgsl:", "`// import: statistic/tally.wgsl`", "Did you mean `statistics/tally.wgsl`?"],
        ),
        ("counter", "wait.maximum / unit", "max(wait.maximum)", &["counter.toml:13", "over processes"]),
    ];
    for (name, from, to, words) in cases {
        refused(&["run", &changed(&folder, name, from, to)], words);
    }
    let rows = changed(&folder, "epidemic", "until = 365.0", "until = 365.0\nmemory_rows = 4000000000");
    refused(
        &["run", &rows, "--mapping", "grid", "--backend", "gpu"],
        &["epidemic.toml:10", "LP memory of 4000000000 rows"],
    );
    // In the TOML, and in the WGSL, which must be valid for this.
    let both = |toml: [&str; 2], wgsl: &[[&str; 2]]| {
        let file = changed(&folder, "epidemic", toml[0], toml[1]);
        let text = std::fs::read_to_string(model("epidemic.wgsl")).unwrap();
        let text = wgsl.iter().fold(text, |text, [from, to]| text.replace(from, to));
        std::fs::write(folder.join("epidemic.wgsl"), text).unwrap();
        file
    };
    for (kind, field, word) in [
        (
            "probability",
            "more: f32, unused: u32,",
            "more is a probability, and the field is f32: declare it u32",
        ),
        ("time", "more: f32, unused: u32,", "more is a time, and the field is f32: declare it vec2<u32>"),
        ("time", "more: i32, unused: u32,", "more is a time, and the field is i32: declare it vec2<u32>"),
        (
            "probability",
            "more: vec2<u32>,",
            "more is a probability, and the field is vec2<u32>: declare it u32",
        ),
    ] {
        let cases = "index_cases = 10";
        let toml = [cases, &format!("{cases}\nmore = {{ {kind} = 0.5 }}")];
        let file = both(toml, &[["index_cases: u32,", &format!("index_cases: u32, {field}")]]);
        refused(&["run", &file], &["epidemic.toml:16", word]);
    }
    let float = [
        ["    infected: u32,\n", "    infected: f32,\n"],
        ["(*state).infected, (*state).contacts)", "f32((*state).infected), (*state).contacts)"],
    ];
    let file = both(["", ""], &float);
    refused(&["run", &file], &["epidemic.toml:18", "infected is f32", "no exact sum"]);
    let mean = [
        ["struct Output {", "struct Wait { sum: u32, count: u32 }\nstruct Output {\n    wait: Wait,"],
        ["return Output(", "return Output(Wait(1u, 1u), "],
    ];
    let file = both(["infected / processes", "mean(wait)"], &mean);
    refused(&["run", &file], &["epidemic.toml:18", "a Tally or a TimeAverage"]);
    let long = format!("name = \"epidemic\"\nwhat = \"{}\"", "x".repeat(5000));
    refused(&["run", &changed(&folder, "epidemic", "name = \"epidemic\"", &long)], &["line 3", "what", "…"]);
    // Some editors start files with a byte-order mark.
    let marked = changed(&folder, "counter", "# Customers at", "\u{feff}# Customers at");
    assert!(run(&["run", &marked, "--describe"]).status.success());
    let counter = model("counter.toml");
    refused(&["run", &counter, "--until", "5"], &["no [processes]"]);
    refused(&["run", &counter, "--set", "service"], &["NAME=VALUE"]);
    refused(&["run", &counter, "--set", "none=1"], &["no such parameter", "between"]);
    let twice = ["run", &counter, "--set", "service=1", "--set", "service=2"];
    refused(&twice, &["the changes service=1 and service=2", "the same parameter"]);
    refused(&["run", &counter, "--mapping", "grid"], &["thread, warp or auto"]);
    // Errors in the WGSL are found by the device's compiler, and have file and line too.
    let output = run(&["run", &changed(&folder, "counter", "(*state).next += 1u", "(*state).nxt += 1u")]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && printed.contains("counter.wgsl:39"), "{printed}");
}

#[test]
fn files_without_end_are_refused() {
    let folder = folder("large");
    // 400 times 400 combinations, of a few bytes each in the file.
    let list = |name: &str| format!("{name}=1{}", ",1".repeat(399));
    let (contact, cases) = (list("contact"), list("index_cases"));
    refused(
        &["run", &model("epidemic.toml"), "--set", &contact, "--set", &cases],
        &["160000 combinations", "100000"],
    );
    let path = |name: &str| folder.join(name).display().to_string();
    let large = |name: &str, bytes: u64| std::fs::File::create(path(name)).unwrap().set_len(bytes).unwrap();
    large("large.toml", (16 << 20) + 1);
    refused(&["run", &path("large.toml")], &["large.toml", "16777217", "at most 16777216"]);
    refused(&["run", &path(".")], &["not a regular file"]);
    large("words.txt", (256 << 20) + 1);
    for (data, words) in [("words.txt", "at most 268435456"), (".", "not a regular file")] {
        let to = format!("until = 365.0\ndata = {data:?}");
        refused(&["run", &changed(&folder, "epidemic", "until = 365.0", &to)], &[words]);
    }
}

#[test]
fn results_are_printed_before_an_error_that_follows_them() {
    let folder = folder("failed");
    let path = folder.display().to_string();
    let ended = |args: &[&str], word: &str| {
        let output = run(args);
        let (printed, error) = (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned());
        assert!(output.status.code() == Some(1) && error.contains(word), "{args:?}: {error}");
        String::from_utf8(printed).unwrap()
    };
    // Zero divided by zero: no run has a value.
    let none = changed(&folder, "counter", "mean(wait) / unit", "0 / 0");
    let args = ["run", &none, "--replications", "40", "--plot", &path];
    assert!(ended(&args, "failed: `wait` is not").contains("fingerprint"));
    let counter = model("counter.toml");
    let epidemic = model("epidemic.toml");
    if cfg!(target_os = "linux") {
        // A full disk: outputs on other disks are written.
        let (full, table) = ("/dev/full", folder.join("table.csv").display().to_string());
        let args = ["run", &counter, "--replications", "40", "--csv", full];
        assert!(ended(&args, "/dev/full: No space left").contains("fingerprint"));
        let args = ["run", &epidemic, "--replications", "1", "--until", "5", "--csv", &table];
        let printed = ended(&[&args[..], &["--each", full, "--json"]].concat(), "/dev/full: No space left");
        let printed: Value = serde_json::from_str(&printed).unwrap();
        assert!(printed["fingerprint"].is_string());
        assert!(std::fs::read_to_string(table).unwrap().contains("attack_rate"));
    }
    // Problems that are visible before a run are refused before it: a folder, and a file of the
    // model.
    refused(&["run", &counter, "--csv", &path], &["--csv", "it is a folder"]);
    let wgsl = folder.join("counter.wgsl").display().to_string();
    refused(&["run", &none, "--json", &wgsl], &["--json", "which would be lost"]);
    assert!(std::fs::read_to_string(wgsl).unwrap().contains("fn step"));
}

#[test]
fn what_can_be_drawn_is_drawn_and_the_rest_is_named() {
    let folder = folder("pictures");
    let path = |name: &str| folder.join(name);
    // A constant, and a measure with the name of another one's picture.
    let measures = "same = \"unit / unit\"\nwait_convergence = \"wait.maximum / unit\"\nidle =";
    let file = changed(&folder, "counter", "\nidle =", &format!("\n{measures}"));
    let svg = path("svg").display().to_string();
    let output = run(&["run", &file, "--set", "service=1", "--replications", "40", "--plot", &svg]);
    let notice = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{notice}");
    assert!(
        notice.contains("notice: same_convergence is not drawn: all observations are the same"),
        "{notice}"
    );
    let mut names: Vec<_> = std::fs::read_dir(path("svg"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "idle.svg",
        "idle_convergence.svg",
        "longest.svg",
        "longest_convergence.svg",
        "same.svg",
        "wait.svg",
        "wait_convergence-2.svg",
        "wait_convergence.svg",
        "wait_convergence_convergence.svg",
    ];
    assert_eq!(names, expected);
    let drawn = |name: &str| std::fs::read_to_string(path("svg").join(name)).unwrap();
    assert!(drawn("wait_convergence.svg").contains("half width of the 95 % interval"));
    assert!(drawn("wait_convergence-2.svg").contains("replications"));
}

#[test]
fn faults_are_no_errors_of_the_adapter() {
    // Some drivers end a loop of this length, depending on the LPs per invocation.
    let folder = folder("cut");
    let toml =
        "model = \"long.wgsl\"\nreplications = 2\n[processes]\ncount = 5\nlookahead = 0.5\nuntil = 5.0\n";
    let wgsl = "struct State { sum: u32, unused: u32 }
        struct Output { sum: u32, unused: u32 }
        fn init(lp: u32, state: ptr<function, State>) { schedule(lp, TIME_ZERO, vec2<u32>(0u, lp)); }
        fn handle(lp: u32, event: Event, state: ptr<function, State>) {
            for (var i = 0u; i < 60000u; i += 1u) { (*state).sum += i; }
            schedule(draw_below(lp_count()), time_add(now(), lookahead()), vec2<u32>(1u, draw()));
        }
        fn output(lp: u32, state: ptr<function, State>) -> Output { return Output((*state).sum, 0u); }";
    std::fs::write(folder.join("long.toml"), toml).unwrap();
    std::fs::write(folder.join("long.wgsl"), wgsl).unwrap();
    let output = run(&["run", folder.join("long.toml").to_str().unwrap(), "--check"]);
    let [printed, error] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    let failed = printed.lines().filter(|line| line.contains("runs failed: LP ")).count();
    match failed {
        0 => assert!(output.status.success(), "{error}"),
        _ => assert!(output.status.code() == Some(1) && error.contains("LP "), "{error}"),
    }
    assert!(!error.contains("report the adapter"), "{error}");
}

#[test]
fn all_commands_have_help_and_refuse_what_they_do_not_know() {
    for command in ["run", "network", "match", "search", "papers", "doctor"] {
        let help = run(&[command, "--help"]);
        assert!(help.status.success() && help.stdout.len() > 100, "{command}: {help:?}");
        refused(&[command, "--no-such-option"], &["--no-such-option"]);
    }
    refused(&["network", "none.toml", "--until=-1"], &["above 0"]);
    let network = json(&[
        "network",
        concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/networks/mm1.toml"),
        "--backend",
        "cpu",
        "--replications",
        "2",
        "--until",
        "200",
    ]);
    let counter =
        json(&["run", &model("counter.toml"), "--set", "service=1", "--replications", "10", "--seed", "7"]);
    // The same JSON keys everywhere.
    for (value, seed) in [(&network, 1), (&counter, 7)] {
        assert_eq!((&value["schema"], &value["seed"]), (&1.into(), &seed.into()), "{value}");
        assert_eq!(value["streams"], eventhorizon::random::STREAMS_VERSION, "{value}");
        for key in
            ["model", "engine", "adapter", "mapping", "replications", "seconds", "ticks_per_unit", "warnings"]
        {
            assert!(!value[key].is_null(), "{key}: {value}");
        }
        assert!(value["fingerprint"].is_string() && value["level"] == 0.95, "{value}");
        assert_eq!(value["stopped"], serde_json::json!([]), "{value}");
        for key in ["measure", "mean", "half_width", "theory", "observations"] {
            assert!(value["results"][0].get(key).is_some(), "{key}: {value}");
        }
    }
    let matched = json(&["match", "--regions", "1000"]);
    assert_eq!(matched["regions"], 1000);
    let found = json(&["search", "--random", "32", "--searches", "50", "--backend", "cpu"]);
    assert_eq!(found["searches"], 50);
    assert!(json(&["doctor", "--list"])["adapters"].is_array());
}
