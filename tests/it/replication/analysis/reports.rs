use super::sample;
use eventhorizon::statistics::plot::{self, Look};
use eventhorizon::statistics::{
    AnalysisError, Column, Design, Failure, FailureCause, Observations, Pairing, Report, Values,
};

/// Two points with a column of 64-bit counts and one of f32; one failure; a point with a single
/// replication.
fn report() -> Report {
    let columns = vec![
        Column { name: "served".into(), values: Values::U64(vec![1000, 1010, 990, 7, 1000]) },
        Column { name: "wait".into(), values: Values::F32(vec![3.5, 4.25, 4.0, 9.0, 4.25]) },
    ];
    let failed = Failure { replication: 3, cause: FailureCause::Code(5) };
    let point = Observations::new(5, columns, [failed], Pairing::Independent).unwrap();
    let one = vec![
        Column { name: "served".into(), values: Values::U64(vec![12]) },
        Column { name: "wait".into(), values: Values::F32(vec![0.123_456_79]) },
    ];
    let one = Observations::new(1, one, [], Pairing::Independent).unwrap();
    let design = Design::default().cross("load", [0.8, 0.9]).unwrap();
    let mut report = Report::default();
    report.add(&design, 0, &point, 0.95, |name| (name == "wait").then_some(4.0)).unwrap();
    report.add(&design, 1, &one, 0.95, |_| None).unwrap();
    report
}

#[test]
fn the_table_is_for_people() {
    let expected = "\
load  measure      mean   +/-  rel. %       5 %    median      95 %  theory  n  failed
 0.8  served       1000    13     1.3       992      1000      1008       -  4       1
 0.8  wait         4.00  0.56      14      3.58      4.12      4.25    4.00  4       1
 0.9  served         12     -       -        12        12        12       -  1       0
 0.9  wait     0.123457     -       -  0.123457  0.123457  0.123457       -  1       0
+/-: half width of the 95 % confidence interval
failed: point 0, replication 3: code 5
";
    let table = report().to_string();
    assert_eq!(table, expected, "\n{table}");
    assert!(table.is_ascii());
}

#[test]
fn json_has_the_named_keys() {
    let json: serde_json::Value = serde_json::from_str(&report().to_json()).unwrap();
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    assert_eq!(results[1]["measure"], "wait");
    assert_eq!(results[1]["mean"], 4.0);
    assert_eq!(results[1]["theory"], 4.0);
    assert_eq!(results[0]["theory"], serde_json::Value::Null);
    assert_eq!(results[0]["factors"]["load"], 0.8);
    assert_eq!(results[3]["half_width"], serde_json::Value::Null);
    assert!(results[0]["half_width"].as_f64().unwrap() > 12.0);
    assert_eq!(
        json["failures"],
        serde_json::json!([{ "point": 0, "replication": 3, "cause": { "code": 5 } }])
    );
}

#[test]
fn csv_reads_back() {
    let mut bytes = Vec::new();
    report().to_csv(&mut bytes).unwrap();
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let header = reader.headers().unwrap().clone();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let field = |row: usize, name: &str| {
        rows[row][header.iter().position(|h| h == name).unwrap_or_else(|| panic!("{name}"))].to_string()
    };
    assert_eq!(rows.len(), 4);
    assert_eq!(field(2, "factor:load"), "0.9");
    assert_eq!(
        (field(0, "measure"), field(0, "failed"), field(0, "observations")),
        ("served".into(), "1".into(), "4".into())
    );
    // Every digit survives.
    let rows = report().rows;
    assert_eq!(field(0, "half_width").parse::<f64>().ok(), rows[0].half_width);
    assert_eq!(field(1, "q05").parse::<f64>().ok(), rows[1].q05);
    assert_eq!((field(2, "half_width"), field(0, "theory")), (String::new(), String::new()));
}

#[test]
fn digits_follow_the_half_width() {
    let shown = |values: &[f64]| {
        let mut report = Report::default();
        report.add(&Design::default(), 0, &sample(Values::F64(values.to_vec())), 0.95, |_| None).unwrap();
        let table = report.to_string();
        let row: Vec<_> = table.lines().nth(1).unwrap().split_whitespace().map(String::from).collect();
        (row[1].clone(), row[2].clone())
    };
    // Half width 12.706 * deviation / sqrt(2) for two values.
    assert_eq!(shown(&[123_456.0, 123_556.0]), ("123510".into(), "640".into()));
    assert_eq!(shown(&[1.234_567, 1.234_569]), ("1.234568".into(), "0.000013".into()));
    assert_eq!(shown(&[1e-9, 3e-9]), ("2e-9".into(), "1.3e-8".into()));
    assert_eq!(shown(&[1e21, 1e21 + 1e19]), ("1.005e21".into(), "6.4e19".into()));
    assert_eq!(shown(&[0.0, 0.0]), ("0".into(), "0".into()));
    assert_eq!(shown(&[2.5, 2.5]), ("2.5".into(), "0".into()));
}

#[test]
fn many_failures_are_counted() {
    let failures = (0..15).map(|replication| Failure { replication, cause: FailureCause::Code(1) });
    let column = Column { name: "x".into(), values: Values::U32(vec![0; 15]) };
    let point = Observations::new(15, vec![column], failures, Pairing::Independent).unwrap();
    let mut report = Report::default();
    report.add(&Design::default(), 0, &point, 0.95, |_| None).unwrap();
    let table = report.to_string();
    assert!(table.contains("failed: point 0, replication 9: code 1\nfailed: 5 more\n"), "{table}");
    assert_eq!(report.failures.len(), 15);
    let nothing = plot::distribution(&point, "x", 0.95, None, plot::Look::default()).unwrap_err();
    assert!(matches!(nothing, AnalysisError::NoObservations { failed: 15, replications: 15, .. }));
}

#[test]
fn every_replication_is_in_the_plot() {
    let values: Vec<u32> = (0..1000).map(|i| (i * i) % 997).collect();
    let svg = plot::distribution(&sample(Values::U32(values)), "x", 0.95, Some(400.0), plot::Look::default())
        .unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for text in ["mean and interval", "theory", "n = 1000", "replications"] {
        assert!(svg.contains(text), "{text}");
    }
    // One value, and equal values, are drawn as well.
    for values in [vec![3], vec![0, 0, 0]] {
        plot::distribution(&sample(Values::U32(values)), "x", 0.95, None, plot::Look::default()).unwrap();
    }
}

#[test]
fn reports_leave_out_what_the_model_hides() {
    let columns =
        ["wait_ticks", "wait"].map(|name| Column { name: name.into(), values: Values::U32(vec![1, 2]) });
    let mut point = Observations::new(2, columns.into(), [], Pairing::Independent).unwrap();
    point.hide(&["wait_ticks"]).unwrap();
    let unknown = point.hide(&["weight"]).unwrap_err();
    assert!(matches!(unknown, AnalysisError::NoColumn { .. }), "{unknown}");
    point.append(point.clone()).unwrap();
    let listed = |point: &Observations| {
        let mut report = Report::default();
        report.add(&Design::default(), 0, point, 0.95, |_| None).unwrap();
        report.rows.into_iter().map(|row| row.name).collect::<Vec<_>>()
    };
    assert_eq!(listed(&point), ["wait"]);
    assert_eq!(point.summary("wait_ticks", 0.95).unwrap().mean, Some(1.5));
    assert_eq!(listed(&point.select(&["wait_ticks"]).unwrap()), ["wait_ticks"]);
}

/// The number of times that a text occurs in another.
fn count(svg: &str, text: &str) -> usize {
    svg.matches(text).count()
}

#[test]
fn responses_are_drawn_against_a_factor() {
    let design = Design::default().cross("load", [0.5, 0.8, 0.9]).unwrap().cross("servers", [1, 2]).unwrap();
    let point = |number: u32| sample(Values::U32((0..50).map(|i| 100 * number + (i * i) % 97).collect()));
    let points: Vec<_> = (0..6).map(point).collect();
    let svg = plot::response(&design, &points, "load", "x", 0.95, Look::default()).unwrap();
    for text in ["x against load (95 % intervals)", "servers=1", "servers=2"] {
        assert_eq!(count(&svg, text), 1, "{text}");
    }
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    // A curve and three points with intervals for each number of servers.
    let across = plot::response(&design, &points, "servers", "x", 0.95, Look::default()).unwrap();
    assert_eq!(["load=0.5", "load=0.8", "load=0.9"].map(|text| count(&across, text)), [1, 1, 1]);
    // One factor needs no legend, one replication has no interval, and one level is a point.
    let single = Design::default().cross("load", [0.8]).unwrap();
    let svg =
        plot::response(&single, &[sample(Values::U32(vec![7]))], "load", "x", 0.95, Look::default()).unwrap();
    assert_eq!(count(&svg, "load=0.8"), 0);
    let error = plot::response(&design, &points[1..], "load", "x", 0.95, Look::default()).unwrap_err();
    assert!(matches!(error, AnalysisError::Points { points: 6, given: 5 }), "{error}");
    let error = plot::response(&design, &points, "speed", "x", 0.95, Look::default()).unwrap_err();
    assert_eq!(error.to_string(), "the design has no factor `speed`; its factors are: load, servers");
    let none = vec![sample(Values::F64(vec![f64::NAN; 3])); 6];
    let error = plot::response(&design, &none, "load", "x", 0.95, Look::default()).unwrap_err();
    assert!(matches!(error, AnalysisError::NoObservations { failed: 18, replications: 18, .. }), "{error}");
}

#[test]
fn box_plots_have_a_box_for_each_point_and_a_dot_for_each_value_beyond() {
    let design = Design::default().cross("load", [0.5, 0.8, 0.9]).unwrap().cross("servers", [1, 2]).unwrap();
    // 1 to 9 and 40: quartiles 3.25 and 7.75, so only 40 is beyond 14.5.
    let values: Vec<u32> = (1..10).chain([40]).collect();
    let points = vec![sample(Values::U32(values)); 6];
    let look = Look { unit: Some("minute"), colour: 3 };
    let svg = plot::boxes(&design, &points, "load", "x", look).unwrap();
    for text in ["x by load: values of the replications", "servers=1", "servers=2", "x (minute)"] {
        assert_eq!(count(&svg, text), 1, "{text}");
    }
    assert_eq!(["0.5", "0.8", "0.9"].map(|level| count(&svg, &format!("\n{level}\n"))), [1; 3], "{svg}");
    assert_eq!(count(&svg, "<circle"), 6, "{svg}");
    // The background, two samples in the legend, and a fill and an edge for each box.
    assert_eq!(count(&svg, "<rect"), 1 + 2 + 2 * 6, "{svg}");
    let single = Design::default().cross("rule", ["fifo", "lifo"]).unwrap();
    let svg = plot::boxes(&single, &points[..2], "rule", "x", look).unwrap();
    assert_eq!(["fifo", "lifo"].map(|level| count(&svg, level)), [1; 2], "names are levels, and no legend");
    assert!(svg.contains("#CC79A7") && !svg.contains("#0072B2"), "one curve has the colour of its node");
    let none = vec![sample(Values::F64(vec![f64::NAN; 3])); 2];
    let error = plot::boxes(&single, &none, "rule", "x", look).unwrap_err();
    assert!(matches!(error, AnalysisError::NoObservations { failed: 6, replications: 6, .. }), "{error}");
}

#[test]
fn convergence_is_drawn_from_two_observations_on() {
    let values: Vec<u32> = (0..5000).map(|i| (i * i) % 997).collect();
    let svg =
        plot::convergence(&sample(Values::U32(values)), "x", 0.95, Some(5.0), plot::Look::default()).unwrap();
    for text in ["x: half width of the 95 % interval", "observations", "wanted"] {
        assert!(svg.contains(text), "{text}");
    }
    let svg =
        plot::convergence(&sample(Values::U32(vec![1, 2])), "x", 0.95, None, plot::Look::default()).unwrap();
    assert!(!svg.contains("wanted"));
    let one =
        plot::convergence(&sample(Values::U32(vec![1])), "x", 0.95, None, plot::Look::default()).unwrap_err();
    assert!(matches!(one, AnalysisError::NoObservations { .. }), "{one}");
    let equal = plot::convergence(&sample(Values::U32(vec![1; 9])), "x", 0.95, None, plot::Look::default())
        .unwrap_err();
    assert!(equal.to_string().contains("all observations are the same"), "{equal}");
}
