//! `astar` with files that do not fit together, and with terrain. The files are in
//! `tests/data/search`.

use super::{ended, run};

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/search");

/// Runs a map and a scenario on one backend.
fn scenario(map: &str, scen: &str, more: &[&str]) -> std::process::Output {
    let [map, scen] = [map, scen].map(|name| format!("{FILES}/{name}"));
    run("search", &[&["--map", &map, "--scen", &scen], more].concat())
}

#[test]
fn water_is_passable_as_terrain_says() {
    for backend in ["cpu", "gpu"] {
        let output = scenario("w.map", "w.scen", &["--backend", backend]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains("1 of 1 equal to the scenario"),
            "{backend}: {output:?}"
        );
        let land = scenario("w.map", "w.scen", &["--backend", backend, "--terrain", "land"]);
        assert!(land.status.success(), "around the lake, too: {land:?}");
        let open = scenario("w.map", "w.scen", &["--backend", backend, "--terrain", "open"]);
        ended(&open, 1, &["expected length 6 of the scenario, found 2"], "across the lake");
    }
    let wrong = scenario("w.map", "w.scen", &["--terrain", "mud"]);
    ended(&wrong, 2, &["mud", "format, open, land"], "terrain");
}

#[test]
fn a_scenario_of_another_map_is_refused() {
    for backend in ["cpu", "gpu"] {
        for (scen, name) in [("off.scen", "other.map"), ("big.scen", "x.map")] {
            let refused = scenario("nonl.map", scen, &["--backend", backend]);
            let words = [scen, "line 2", name, "8 times 6", "4 times 3"];
            ended(&refused, 2, &words, scen);
        }
    }
    // A map of the same size with another name may be the same map.
    let folder = std::env::temp_dir().join(format!("eventhorizon-renamed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let map = folder.join("renamed.map");
    std::fs::copy(format!("{FILES}/w.map"), &map).unwrap();
    let scen = format!("{FILES}/w.scen");
    let output = run("search", &["--map", map.to_str().unwrap(), "--scen", &scen, "--backend", "cpu"]);
    let notice = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{output:?}");
    assert!(notice.starts_with("warning: ") && notice.contains("w.map") && notice.contains("renamed.map"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn options_of_devices_are_refused_on_the_cpu() {
    for (option, value) in [("--queue", "splay"), ("--mapping", "team")] {
        let refused = scenario("w.map", "w.scen", &["--backend", "cpu", option, value]);
        ended(&refused, 2, &[option, "leave out --backend cpu"], option);
    }
    let output = scenario("w.map", "w.scen", &["--queue", "cb-seq"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("thread, cb-seq"), "{output:?}");
    let refused = scenario("w.map", "w.scen", &["--queue", "calendar"]);
    ended(&refused, 2, &["calendar", "heap"], "a calendar");
}

#[test]
#[cfg(target_os = "linux")]
fn a_picture_that_cannot_be_written_is_a_failure() {
    // So small that all of it fits a buffer.
    let full = scenario("w.map", "w.scen", &["--backend", "cpu", "--picture", "/dev/full"]);
    ended(&full, 1, &["/dev/full: No space left on device"], "search");
}

#[test]
fn moves_may_cost_less() {
    let json = |args: &[&str]| -> serde_json::Value {
        let output = run(
            "search",
            &[&["--random", "32", "--searches", "50", "--backend", "cpu", "--json"], args].concat(),
        );
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (usual, coarse) = (json(&[]), json(&["--costs", "70,99"]));
    assert_eq!(
        (&usual["found"], &usual["seed"], &usual["schema"]),
        (&coarse["found"], &42.into(), &1.into())
    );
    assert_ne!(usual["fingerprint"], coarse["fingerprint"]);
    assert_eq!(usual["fingerprint"], json(&["--costs", "2378,3363"])["fingerprint"]);
    for (costs, words) in [
        ("70", "such as 70,99"),
        ("a,b", "such as 70,99"),
        ("70,141", "twice as much"),
        ("0,0", "at least 1"),
    ] {
        ended_with(&["--costs", costs], words);
    }
    ended_with(&["--costs", "70,99", "--four"], "--four");
}

fn ended_with(args: &[&str], word: &str) {
    ended(&run("search", &[args, &["--searches", "2", "--backend", "cpu"]].concat()), 2, &[word], "search");
}

#[test]
fn circles_of_free_arcs_end_and_are_named_as_the_file_does() {
    let queues = ["heap", "heap-4", "cb-seq", "cb-seq-front", "cb-seq-sp", "splay"];
    for (file, arc) in [("zc1.gr", "3 to 1"), ("zc2.gr", "2 to 4")] {
        let graph = format!("{FILES}/{file}");
        let args = ["--graph", &graph, "--searches", "100", "--json"];
        let cpu = vec!["--backend", "cpu"];
        let others = queues.map(|queue| vec!["--backend", "gpu", "--queue", queue]);
        let fingerprints = [&[cpu], &others[..]].concat().into_iter().map(|more| {
            let output = run("search", &[&args[..], &more].concat());
            assert!(output.status.success(), "{file} {more:?}: {output:?}");
            let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert!(json["found"] == 100, "{json}");
            json["fingerprint"].as_str().unwrap().to_owned()
        });
        let fingerprints: Vec<String> = fingerprints.collect();
        assert!(fingerprints.iter().all(|one| *one == fingerprints[0]), "{fingerprints:?}");
        let refused = run("search", &["--graph", &graph, "--paths", "-", "--backend", "cpu"]);
        ended(&refused, 2, &[file, &format!("from the vertex {arc} ")], "free arcs");
    }
}
