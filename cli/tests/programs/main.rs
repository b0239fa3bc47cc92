//! The commands from the outside: how they end, and what they print.

mod cases;
mod data;
mod ended;
mod experiments;
mod files;
mod folder;
mod interchange;
mod limits;
mod matching;
mod papers;
mod reports;
mod searches;

use std::fs::File;
use std::io::{BufRead, BufReader, pipe};
use std::process::{Command, Output, Stdio};

use ended::ended;

/// A command of the program.
fn program(name: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eventhorizon"));
    command.arg(name).env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

fn run(name: &str, args: &[&str]) -> Output {
    program(name).args(args).output().unwrap()
}

/// Fast commands that need no adapter, with long and short outputs.
const SPEAKERS: [(&str, &[&str]); 3] = [
    ("phold", &["--backend", "cpu", "--lps", "16", "--until", "20", "--json"]),
    ("phold", &["--backend", "cpu", "--lps", "16", "--until", "20", "--replicas", "3"]),
    ("mrip-pi", &["--backend", "cpu", "--replications", "40", "--points", "20"]),
];

#[test]
fn each_program_has_help_and_refuses_what_it_does_not_know() {
    let all = Command::new(env!("CARGO_BIN_EXE_eventhorizon")).arg("--help").output().unwrap();
    let all = String::from_utf8(all.stdout).unwrap();
    let listed =
        all.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Long descriptions continue on lines with more indent.
    let listed = listed.filter(|line| !line.starts_with("   "));
    let names: Vec<&str> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 15, "{all}");
    for name in names.into_iter().filter(|name| *name != "help") {
        let help = run(name, &["--help"]);
        assert!(
            help.status.success() && help.stdout.starts_with(b"") && help.stdout.len() > 40,
            "{name}: {help:?}"
        );
        ended(&run(name, &["--no-such-option"]), 2, &["--no-such-option"], name);
    }
}

#[test]
fn a_closed_standard_output_ends_a_program_without_a_word() {
    for (name, args) in SPEAKERS {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = program(name).args(args).stdout(writer).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(141) && printed.is_empty(),
            "{name} {args:?}: {:?} {printed}",
            output.status
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_is_a_failure() {
    for (name, args) in SPEAKERS {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = program(name).args(args).stdout(full).output().unwrap();
        ended(&output, 1, &["No space left on device"], name);
    }
}

#[test]
fn what_cannot_be_is_refused_at_once() {
    // None of these starts to run: some would take hours, or too much memory.
    let refused: [(&str, &[&str], &[&str]); 22] = [
        ("mrip-mm1", &["--arrival-rate=-1"], &["the arrival rate is -1"]),
        ("mrip-mm1", &["--arrival-rate=nan"], &["NaN"]),
        ("mrip-mm1", &["--backend=cpu", "--clients=4294967295"], &["clients is 4294967295", "2^30"]),
        ("mrip-mm1", &["--level=2"], &["confidence level 2"]),
        ("mrip-mm1", &["--level=nan"], &["finite"]),
        ("mrip-mm1", &["--level=1"], &["confidence level 1"]),
        ("mrip-mm1", &["--precision=0"], &["above 0"]),
        ("mrip-mm1", &["--precision=0.1", "--replications=20"], &["budget of replications is 20"]),
        ("mrip-pi", &["--backend=cpu", "--replications=4294967295"], &["bytes"]),
        ("mrip-pi", &["--replications=0"], &["--replications"]),
        ("mrip-pi", &["--backend=cpu", "--points=0"], &["points is 0"]),
        ("mrip-walk", &["--backend=cpu", "--steps=0"], &["steps is 0"]),
        ("papers", &["--all", "--budget=inf"], &["finite"]),
        ("papers", &["baudis-1-4"], &["cannot be run"]),
        ("experiment", &["--people=1"], &["25..="]),
        ("moving-crowd", &["--sight=nan"], &["length"]),
        ("phold", &["--backend=cpu", "--until=nan"], &["finite"]),
        ("phold", &["--backend=cpu", "--rate=0"], &["rate"]),
        ("phold", &["--backend=cpu", "--lps=64,0"], &["at least 1"]),
        (
            "phold",
            &["--backend=cpu", "--lps=64,128", "--checkpoint=none"],
            &["--checkpoint needs a single run"],
        ),
        ("phold", &["--backend=cpu", "--lps=4294967295"], &["4294967295 LPs"]),
        ("phold", &["--backend=cpu", "--queue=stack"], &["stack", "auto"]),
    ];
    for (name, args, words) in refused {
        ended(&run(name, args), 2, words, &format!("{name} {args:?}"));
    }
}

#[test]
fn lists_make_a_run_of_each_combination() {
    let phold = |args: &[&str]| -> serde_json::Value {
        let output = run("phold", &[args, &["--backend", "cpu", "--until", "20", "--json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let all = phold(&["--lps", "16,32", "--population", "2,4"]);
    let runs = all.as_array().unwrap().iter();
    let seen: Vec<_> =
        runs.map(|run| [&run["lps"], &run["population"]].map(|value| value.as_u64().unwrap())).collect();
    assert_eq!(seen, [[16, 2], [16, 4], [32, 2], [32, 4]]);
    assert_eq!(all[2]["fingerprint"], phold(&["--lps", "32", "--population", "2"])["fingerprint"]);
}

#[test]
fn what_the_device_cannot_hold_is_refused_before_it_is_made() {
    let args = ["--regions=4294967295", "--backend=gpu"];
    ended(&run("match", &args), 2, &["a set holds at most"], "match");
    let args = ["--population=4294967295", "--backend=gpu"];
    ended(&run("phold", &args), 2, &["--population that fits"], "phold");
}

#[test]
fn errors_quote_a_little_of_what_is_wrong() {
    let folder = std::env::temp_dir().join(format!("eventhorizon-programs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("positions.csv");
    std::fs::write(&file, format!("1,2\n3,{}\n", "4x".repeat(100_000))).unwrap();
    let path = file.to_str().unwrap();
    let output = run("match", &["--positions", path, "--width", "1"]);
    ended(&output, 2, &["positions.csv:2: '4x4x", "bytes)' is not a number"], "positions");
    let output = run("match", &["--positions", "no/such.csv", "--width", "1"]);
    ended(&output, 1, &["no/such.csv"], "positions");
    let output = run("mrip-pi", &["--backend=cpu", "--points=20", "--json=no/such/folder/out.json"]);
    ended(&output, 2, &["--json no/such/folder/out.json", "not a folder"], "json");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn searches_in_a_graph_come_from_files_and_go_to_files() {
    let folder = std::env::temp_dir().join(format!("eventhorizon-astar-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    // A ring one way round: the path from 3 to 2 is 3, 4, 1, 2.
    let roads = file("ring.gr", "c a ring\np sp 4 4\na 1 2 5\na 2 3 5\na 3 4 5\na 4 1 6\n");
    let places = file("ring.co", "p aux sp co 4\nv 1 0 0\nv 2 1 0\nv 3 1 1\nv 4 0 1\n");
    let paths = file("paths.csv", "");
    let args = ["--graph", &roads, "--searches", "40", "--json", "--paths", &paths];
    let printed = |more: &[&str]| {
        let output = run("search", &[&args[..], more].concat());
        assert!(output.status.success(), "{output:?}");
        let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = std::fs::read_to_string(&paths).unwrap();
        assert!(rows.starts_with("search,step,vertex\n"), "{rows}");
        assert_eq!(printed["found"], 40);
        (printed["fingerprint"].clone(), printed["expanded"].clone(), rows)
    };
    let (fingerprint, expanded, rows) = printed(&["--backend", "cpu"]);
    assert!(["0,3\n", "1,4\n", "2,1\n", "3,2\n"].iter().all(|step| rows.contains(step)), "{rows}");
    assert_eq!(
        printed(&["--backend", "gpu", "--queue", "cb-seq"]),
        (fingerprint.clone(), expanded, rows.clone())
    );
    let [cpu, gpu] = ["cpu", "gpu"].map(|backend| printed(&["--coords", &places, "--backend", backend]));
    assert_eq!(cpu, gpu);
    assert_eq!((cpu.0, cpu.2), (fingerprint, rows));
    let free = file("free.gr", "p sp 2 1\na 1 2 0\n");
    let refused = run("search", &["--graph", &free, "--paths", &paths, "--backend", "cpu"]);
    ended(&refused, 2, &["free.gr", "from the vertex 1 to 2 has the weight 0"], "search");
    // The sum exceeds 32 bits by one arc; the error is the same with a device and without.
    let dear = file("dear.gr", "p sp 3 2\na 1 2 4294967295\na 2 3 5\n");
    for backend in ["cpu", "gpu"] {
        let refused = run("search", &["--graph", &dear, "--searches", "40", "--backend", backend]);
        ended(
            &refused,
            1,
            &["search 8: a path to the goal, if", "costs 4294967295 or more", "weights of", "dear.gr"],
            "search",
        );
    }
    let refused = run("search", &["--graph", &places]);
    ended(&refused, 2, &["ring.co, line 1: expected 'p sp VERTICES ARCS'"], "search");
    let refused = run("search", &["--graph", &roads, "--mapping", "team", "--backend", "gpu"]);
    ended(&refused, 2, &["the mapping team is for maps"], "search");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Starts a program that would run for years, interrupts it as soon as it watches for Ctrl-C, and
/// returns its output.
#[cfg(unix)]
fn interrupted(name: &str, args: &[&str]) -> String {
    let mut child = program(name)
        .args(args)
        .env("RUST_LOG", "eventhorizon_cli=debug")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("watching for Ctrl-C")), "{name} {args:?}");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{name} {args:?}: {rest:?}");
    assert!(rest.iter().all(|line| !line.contains("panicked")), "{rest:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_a_program_with_what_there_is() {
    let endless = ["--lps", "64", "--until", "1e12"];
    for backend in ["cpu", "gpu"] {
        let printed = interrupted("phold", &[&endless[..], &["--backend", backend]].concat());
        for word in ["stopped early", "events per second", "fingerprint"] {
            assert!(printed.contains(word), "{backend}: {printed}");
        }
        // Millions of replications: far more than are made before the signal arrives.
        let args = ["--backend", backend, "--replications", "40000000", "--points", "2000"];
        let printed = interrupted("mrip-pi", &args);
        // There may be none yet.
        assert!(printed.is_empty() || printed.contains("stopped early"), "{backend}: {printed}");
    }
}

#[test]
fn rounds_of_soak_are_as_they_should_be() {
    for args in [["--backend", "cpu", "--seconds", "0.5"], ["--backend", "gpu", "--round", "3"]] {
        let output = run("soak", &args);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed.contains("all correct"), "{args:?}: {output:?}");
    }
}

#[test]
#[cfg(unix)]
fn phold_prints_that_one_workgroup_made_the_run() {
    let model = ["--lps", "40", "--population", "4", "--until", "100", "--backend", "gpu"];
    for (mapping, is_team) in [("team", true), ("grid", false)] {
        let output = run("phold", &[&model[..], &["--mapping", mapping, "--verify"]].concat());
        let table = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && printed(&table, "CPU engine").starts_with("equal"), "{table}");
        assert_eq!(printed(&table, "adapter").starts_with("a team of one workgroup on "), is_team, "{table}");
    }
    let refused = run("phold", &[&model[..], &["--mapping", "thread"]].concat());
    ended(&refused, 2, &["many runs at once"], "phold");
}

/// The value of a row of a program's table.
#[cfg(unix)]
fn printed(output: &str, name: &str) -> String {
    let row = output
        .lines()
        .find_map(|line| line.strip_prefix(name)?.starts_with(' ').then(|| line[name.len()..].trim()));
    row.unwrap_or_else(|| panic!("{name}: {output}")).to_owned()
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_goes_on_from_its_checkpoint_on_the_other_engine() {
    let folder = std::env::temp_dir().join(format!("eventhorizon-resumed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (first, second) in [("cpu", "gpu"), ("gpu", "cpu")] {
        let file = folder.join(format!("{first}.checkpoint"));
        let (file, model) = (file.to_str().unwrap(), ["--lps", "64", "--rate", "0.2"]);
        let saving = ["--until", "1e12", "--checkpoint", file, "--every", "0.1", "--backend", first];
        let stopped = interrupted("phold", &[&model[..], &saving].concat());
        assert!(stopped.contains("--resume"), "{stopped}");
        let end = (printed(&stopped, "events").parse::<u64>().unwrap() + 5000).to_string();
        let resumed = ["--resume", file, "--events", &end, "--backend", second];
        let resumed = run("phold", &[&model[..], &resumed].concat());
        let whole = run("phold", &[&model[..], &["--events", &end, "--backend", "cpu"]].concat());
        let [resumed, whole] = [resumed, whole].map(|output| String::from_utf8(output.stdout).unwrap());
        for name in ["events", "fingerprint"] {
            assert_eq!(printed(&resumed, name), printed(&whole, name));
        }
        let refused = run("phold", &["--lps", "65", "--backend", "cpu", "--resume", file]);
        ended(&refused, 2, &["with 64 LPs, and this one has 65"], "phold");
        let refused =
            run("phold", &[&model[..], &["--seed", "7", "--backend", "cpu", "--resume", file]].concat());
        ended(&refused, 2, &["seed 42", "--fork"], "phold");
        // If all LPs are at one time, a fork continues on its own.
        let level = folder.join(format!("{first}.level"));
        let level = level.to_str().unwrap();
        let to_level = ["--until", "30", "--checkpoint", level, "--backend", first];
        assert!(run("phold", &[&model[..], &to_level].concat()).status.success());
        let on = ["--resume", level, "--until", "60", "--backend", "cpu"];
        let [fork, same] = [&["--seed", "7", "--fork"][..], &[]].map(|more| {
            let output = run("phold", &[&model[..], &on, more].concat());
            assert!(output.status.success(), "{output:?}");
            printed(&String::from_utf8(output.stdout).unwrap(), "fingerprint")
        });
        assert_ne!(fork, same);
    }
    let (bad, nowhere) = (folder.join("bad"), folder.join("no").join("file"));
    std::fs::write(&bad, "nothing").unwrap();
    let args = ["--backend", "cpu", "--lps", "16", "--until", "20"];
    let refused = run("phold", &[&args[..], &["--resume", bad.to_str().unwrap()]].concat());
    ended(&refused, 1, &["not a checkpoint"], "phold");
    let refused = run("phold", &[&args[..], &["--checkpoint", nowhere.to_str().unwrap()]].concat());
    ended(&refused, 2, &["--checkpoint", "cannot be written", "not a folder"], "phold");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn doctor_prints_adapters_and_a_verdict() {
    let output = run("doctor", &["--json"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["passed"], true);
    assert!(
        printed["adapters"].as_array().unwrap().iter().any(|adapter| adapter["name"] == printed["adapter"])
    );
    assert!(printed["checks"].as_array().unwrap().len() > 20 && printed["paths"]["subgroups"].is_string());
    let output = run("doctor", &["--list"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && printed.contains("the library uses") && !printed.contains("checks"),
        "{printed}"
    );
    let output = run("doctor", &["--quick", "--json"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let checks = printed["checks"].as_array().unwrap();
    assert!(checks.len() == 1 && checks[0]["passed"] == true && printed["passed"] == true, "{printed}");
    assert!(checks[0]["note"].as_str().unwrap().contains("events, equal on the CPU"), "{printed}");
    assert!(!printed["adapters"].as_array().unwrap().is_empty());
    ended(&run("doctor", &["--quick", "--list"]), 2, &["--quick", "--list"], "doctor");
    // Compiled kernels are kept in the user's folder, unless that is switched off.
    let folder = std::env::temp_dir().join(format!("eventhorizon-caches-{}", std::process::id()));
    let list = |args: &[&str], off: Option<&str>| {
        let mut doctor = program("doctor");
        doctor.args(args).env("XDG_CACHE_HOME", &folder).env_remove("EVENTHORIZON_NO_CACHE");
        let doctor = doctor.envs(off.map(|value| ("EVENTHORIZON_NO_CACHE", value)));
        String::from_utf8(doctor.output().unwrap().stdout).unwrap()
    };
    let kept = list(&["--list"], None);
    if cfg!(target_os = "linux") && kept.contains("Vulkan") {
        let path = folder.join("eventhorizon").display().to_string();
        assert!(kept.contains(&format!("0 bytes read from {path}")), "{kept}");
    }
    for off in [list(&["--list", "--no-cache"], None), list(&["--list"], Some("1"))] {
        assert!(off.contains("not kept by this program"), "{off}");
    }
    // A missing adapter.
    let output = program("doctor").env("WGPU_ADAPTER_NAME", "no such adapter").output().unwrap();
    ended(&output, 1, &["no such adapter"], "doctor");
}

/// Mesa's drivers print "error: XDG_RUNTIME_DIR is invalid or not set in the environment."
#[test]
fn a_missing_runtime_folder_is_no_error_of_the_driver() {
    let args = ["--backend", "gpu", "--lps", "16", "--until", "20"];
    let without = program("phold").env_remove("XDG_RUNTIME_DIR").args(args).output().unwrap();
    let relative = program("phold").env("XDG_RUNTIME_DIR", "run").args(args).output().unwrap();
    for output in [without, relative] {
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !printed.contains("error"), "{printed}");
    }
}

#[test]
fn help_lists_the_exit_codes() {
    let help = Command::new(env!("CARGO_BIN_EXE_eventhorizon")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for code in
        ["0    done", "1    the run failed", "2    the command line", "130  Ctrl-C", "141  the reader"]
    {
        assert!(help.contains(code), "{help}");
    }
}

/// The word after "fingerprint" in a program's JSON.
fn fingerprint(name: &str, args: &[&str]) -> String {
    let output = run(name, &[args, &["--json"]].concat());
    assert!(output.status.success(), "{name} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    printed["fingerprint"].as_str().unwrap().to_owned()
}

#[test]
fn the_case_study_has_one_fingerprint_on_all_ranks_with_and_without_a_device() {
    let of = |args: &[&str]| {
        let small =
            ["--agents", "40", "--vertices", "30", "--hours", "5", "--generations", "20", "--districts", "3"];
        fingerprint("activity", &[&small, args].concat())
    };
    let expected = of(&["--placement", "cpu", "--threads", "1"]);
    for args in [
        &["--placement", "gpu", "--threads", "1"][..],
        &["--placement", "auto", "--threads", "2"],
        &["--placement", "gpu", "--ranks", "2"],
        &["--placement", "cpu", "--ranks", "3", "--threads", "2"],
        &["--placement", "gpu", "--ranks", "4", "--threads", "1"],
        &["--placement", "gpu", "--devices", "2"],
        &["--placement", "auto", "--devices", "3", "--threads", "1"],
        &["--placement", "gpu", "--devices", "4", "--ranks", "2"],
    ] {
        assert_eq!(of(args), expected, "{args:?}");
    }
    let large = run("activity", &["--vertices", "8192", "--districts", "4096", "--placement", "cpu"]);
    ended(&large, 2, &["--vertices", "--districts"], "distances that no memory holds");
}

#[test]
fn phold_has_one_fingerprint_on_both_engines_and_all_ranks() {
    let of = |args: &[&str]| fingerprint("phold-ranks", &[&["--lps", "300", "--until", "60"], args].concat());
    let expected = of(&["--engine", "gpu"]);
    for ranks in ["1", "2", "3", "4"] {
        assert_eq!(
            of(&["--ranks", ranks, "--threads", "2", "--placement", "hash"]),
            expected,
            "{ranks} ranks"
        );
    }
    assert_eq!(of(&["--engine", "gpu", "--ranks", "2", "--sync", "horizon"]), expected, "2 devices");
    // In the middle of a run, from one engine and number of ranks to another.
    let file = std::env::temp_dir().join(format!("eventhorizon-ranks-{}", std::process::id()));
    let path = file.to_str().unwrap();
    let first = ["--engine", "gpu", "--ranks", "2", "--until", "30", "--checkpoint", path];
    fingerprint("phold-ranks", &[&["--lps", "300"], &first[..]].concat());
    for args in [
        ["--engine", "host", "--ranks", "3", "--resume", path, "--until", "45", "--checkpoint", path],
        ["--engine", "gpu", "--ranks", "3", "--resume", path, "--until", "50", "--checkpoint", path],
    ] {
        fingerprint("phold-ranks", &[&["--lps", "300"], &args[..]].concat());
    }
    let last = ["--lps", "300", "--resume", path, "--until", "60"];
    assert_eq!(fingerprint("phold-ranks", &last), expected, "the host engine continues");
    std::fs::remove_file(file).unwrap();
}

#[cfg(feature = "mpi")]
#[test]
fn runs_under_mpirun_have_the_fingerprint_of_one_process() {
    let phold = ["phold-ranks", "--lps", "300", "--until", "60"];
    let town = ["activity", "--agents", "40", "--vertices", "20", "--hours", "3", "--placement", "cpu"];
    for args in [&phold[..], &town] {
        let expected = fingerprint(args[0], &args[1..]);
        let mut mpirun = Command::new("mpirun");
        mpirun
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .stdin(Stdio::null());
        let output = mpirun
            .args(["--oversubscribe", "--timeout", "60", "-n", "3", env!("CARGO_BIN_EXE_eventhorizon")])
            .args(args)
            .args(["--json", "-"])
            .output()
            .expect("an MPI for the feature `mpi`, with its mpirun on the PATH");
        let printed = String::from_utf8_lossy(&output.stdout);
        let is_whole = printed.contains(&expected) && printed.contains("\"ranks\": 3");
        assert!(output.status.success() && is_whole, "{output:?}");
    }
}

#[test]
fn the_page_offers_each_synchronisation_that_its_models_support() {
    let page = include_str!("../../../web/www/index.html");
    let listed = page.split_once("<select name=\"sync\">").and_then(|(_, rest)| rest.split_once("</select>"));
    let expected = eventhorizon::pdes::Sync::ALL.into_iter().filter(|sync| !sync.needs_senders());
    let expected: String = expected.map(|sync| format!("<option>{sync}</option>")).collect();
    assert_eq!(listed.unwrap().0, expected);
}
