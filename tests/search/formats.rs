//! Files: maps and scenarios of the Moving AI benchmarks (N. Sturtevant, 2012; Open Data Commons Attribution License, see
//! `tests/data/movingai/README.md`), and what is said of files that are none.

use eventhorizon::queue::QueueDesign;
use eventhorizon::search::{Mapping, SearchError, moving_ai_map, moving_ai_scenario};
use glam::UVec2;
use proptest::prelude::*;

use super::engine;

#[test]
fn paths_are_as_long_as_the_scenario_tells() {
    let map = moving_ai_map("arena.map", include_str!("../data/movingai/arena.map"), true).unwrap();
    let text = include_str!("../data/movingai/arena.map.scen");
    let scenario = moving_ai_scenario("arena.map.scen", text).unwrap();
    assert_eq!((map.width(), map.height(), scenario.len()), (49, 49, 160));
    assert_eq!((scenario[2].start, scenario[2].goal), (UVec2::new(1, 13), UVec2::new(4, 12)));
    let searches: Vec<_> = scenario.iter().map(|search| (search.start, search.goal)).collect();
    let mut fingerprints = Vec::new();
    for mapping in [Mapping::Thread(QueueDesign::Heap), Mapping::Bands, Mapping::Team] {
        let found = engine(&map, mapping).run(&searches).unwrap();
        for (search, outcome) in scenario.iter().zip(found.outcomes()) {
            let length = map.length(outcome.cost.expect("all of them have a path"));
            assert!(search.agrees(length), "{search:?}: {length}");
            assert!((length - search.length).abs() < 1e-4, "the optimum to its printed digits: {length}");
        }
        fingerprints.push(found.fingerprint());
    }
    assert_eq!(fingerprints[0], fingerprints[1]);
}

fn message(error: &SearchError) -> String {
    assert!(matches!(error, SearchError::Format { .. }), "{error}");
    error.to_string()
}

#[test]
fn errors_of_maps_name_the_line() {
    let head = "type octile\nheight 2\nwidth 3\nmap\n";
    let good = moving_ai_map("m", &format!("{head}.GS\n@WT\n"), true).unwrap();
    assert_eq!(good.terrain(), [1, 1, 1, 0, 1, 0]);
    assert_eq!(moving_ai_map("m", &format!("{head}.GS\r\n@WT\r\n\n"), false).unwrap().terrain()[4], 0);
    for (text, says) in [
        ("", "m, line 1: the file ends before the line 'map'"),
        ("type octile\nheight 2\n", "m, line 3: the file ends"),
        ("height 2\nmap\n", "m, line 2: the width was not told"),
        ("height two\n", "m, line 1: 'two' is no number of cells"),
        ("height\n", "m, line 1: number of cells is missing"),
        ("width 4000000000\n", "m, line 1: a side of 4000000000 cells"),
        ("width 0\n", "m, line 1: a side of 0 cells"),
        ("size 3\n", "m, line 1: 'size'"),
        (&format!("{head}...\n"), "m, line 6: the map has 2 rows, and the file ends after 1"),
        (&format!("{head}...\n..\n"), "m, line 6: a row of 2 cells in a map that is 3 wide"),
        (&format!("{head}...\n.x.\n"), "m, line 6: 'x' is no terrain"),
        (&format!("{head}...\n...\n...\n"), "m, line 7: the map has 2 rows, and here is another"),
    ] {
        let told = message(&moving_ai_map("m", text, true).unwrap_err());
        assert!(told.starts_with(says), "{told}");
    }
}

#[test]
fn errors_of_scenarios_name_the_line() {
    let line = |rest: &str| format!("version 1\n\n0\ta map\t5\t4\t{rest}\n");
    let good = moving_ai_scenario("s", &line("0\t1\t4\t3\t5.24264")).unwrap();
    assert_eq!((good[0].map.as_str(), good[0].size), ("a map", UVec2::new(5, 4)));
    assert!(good[0].agrees(5.242_640_7) && !good[0].agrees(5.2427));
    // Files with more digits than costs have: 9 diagonal moves.
    let exact = moving_ai_scenario("s", &line("0\t1\t4\t3\t12.72792206")).unwrap();
    let octile = |cost: u32| f64::from(cost) / 2378.0;
    assert!(exact[0].agrees(octile(9 * 3363)) && !exact[0].agrees(octile(9 * 3363 + 1)));
    for (text, says) in [
        ("", "s, line 1: the file is empty"),
        ("version 2\n", "s, line 1: expected 'version 1'"),
        (&line("0\t1\t4"), "s, line 3: place is missing"),
        (&line("0\t1\t5\t3\t1"), "s, line 3: a cell that is not on a map of 5 times 4"),
        (&line("0\t-1\t4\t3\t1"), "s, line 3: '-1' is no place"),
        (&line("0\t1\t4\t3\tnan"), "s, line 3: a length is a number from 0 on"),
        (&line("0\t1\t4\t3\tfar"), "s, line 3: 'far' is no length"),
    ] {
        let told = message(&moving_ai_scenario("s", text).unwrap_err());
        assert!(told.starts_with(says), "{told}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_them_panic(
        text in "((type octile|height|width|map|version 1|[0-9]{1,9}|[.@GTW]{0,4}|\\PC)[ \t\n]{1,2}){0,30}"
    ) {
        let _ = moving_ai_map("m", &text, true);
        let _ = moving_ai_scenario("s", &text);
    }
}
