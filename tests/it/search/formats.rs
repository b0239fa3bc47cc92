//! Files: maps and scenarios of the Moving AI benchmarks (N. Sturtevant, 2012; Open Data Commons
//! Attribution License, see `tests/data/movingai/README.md`), and errors in other files.

use eventhorizon::queue::QueueDesign;
use eventhorizon::search::reference::{AStar, find_all};
use eventhorizon::search::{
    Mapping, Moves, Options, SearchError, Terrain, dimacs_coordinates, dimacs_graph, moving_ai_map,
    moving_ai_scenario,
};
use glam::UVec2;
use proptest::prelude::*;

use super::{engine, made};

#[test]
fn paths_are_as_long_as_the_scenario_tells() {
    let map =
        moving_ai_map("arena.map", include_str!("../../data/movingai/arena.map"), Terrain::Format).unwrap();
    let text = include_str!("../../data/movingai/arena.map.scen");
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
    let good = moving_ai_map("m", &format!("{head}.GS\n@WT\n"), Terrain::Format).unwrap();
    assert_eq!(good.terrain(), [1, 1, 1, 0, 1, 0]);
    assert_eq!(
        moving_ai_map("m", &format!("{head}.GS\r\n@WT\r\n\n"), Terrain::Land).unwrap().terrain()[4],
        0
    );
    for (text, says) in [
        ("", "m, line 1: the file ends before the line 'map'"),
        ("type octile\nheight 2\n", "m, line 3: the file ends"),
        ("height 2\nmap\n", "m, line 2: the width is missing"),
        ("height two\n", "m, line 1: 'two' is not a number of cells"),
        ("height\n", "m, line 1: number of cells is missing"),
        ("width 4000000000\n", "m, line 1: expected 1 to 32768 cells in a side, found 4000000000"),
        ("width 0\n", "m, line 1: expected 1 to 32768 cells in a side, found 0"),
        ("size 3\n", "m, line 1: 'size'"),
        (&format!("{head}...\n"), "m, line 6: the map has 2 rows, but the file ends after 1"),
        (&format!("{head}...\n..\n"), "m, line 6: expected a row of 3 cells, found 2"),
        (&format!("{head}...\n.x.\n"), "m, line 6: expected a terrain (one of . G S W @ O T), found 'x'"),
        (&format!("{head}...\n...\n...\n"), "m, line 7: the map has 2 rows, but here is another"),
    ] {
        let reported = message(&moving_ai_map("m", text, Terrain::Format).unwrap_err());
        assert!(reported.starts_with(says), "{reported}");
    }
}

#[test]
fn errors_of_scenarios_name_the_line() {
    let line = |rest: &str| format!("version 1\n\n0\ta map\t5\t4\t{rest}\n");
    let good = moving_ai_scenario("s", &line("0\t1\t4\t3\t5.24264")).unwrap();
    assert_eq!((good[0].map.as_str(), good[0].size), ("a map", UVec2::new(5, 4)));
    assert!(good[0].agrees(5.242_640_7) && !good[0].agrees(5.2427));
    // Files with more digits than costs: 9 diagonal moves.
    let exact = moving_ai_scenario("s", &line("0\t1\t4\t3\t12.72792206")).unwrap();
    let octile = |cost: u32| f64::from(cost) / 2378.0;
    assert!(exact[0].agrees(octile(9 * 3363)) && !exact[0].agrees(octile(9 * 3363 + 1)));
    for (text, says) in [
        ("", "s, line 1: the file is empty"),
        ("version 2\n", "s, line 1: expected 'version 1'"),
        (&line("0\t1\t4"), "s, line 3: place is missing"),
        (&line("0\t1\t5\t3\t1"), "s, line 3: the cell is not on the map of 5 times 4 cells"),
        (&line("0\t-1\t4\t3\t1"), "s, line 3: '-1' is not a place"),
        (&line("0\t1\t4\t3\tnan"), "s, line 3: expected a length of at least 0"),
        (&line("0\t1\t4\t3\tfar"), "s, line 3: 'far' is not a length"),
    ] {
        let reported = message(&moving_ai_scenario("s", text).unwrap_err());
        assert!(reported.starts_with(says), "{reported}");
    }
}

/// The length of the shortest path on a map of letters with moves of cost 1 to eight neighbours, by
/// rounds that continue until nothing changes.
fn plain_length(rows: &[Vec<u8>], terrain: Terrain, start: UVec2, goal: UVec2) -> Option<u32> {
    let (width, height) = (rows[0].len(), rows.len());
    let kind = |x: usize, y: usize| match rows[y][x] {
        b'.' | b'G' | b'S' => Some('l'),
        b'W' => match terrain {
            Terrain::Format => Some('w'),
            Terrain::Open => Some('l'),
            Terrain::Land => None,
        },
        _ => None,
    };
    let at = |cell: UVec2| (cell.x as usize, cell.y as usize);
    let ((x, y), (goal_x, goal_y)) = (at(start), at(goal));
    let medium = kind(x, y)?;
    let mut lengths = vec![vec![None; width]; height];
    lengths[y][x] = Some(0_u32);
    for _ in 0..width * height {
        for y in 0..height {
            for x in 0..width {
                let Some(length) = lengths[y][x] else { continue };
                let rows = y.saturating_sub(1)..(y + 2).min(height);
                let columns = x.saturating_sub(1)..(x + 2).min(width);
                for (to_x, to_y) in rows.flat_map(|to_y| columns.clone().map(move |to_x| (to_x, to_y))) {
                    // The cell and, for a diagonal move, both cells beside it.
                    let cells = [(to_x, to_y), (to_x, y), (x, to_y)];
                    let is_open = cells.iter().all(|&(x, y)| kind(x, y) == Some(medium));
                    let known = &mut lengths[to_y][to_x];
                    if is_open && known.is_none_or(|known| known > length + 1) {
                        *known = Some(length + 1);
                    }
                }
            }
        }
    }
    lengths[goal_y][goal_x]
}

#[test]
fn terrain_is_passable_as_the_letters_say() {
    let text = include_str!("../../data/search/w.map");
    let searches = [(UVec2::new(0, 0), UVec2::new(2, 0)), (UVec2::new(0, 0), UVec2::new(1, 1))];
    for (terrain, lengths) in [
        (Terrain::default(), [Some(6.0), None]),
        (Terrain::Land, [Some(6.0), None]),
        (Terrain::Open, [Some(2.0), Some(2_f64.sqrt())]),
    ] {
        let map = moving_ai_map("w.map", text, terrain).unwrap();
        let host = find_all(&map, &searches, true, |_| ()).unwrap();
        for (outcome, expected) in host.outcomes().iter().zip(lengths) {
            let length = outcome.cost.map(|cost| map.length(cost));
            let near = |(one, other): (f64, f64)| (one - other).abs() < 1e-6;
            assert!(length.zip(expected).map_or(length == expected, near), "{terrain:?}: {length:?}");
        }
        for mapping in [Mapping::Thread(QueueDesign::Heap), Mapping::Bands, Mapping::Team] {
            assert_eq!(
                made(&map, Options::default().mapping(mapping).paths(true)).run(&searches).unwrap(),
                host,
                "{terrain:?}"
            );
        }
    }
}

#[test]
fn a_scenario_of_another_size_names_both() {
    let map = moving_ai_map("nonl.map", include_str!("../../data/search/nonl.map"), Terrain::Format).unwrap();
    let scenario = moving_ai_scenario("off.scen", include_str!("../../data/search/off.scen")).unwrap();
    let error = scenario[0].check_size("off.scen", &map).unwrap_err();
    assert_eq!(
        error.to_string(),
        "off.scen, line 2: the search is for other.map with 8 times 6 cells, but this map has 4 times 3; \
         choose the scenario of this map"
    );
    assert!(scenario[0].is_on("maps/Other.map") && !scenario[0].is_on("another.map"));
    // The CPU search expands cells like the device.
    let searches: Vec<_> = scenario.iter().map(|search| (search.start, search.goal)).collect();
    let errors = [
        find_all(&map, &searches, false, |_| ()).unwrap_err(),
        engine(&map, Mapping::Auto).run(&searches).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, SearchError::Outside { search: 0, x: 7, y: 5, .. }), "{error}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_file() {
    let marked = |text: &str| format!("\u{feff}{text}");
    let map = include_str!("../../data/search/w.map");
    let read = |text: &str| moving_ai_map("w.map", text, Terrain::Format).unwrap();
    assert_eq!(read(&marked(map)), read(map));
    let scenario = include_str!("../../data/search/w.scen");
    let read = |text: &str| moving_ai_scenario("w.scen", text).unwrap();
    assert_eq!(read(&marked(scenario)), read(scenario));
    let graph = include_str!("../../data/search/zc1.gr");
    let read = |text: &str| dimacs_graph("zc1.gr", text).unwrap();
    assert_eq!(read(&marked(graph)), read(graph));
    let places = "p aux sp co 1\nv 1 2 3\n";
    assert_eq!(dimacs_coordinates("co", &marked(places)).unwrap(), [(2, 3)]);
}

proptest! {
    #[test]
    fn random_terrain_has_the_paths_of_a_plain_search(
        cells in proptest::collection::vec(proptest::sample::select(&b".GSWWW@T"[..]), 30),
        goal in (0_u32..6, 0_u32..5),
    ) {
        let rows: Vec<Vec<u8>> = cells.chunks(6).map(<[u8]>::to_vec).collect();
        let text = rows.iter().map(|row| String::from_utf8_lossy(row)).collect::<Vec<_>>().join("\n");
        let goal = UVec2::from(goal);
        for terrain in [Terrain::Format, Terrain::Open, Terrain::Land] {
            let map = moving_ai_map("m", &format!("height 5\nwidth 6\nmap\n{text}"), terrain).unwrap();
            let map = map.with_moves(Moves::Eight { straight: 1, diagonal: 1 }).unwrap();
            for y in 0..5 {
                for x in 0..6 {
                    let start = UVec2::new(x, y);
                    let expected = plain_length(&rows, terrain, start, goal);
                    prop_assert_eq!(AStar::new(&map).find(start, goal).cost, expected, "{:?} from {}", terrain, start);
                }
            }
        }
    }

    #[test]
    fn no_text_makes_them_panic(
        text in "((type octile|height|width|map|version 1|[0-9]{1,9}|[.@GTW]{0,4}|\\PC)[ \t\n]{1,2}){0,30}"
    ) {
        let _ = moving_ai_map("m", &text, Terrain::Format);
        let _ = moving_ai_scenario("s", &text);
    }
}
