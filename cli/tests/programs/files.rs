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
    ended(&folder.phold(&["--resume=study"]), 1, &["a study of a network"], "phold");
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

#[test]
fn results_go_to_standard_output_where_that_is_asked_for() {
    let folder = Folder::new("standard");
    let csv = printed(&folder.network(&["--csv", "-"]));
    let all_rows = |table: &str, columns: usize| table.lines().all(|row| row.split(',').count() == columns);
    assert!(csv.starts_with("node,class,measure,") && all_rows(&csv, 10), "{csv}");
    // All classes together have one name everywhere.
    let json: serde_json::Value = serde_json::from_str(&printed(&folder.network(&["--json"]))).unwrap();
    let table = printed(&folder.network(&[]));
    assert!(csv.contains("\n(network),all,number,") && table.contains("(network)  all "), "{csv}{table}");
    assert!(json["results"].as_array().unwrap().iter().any(|row| row["class"] == "all"), "{json}");
    let one = printed(&folder.run("network", &[&["m.toml", "--backend=cpu", "--replications=1"]]));
    assert!(one.starts_with("M/M/1: 1 replication until 60 "), "{one}");
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
