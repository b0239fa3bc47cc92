//! Files that the programs read and write: none is lost to another, a failed write loses no other
//! output, and impossible requests are refused before a run.

use std::fs::{read, read_to_string, write};
use std::path::PathBuf;
use std::process::Output;

use super::{ended, program};

const NETWORK: &str = "name = \"M/M/1\"\nuntil = 60\nwarm_up = 5\n
[source.in]\ninterarrival = { exponential = 1.25 }\nto = \"server\"\n
[station.server]\nservice = { exponential = 1.0 }\nto = \"out\"\n
[sink.out]\n";

/// A folder for one test that contains a description, and in which programs run.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("eventhorizon-files-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("folder")).unwrap();
        write(path.join("m.toml"), NETWORK).unwrap();
        Self(path)
    }

    fn run(&self, name: &str, args: &[&[&str]]) -> Output {
        program(name).current_dir(&self.0).args(args.concat()).output().unwrap()
    }

    fn network(&self, args: &[&str]) -> Output {
        self.run("network", &[&["m.toml", "--backend=cpu", "--replications=8"], args])
    }

    fn phold(&self, args: &[&str]) -> Output {
        self.run("phold", &[&["--backend=cpu", "--lps=16"], args])
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn no_output_is_written_over_a_file_that_is_read() {
    let folder = Folder::new("inputs");
    for args in [
        &["--csv", "m.toml"][..],
        &["--json", "./m.toml"],
        &["--checkpoint", "folder/../m.toml"],
        &["--trace", "2", "--trace-to", "m.toml"],
    ] {
        ended(&folder.network(args), 2, &[args[args.len() - 2], "m.toml", "would be lost"], "network");
        assert_eq!(read_to_string(folder.at("m.toml")).unwrap(), NETWORK);
    }
    #[cfg(unix)]
    {
        std::fs::hard_link(folder.at("m.toml"), folder.at("hard")).unwrap();
        std::os::unix::fs::symlink("m.toml", folder.at("soft")).unwrap();
        for name in ["hard", "soft"] {
            ended(&folder.network(&["--csv", name]), 2, &[name, "would be lost"], "network");
            assert_eq!(read_to_string(folder.at("m.toml")).unwrap(), NETWORK);
        }
    }
    assert!(folder.network(&["--checkpoint", "study"]).status.success());
    assert!(folder.phold(&["--until", "30", "--checkpoint", "run"]).status.success());
    let saved = ["study", "run"].map(|name| read(folder.at(name)).unwrap());
    ended(
        &folder.network(&["--resume", "study", "--csv", "study"]),
        2,
        &["--csv study", "--resume"],
        "network",
    );
    ended(&folder.phold(&["--resume", "run", "--json", "run"]), 2, &["--json run", "--resume"], "phold");
    ended(
        &folder.run("phold-ranks", &[&["--lps=16", "--resume", "run", "--json", "./run"]]),
        2,
        &["--json ./run"],
        "ranks",
    );
    assert_eq!(saved, ["study", "run"].map(|name| read(folder.at(name)).unwrap()));
    // Resuming from a file and saving to it is the usual case.
    let on = folder.phold(&["--resume", "run", "--until", "40", "--checkpoint", "./run"]);
    assert!(on.status.success(), "{on:?}");
    let more = ["m.toml", "--backend=cpu", "--replications=9", "--resume=study", "--checkpoint=study"];
    assert!(folder.run("network", &[&more]).status.success());
    assert_ne!(saved[0], read(folder.at("study")).unwrap());
    assert_ne!(saved[1], read(folder.at("run")).unwrap());
}

#[test]
fn no_output_is_written_over_data_of_a_description() {
    let folder = Folder::new("data");
    let times = NETWORK.replace("{ exponential = 1.0 }", "{ empirical = \"times.csv\" }");
    let design = format!("{NETWORK}[design]\ncsv = \"points.csv\"\n");
    let (points, values) = ("station.server.servers\n2\n3\n", "0.5\n1.5\n");
    for (name, text) in
        [("times.toml", &*times), ("design.toml", &*design), ("times.csv", values), ("points.csv", points)]
    {
        write(folder.at(name), text).unwrap();
    }
    for (args, reader) in [
        (["m.toml", "--design=points.csv", "--csv", "points.csv"], "--design"),
        (["design.toml", "--replications=4", "--json", "./points.csv"], "the description"),
        (["times.toml", "--replications=4", "--report", "folder/../times.csv"], "the description"),
    ] {
        let output = folder.run("network", &[&args]);
        ended(&output, 2, &[args[2], args[3], reader, "would be lost"], "network");
        assert_eq!(read_to_string(folder.at("points.csv")).unwrap(), points);
        assert_eq!(read_to_string(folder.at("times.csv")).unwrap(), values);
    }
}

#[test]
fn no_output_is_written_over_another() {
    let folder = Folder::new("outputs");
    let trace = ["--trace", "2", "--trace-to"];
    for args in [
        &["--json", "z", "--csv", "z"][..],
        &["--json", "z", "--csv", "./z"],
        &["--checkpoint", "folder/../z", "--json", "z"],
        &[&trace[..], &["z", "--csv", "z"]].concat(),
        &["--plot", "z", "--csv", "z"],
    ] {
        ended(&folder.network(args), 2, &["the same file", "would be lost"], &format!("{args:?}"));
    }
    let args = ["--plot", "folder", "--csv", "folder/numbers.svg"];
    ended(&folder.network(&args), 2, &["--plot", "--csv", "overwrite it"], "network");
    for args in [
        &["--json", "--csv", "-"][..],
        &["--json", "-", "--csv", "-"],
        &[&trace[..], &["-", "--csv", "-"]].concat(),
    ] {
        ended(&folder.network(args), 2, &["standard output"], &format!("{args:?}"));
    }
    let args = ["--json", "z", "--checkpoint", "z"];
    ended(&folder.phold(&args), 2, &["the same file"], "phold");
    assert_eq!(folder.names(), ["folder", "m.toml"]);
}

#[test]
fn what_cannot_be_written_is_known_before_the_run() {
    let folder = Folder::new("before");
    write(folder.at("kept"), "kept").unwrap();
    for (args, words) in [
        (&["--csv", "none/x", "--json", "res.json"][..], &["--csv none/x", "none is not a folder"][..]),
        (&["--json", "none/x"], &["--json none/x", "none is not a folder"]),
        (&["--json", "kept", "--checkpoint", "m.toml/x"], &["--checkpoint m.toml/x", "not a folder"]),
        (&["--json", "kept", "--trace=2", "--trace-to", "folder"], &["--trace-to folder", "it is a folder"]),
        (&["--csv", "res/"], &["--csv res/", "it is a folder"]),
        (&["--json", "kept", "--plot", "m.toml"], &["--plot m.toml", "not a folder"]),
        (&["--checkpoint", "-"], &["--checkpoint -", "standard output"]),
    ] {
        let output = folder.network(args);
        ended(&output, 2, words, &format!("{args:?}"));
        assert!(output.stdout.is_empty());
    }
    #[cfg(target_os = "linux")]
    for place in ["/proc/none".to_owned(), "a".repeat(300)] {
        let output = folder.network(&["--checkpoint", &place]);
        ended(&output, 2, &[&place, "nothing can be saved"], "network");
        ended(&folder.phold(&["--until=1e9", "--checkpoint", &place]), 2, &["nothing can be saved"], "phold");
        assert!(output.stdout.is_empty());
    }
    // Would take years if it started.
    let long = ["--until=1e9", "--checkpoint", "none/x"];
    ended(&folder.phold(&long), 2, &["--checkpoint none/x", "not a folder"], "phold");
    let long = ["--backend=cpu", "--replications=4000000", "--points=2000", "--json=none/x"];
    ended(&folder.run("mrip-pi", &[&long]), 2, &["--json none/x"], "mrip-pi");
    assert_eq!(read_to_string(folder.at("kept")).unwrap(), "kept");
    assert_eq!(folder.names(), ["folder", "kept", "m.toml"]);
}

#[test]
#[cfg(target_os = "linux")]
fn what_can_be_written_is_written_though_something_else_cannot() {
    let folder = Folder::new("after");
    let whole = printed(&folder.network(&[]));
    let fingerprint = whole.lines().last().unwrap();
    for args in [["--csv", "/dev/full"], ["--trace-to", "/dev/full"]] {
        let others = ["--json", "res.json", "--trace", "2", "--plot", "drawn"];
        let output = folder.network(&[&others[..], &args].concat());
        ended(&output, 1, &[args[1]], &format!("{args:?}"));
        assert_eq!(printed(&output).lines().last().unwrap(), fingerprint, "{args:?}");
        assert!(read_to_string(folder.at("res.json")).unwrap().contains("fingerprint"));
        assert!(folder.at("drawn/network.svg").exists());
        std::fs::remove_file(folder.at("res.json")).unwrap();
    }
    // All errors are reported.
    let output = folder.network(&["--json", "/dev/full", "--csv", "/dev/full"]);
    assert_eq!(errors(&output).matches("error: /dev/full: No space left").count(), 2, "{output:?}");
}

/// On a full disk. (Files can be created there, so the checks before the run pass.)
#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_saved_has_its_results_all_the_same() {
    let folder = Folder::new("full");
    let row = |output: &Output| -> String {
        let text = printed(output);
        text.lines().find(|line| line.starts_with("fingerprint")).expect("a result").to_owned()
    };
    let network = ["m.toml", "--backend=cpu", "--replications=40"];
    let batches = ["m.toml", "--backend=cpu", "--until=3000", "--batches=10"];
    let ranks = ["--lps=16", "--until=50", "--ranks=2"];
    for (name, args) in [
        ("network", &network[..]),
        ("network", &batches),
        ("phold", &["--backend=cpu", "--lps=16", "--until=50"]),
        ("phold-ranks", &ranks),
    ] {
        let limited = std::process::Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"])
            .args([env!("CARGO_BIN_EXE_eventhorizon"), name])
            .args(args)
            .args(["--checkpoint=saved", "--every=0.000001"])
            .current_dir(&folder.0)
            .output()
            .unwrap();
        ended(&limited, 1, &["the checkpoint saved could not be written: File too large"], name);
        assert_eq!(row(&limited), row(&folder.run(name, &[args])), "{name} {args:?}");
        assert!(errors(&limited).matches("warning: ").count() <= 1, "{limited:?}");
        assert_eq!(folder.names(), ["folder", "m.toml"]);
    }
}

#[test]
fn another_checkpoint_is_overwritten_by_force_only() {
    let folder = Folder::new("force");
    let seeded = |seed: &str, args: &[&str]| folder.network(&[&["--checkpoint=saved", seed], args].concat());
    let ranks = |args: &[&str]| {
        folder.run("phold-ranks", &[&["--lps=16", "--until=30", "--checkpoint=run", "--ranks=2"], args])
    };
    assert!(seeded("--seed=1", &[]).status.success());
    ended(&seeded("--seed=2", &[]), 2, &["--force", "seed 1, and this one has 2"], "network");
    assert!(seeded("--seed=2", &["--force"]).status.success());
    assert!(folder.phold(&["--until=30", "--checkpoint=run"]).status.success());
    let refused = folder.phold(&["--until=30", "--checkpoint=run", "--seed=7"]);
    ended(&refused, 2, &["--force", "seed 42"], "phold");
    ended(&ranks(&["--seed=7"]), 2, &["--force", "seed 42"], "phold-ranks");
    assert!(ranks(&["--seed=7", "--force"]).status.success());
    // Nor is a later checkpoint of the same run.
    ended(&ranks(&["--seed=7"]), 2, &["--resume", "--force"], "phold_ranks");
    let saved = read(folder.at("run")).unwrap();
    ended(
        &folder.phold(&["--until=20", "--checkpoint=run", "--seed=7"]),
        2,
        &["--resume", "--force"],
        "phold",
    );
    assert_eq!(read(folder.at("run")).unwrap(), saved);
    ended(&seeded("--seed=2", &[]), 2, &["replications", "--resume", "--force"], "network");
    assert!(seeded("--seed=2", &["--resume=saved"]).status.success());
    ended(&folder.phold(&["--force"]), 2, &["--checkpoint"], "phold");
}

#[test]
fn checkpoints_of_other_versions_are_refused() {
    let folder = Folder::new("versions");
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures");
    for (kind, program) in [("study", "network"), ("run", "phold"), ("run", "phold-ranks")] {
        std::fs::copy(format!("{fixtures}/{kind}.v1.checkpoint"), folder.at("old")).unwrap();
        let args: &[&str] = if kind == "study" { &["m.toml", "--backend=cpu"] } else { &["--lps=16"] };
        for (more, code, word) in [("--resume=old", 1, "start again"), ("--checkpoint=old", 2, "--force")] {
            let output = folder.run(program, &[args, &[more]]);
            ended(&output, code, &["version 1 of the file format", word], program);
        }
    }
}

#[test]
fn what_cannot_be_followed_is_refused_before_the_study() {
    let folder = Folder::new("followed");
    // (A study that would take hours if it started.)
    let long = ["m.toml", "--backend=cpu", "--replications=1000000", "--until=1e6"];
    for (args, words) in [
        (&["--trace=0"][..], &["--trace", "1..=65535"][..]),
        (&["--trace=65536"], &["--trace", "1..=65535"]),
        (&["--trace=2", "--trace-every=0"], &["--trace-every"]),
        (&["--trace-every=3"], &["--trace <N>"]),
        (&["--trace-to=x"], &["--trace <N>"]),
        (&["--trace-every=3", "--interval=1"], &["--trace-every", "--interval"]),
        (&["--trace-to=x", "--interval=1"], &["--trace-to", "--interval"]),
        (&["--every=3", "--interval=1"], &["--every", "--interval"]),
        (&["--profile=5", "--interval=1"], &["--profile", "--interval"]),
        (&["--room=5", "--interval=1"], &["--room", "--interval"]),
    ] {
        ended(&folder.run("network", &[&long, args]), 2, words, &format!("{args:?}"));
    }
    // Too many in total: some from each of two sources.
    let two = "[source.more]\ninterarrival = { exponential = 1e6 }\nto = \"server\"\n";
    write(folder.at("m.toml"), format!("{NETWORK}{two}")).unwrap();
    let many = ["m.toml", "--backend=cpu", "--replications=100000000", "--until=60", "--trace=65535"];
    ended(&folder.run("network", &[&many]), 2, &["131070", "65,535"], "network");
    let refused = folder.phold(&["--replicas=2", "--every=5"]);
    ended(&refused, 2, &["--every", "--replicas"], "phold");
}

#[test]
fn a_resumed_run_has_the_parameters_of_its_checkpoint() {
    let folder = Folder::new("parameters");
    let row = |output: &Output, name: &str| -> String {
        assert!(output.status.success(), "{output:?}");
        let text = printed(output);
        text.lines().find(|line| line.starts_with(name)).expect("a row").to_owned()
    };
    for (seed, model) in [
        ("--seed=3", &["--lps=20", "--population=3", "--rate=0.3", "--lookahead=2.5"][..]),
        ("--seed=4", &["--lps=30", "--population=2", "--rate=0.7", "--lookahead=1", "--neighbours=4"]),
        ("--seed=5", &["--lps=9", "--population=1", "--rate=4e6", "--lookahead=5"]),
    ] {
        let begin = ["--backend=cpu", seed, "--until=30", "--checkpoint=run", "--force"];
        let begun = folder.run("phold", &[model, &begin]);
        let whole = folder.run("phold", &[model, &["--backend=cpu", seed, "--until=60"]]);
        let rest = ["--resume=run", "--until=60"];
        let phold = folder.run("phold", &[&["--backend=cpu"], &rest]);
        for name in ["fingerprint", "LPs x events", "sends to"] {
            assert_eq!(row(&phold, name), row(&whole, name));
        }
        if seed != "--seed=5" {
            assert_eq!(row(&phold, "rate, lookahead"), row(&begun, "rate, lookahead"));
        }
        let ranks = folder.run("phold-ranks", &[&rest]);
        assert_eq!(row(&ranks, "fingerprint"), row(&whole, "fingerprint"));
        // Parameters that differ are refused, and a fork accepts them.
        let other = ["--resume=run", "--backend=cpu", "--until=60", "--rate=0.25"];
        ended(&folder.run("phold", &[&other]), 2, &["other parameters"], "phold");
        let fork = folder.run("phold", &[&other, &["--fork"]]);
        assert!(row(&fork, "rate, lookahead").contains("0.25, "));
        assert_eq!(row(&fork, "LPs x events"), row(&whole, "LPs x events"));
    }
    assert!(folder.network(&["--checkpoint=study"]).status.success());
    ended(&folder.phold(&["--resume=study"]), 2, &["study: ", "a study of a network"], "phold");
}

#[test]
fn a_run_that_was_saved_ends_no_earlier_than_it_is() {
    let folder = Folder::new("beyond");
    assert!(folder.phold(&["--until=30", "--checkpoint=run"]).status.success());
    for (args, words) in [
        (["--resume=run", "--until=20"], ["--until 20", "is at 30 units of time"]),
        (["--resume=run", "--events=100"], ["--events 100", "394 events"]),
    ] {
        let output = folder.phold(&args);
        ended(&output, 2, &words, &format!("{args:?}"));
        assert!(output.stdout.is_empty());
        let ranks = folder.run("phold-ranks", &[&["--lps=16", "--resume=run", "--until=20"]]);
        ended(&ranks, 2, &["--until 20", "is at 30 units of time"], "phold-ranks");
    }
    for args in [&["--resume=run"][..], &["--resume=run", "--until=30"], &["--resume=run", "--until=31"]] {
        let output = folder.phold(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
    }
    assert!(folder.phold(&["--events=300", "--checkpoint=run", "--force"]).status.success());
    assert!(folder.phold(&["--resume=run", "--events=300"]).status.success());
    ended(&folder.phold(&["--resume=run", "--events=299"]), 2, &["--events 299"], "phold");
}

/// A preemptive station that breaks down: the network form does not run it.
const BREAKING: &str = r#"
name = "breaking"
source.in = { interarrival = { exponential = 2 }, to = "server" }
station.server = { discipline = "preemptive", service = { exponential = 1 }, breakdown = { up = { exponential = 20 }, down = { exponential = 2 } }, to = "out" }
sink.out = {}
"#;

#[test]
fn a_network_that_the_network_form_lacks_runs_as_a_process_model() {
    let folder = Folder::new("translated");
    write(folder.at("breaking.toml"), BREAKING).unwrap();
    let run = |args: &[&str]| {
        let given = ["breaking.toml", "--backend=cpu", "--replications=4", "--until=200"];
        folder.run("network", &[&given, args])
    };
    let table = printed(&run(&["--csv", "table.csv"]));
    assert!(table.contains("mapping process model, cores") && table.contains("down"), "{table}");
    assert!(read_to_string(folder.at("table.csv")).unwrap().contains("\nserver,customer,wait,"));
    write(folder.at("model.json"), printed(&run(&["--show", "process"]))).unwrap();
    let given = ["model.json", "--backend=cpu", "--replications=4", "--until=200"];
    let measures = printed(&folder.run("process", &[&given]));
    assert!(measures.contains("wait_server__customer"), "{measures}");
    // What other networks have.
    let all = ["--report", "page.html", "--plot", "plots", "--profile", "20", "--share", "wait(server) <= 1"];
    let table = printed(&run(&all));
    assert!(table.contains("share(wait <= 1)"), "{table}");
    assert!(read_to_string(folder.at("page.html")).unwrap().contains("Over time"));
    assert!(read_to_string(folder.at("profile.csv")).unwrap().contains("\nnumber(server),"));
    assert!(folder.at("plots/numbers.svg").exists() && folder.at("plots/network.svg").exists());
    let points = printed(&run(&["--set", "station.server.servers=1,2", "--only", "number"]));
    assert!(points.contains(" of 2 points ") && points.contains("number(server)"), "{points}");
    let given = ["breaking.toml", "--backend=cpu", "--until=200", "--set=station.server.servers=1..3"];
    let cost = ["--minimise=number(server) + 2 * station.server.servers", "--budget=60"];
    let best = printed(&folder.run("optimise", &[&given, &cost]));
    assert!(best.contains("best: station.server.servers="), "{best}");
    let detailed =
        printed(&run(&["--quantiles", "--trace", "2", "--trace-to", "trace.csv", "--json", "all.json"]));
    assert!(detailed.contains("sojourn_95") && detailed.contains("number_max"), "{detailed}");
    assert!(read_to_string(folder.at("trace.csv")).unwrap().contains("\n2,in,customer,server,"));
    assert!(read_to_string(folder.at("all.json")).unwrap().contains("\"or_more\""));
    let fingerprint = |table: &str| table.lines().last().unwrap().to_owned();
    let whole = printed(&run(&["--quantiles", "--checkpoint", "first"]));
    let resumed = printed(&run(&["--quantiles", "--resume", "first"]));
    assert_eq!(fingerprint(&resumed), fingerprint(&whole));
    let given = ["breaking.toml", "--backend=cpu", "--until=4000", "--batches=10", "--find-warm-up"];
    let long = printed(&folder.run("network", &[&given]));
    assert!(long.contains("mapping process model, one run"), "{long}");
    // Shares in any spelling are one.
    let shares =
        ["--share", "wait(server)<=1", "--share", "wait(server) <= 1.0", "--only=share(wait(server)<=1)"];
    assert_eq!(printed(&run(&shares)).matches("share(wait <= 1)").count(), 1);
    let refused = run(&["--room", "2"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && error.contains("--room") && error.contains("process model"),
        "{error}"
    );
    let late = run(&["--profile", "1000"]);
    assert!(!late.status.success() && late.stdout.is_empty(), "an invalid profile is refused first");
}

#[test]
fn results_go_to_standard_output_where_that_is_asked_for() {
    let folder = Folder::new("standard");
    let csv = printed(&folder.network(&["--csv", "-"]));
    let all_rows = |table: &str, columns: usize| table.lines().all(|row| row.split(',').count() == columns);
    assert!(csv.starts_with("node,class,measure,") && all_rows(&csv, 11), "{csv}");
    // All classes together have one name everywhere.
    let json: serde_json::Value = serde_json::from_str(&printed(&folder.network(&["--json"]))).unwrap();
    let table = printed(&folder.network(&[]));
    assert!(csv.contains("\n(network),all,number,") && table.contains("(network)  all "), "{csv}{table}");
    assert!(json["results"].as_array().unwrap().iter().any(|row| row["class"] == "all"), "{json}");
    let one = printed(&folder.run("network", &[&["m.toml", "--backend=cpu", "--replications=1"]]));
    assert!(one.starts_with("M/M/1: 1 replication until 60 "), "{one}");
    let [listing, wgsl] = ["--show=ir", "--show=wgsl"].map(|form| printed(&folder.network(&[form])));
    assert!(listing.contains("\nstation server: servers in slots 1..2; line in ring 0"), "{listing}");
    assert!(wgsl.starts_with("const NETWORK_CLASSES = 1u;") && wgsl.contains("fn network_own("), "{wgsl}");
    let visits = printed(&folder.network(&["--trace", "2", "--trace-to", "-", "--csv", "table.csv"]));
    assert!(visits.starts_with("customer,from,") && all_rows(&visits, 8), "{visits}");
    assert_eq!(read_to_string(folder.at("table.csv")).unwrap(), csv);
    assert_eq!(folder.names(), ["folder", "m.toml", "table.csv"]);
}

#[test]
fn a_warm_up_that_is_left_out_is_spoken_of() {
    let folder = Folder::new("warm-up");
    let output = folder.network(&["--until=4"]);
    let notice = errors(&output);
    assert!(output.status.success() && notice.lines().count() == 1, "{notice}");
    assert!(
        ["warm_up of 5", "end at 4", "begin at 0.4"].iter().all(|word| notice.contains(word)),
        "{notice}"
    );
    for args in [&["--until=4", "--warm-up=1"][..], &["--until=50"]] {
        assert_eq!(errors(&folder.network(args)), "");
    }
}

#[test]
fn the_speed_of_a_study_is_that_of_what_was_made_now() {
    let folder = Folder::new("speed");
    let first = printed(&folder.network(&["--checkpoint=study"]));
    assert!(!first.contains("of them now"));
    let again = printed(&folder.network(&["--resume=study"]));
    assert!(again.contains(", 0 of them now") && again.contains("0.000e0 events/s"), "{again}");
    assert_eq!(first.lines().last(), again.lines().last());
    let more = ["m.toml", "--backend=cpu", "--replications=16", "--resume=study"];
    let more = printed(&folder.run("network", &[&more]));
    assert!(more.contains(" of them now") && !more.contains(", 0 of them now"), "{more}");
    let batches = ["m.toml", "--backend=cpu", "--batches=8", "--until=4000"];
    let first = printed(&folder.run("network", &[&batches, &["--checkpoint=long"]]));
    let again = printed(&folder.run("network", &[&batches, &["--resume=long"]]));
    assert!(!first.contains("of them now") && again.contains(", 0 of them now"), "{again}");
    assert_eq!(first.lines().last(), again.lines().last());
}

#[test]
#[cfg(target_os = "linux")]
fn a_description_without_an_end_is_not_read_to_it() {
    let folder = Folder::new("endless");
    ended(
        &folder.run("network", &[&["/dev/zero"]]),
        2,
        &["/dev/zero", "more than 67108864 bytes"],
        "network",
    );
}

/// A file that a command reads: its name, its contents, and the arguments that name it.
type Read<'a> = (&'a str, &'a [u8], &'a str, &'a [&'a str]);

#[test]
fn every_error_of_a_file_names_the_file() {
    let folder = Folder::new("named");
    for example in ["epidemic.toml", "epidemic.wgsl"] {
        let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/models");
        std::fs::copy(format!("{models}/{example}"), folder.at(example)).unwrap();
    }
    let with_data = read_to_string(folder.at("epidemic.toml")).unwrap();
    let with_data = with_data.replace("until = 365.0", "until = 365.0\ndata = \"bad.txt\"");
    write(folder.at("data.toml"), with_data).unwrap();
    write(folder.at("map.map"), "type octile\nheight 1\nwidth 2\nmap\n..\n").unwrap();
    write(folder.at("ring.gr"), "p sp 2 1\na 1 2 5\n").unwrap();
    assert!(folder.phold(&["--until=30", "--checkpoint=run"]).status.success());
    assert!(folder.network(&["--checkpoint=study"]).status.success());
    let [run, study] = ["run", "study"].map(|name| read(folder.at(name)).unwrap());
    let (half, mut changed) = (&run[..run.len() / 2], run.clone());
    changed[100] ^= 1;

    let network = ["m.toml", "--backend=cpu", "--replications=8"];
    let resumes = [&network[..], &["--resume=bad"]].concat();
    let seeded = [&resumes[..], &["--seed=2"]].concat();
    let ranks = ["--resume=bad", "--ranks=2"];
    let other = ["--resume=bad", "--backend=cpu", "--rate=0.7"];
    let search = ["--searches=2", "--backend=cpu"];
    let with = |option| [&search[..], &[option]].concat();
    let [map, scen] = [with("--map=bad.map"), vec!["--backend=cpu", "--map=map.map", "--scen=bad.scen"]];
    let [graph, png] = [with("--graph=bad.gr"), with("--map=bad.png")];
    let coords = [&search[..], &["--graph=ring.gr", "--coords=bad.co"]].concat();
    let positions = ["--positions=bad.csv", "--width=1", "--backend=cpu"];
    let unknown = NETWORK.replace("to = \"server\"", "to = \"sever\"");
    let cases: &[(Read, i32, &[&str])] = &[
        (("bad.toml", b"until = 1\nuntil = 2", "network", &["bad.toml"]), 2, &["line 2"]),
        (("bad.toml", unknown.as_bytes(), "network", &["bad.toml"]), 2, &["`sever`"]),
        (("bad.toml", b"name = \"\xff\"", "network", &["bad.toml"]), 2, &["UTF-8"]),
        (("bad.json", b"{\n  \"until\": }", "network", &["bad.json"]), 2, &["line 2"]),
        (("bad", b"nothing", "network", &resumes), 1, &["not a checkpoint"]),
        (("bad", &run, "network", &resumes), 2, &["expected the checkpoint of a study"]),
        (("bad", &study, "network", &seeded), 2, &["seed 1"]),
        (("bad.toml", b"model = 1", "run", &["bad.toml"]), 2, &["line 1"]),
        (("bad.txt", b"1\n2 x", "run", &["data.toml"]), 2, &["bad.txt:2"]),
        (("epidemic.wgsl", b"// \xff", "run", &["epidemic.toml"]), 2, &["UTF-8"]),
        (("epidemic.wgsl", b"fn f() {\n  let a = ;\n}", "run", &["epidemic.toml"]), 2, &["epidemic.wgsl:2"]),
        (("bad.csv", b"1,2\n3,x", "match", &positions), 2, &["bad.csv:2"]),
        (("bad.csv", b"1,2\n3", "match", &positions), 2, &["bad.csv:2"]),
        (("bad.csv", b"", "match", &positions), 2, &["no position"]),
        (("bad.map", b"type octile\nheight 1\nwidth 2\nmap\n.", "search", &map), 2, &["line 5"]),
        (("bad.scen", b"version 1\n0 map", "search", &scen), 2, &["line 2"]),
        (("bad.gr", b"p sp 2 1\na 1 3 5", "search", &graph), 2, &["line 2"]),
        (("bad.co", b"p aux sp co 2\nv 1 0", "search", &coords), 2, &["line 2"]),
        (("bad.co", b"p aux sp co 1\nv 1 0 0", "search", &coords), 2, &[]),
        (("bad.png", b"nothing", "search", &png), 2, &[]),
        (("bad", half, "phold", &["--resume=bad"]), 1, &["its end is missing"]),
        (("bad", &changed, "phold", &["--resume=bad"]), 1, &["checksum"]),
        (("bad", &study, "phold", &["--resume=bad"]), 2, &["a study of a network"]),
        (("bad", &run, "phold", &other), 2, &["other parameters"]),
        (("bad", half, "phold-ranks", &ranks), 1, &["its end is missing"]),
        (("bad", &run, "phold-ranks", &[&ranks[..], &["--rate=0.7"]].concat()), 2, &["other parameters"]),
    ];
    for &((file, contents, name, args), code, words) in cases {
        let _ = std::fs::remove_file(folder.at(file));
        let missing = folder.run(name, &[args]);
        ended(&missing, 1, &[file, "No such file"], &format!("{name} {args:?} without {file}"));
        write(folder.at(file), contents).unwrap();
        ended(&folder.run(name, &[args]), code, &[&[file], words].concat(), &format!("{name} {args:?}"));
    }
}
