//! Statements and results whose numbers are known.

use eventhorizon::process::{ProcessError, ProcessModel, Study};

use super::{agrees, compiled, mean, queue, run};

/// The results of one replication until 20, computed by hand.
fn known(text: &str, expected: &[(&str, f64)]) {
    let results = run(text, &Study::new(1, 20.0, 0.0));
    for (name, expected) in expected {
        let found = mean(&results.observations[0], name);
        assert!((found - expected).abs() < 1e-6, "{name}: {found}, not {expected}");
    }
}

fn refused(text: &str) -> ProcessError {
    let model = ProcessModel::from_toml(text).and_then(|model| model.compile());
    model.err().unwrap_or_else(|| panic!("no error: {text}"))
}

#[test]
fn the_deviation_and_shares_agree_with_theory() {
    // M/M/1: the stay is exponential with the mean 1.5.
    let text = format!("{}[tally]\nstay = {{ up_to = [1, 4] }}\n", queue(1, 3.0, ""));
    let results = run(&text, &Study::new(100, 1200.0, 200.0).seed(3));
    agrees(&results, "deviation(stay)", 1.5);
    for bound in [1.0, 4.0] {
        agrees(&results, &format!("share(stay <= {bound})"), 1.0 - (-bound / 1.5_f64).exp());
    }
    let svg = results.draw_shares("stay", 0.95).unwrap();
    assert!(svg.contains("share of stay against observations up to"), "{svg}");
    assert!(results.draw_shares("wait", 0.95).is_err());
    let unobserved = refused(&text.replace("stay = {", "stays = {"));
    assert!(unobserved.to_string().contains("did you mean `stay`"), "{unobserved}");
}

#[test]
fn utilisation_is_of_the_units_that_are_offered() {
    let text = r#"
[resource]
clerk = { schedule = [[2, 2], [2, 1]], cost = { busy = 10, idle = 1 } }
desk = { cost = { use = 3 } }
[entity.job]
at_start = 1
do = [
  { use = "clerk", for = 3 },
  { delay = 1 },
  { use = "clerk", for = 4 },
  { resize = "desk", units = 0 },
]
"#;
    for (warm_up, used, offered) in [(0.0, 7.0, 12.0), (1.0, 6.0, 10.0), (5.0, 3.0, 4.0)] {
        let results = run(text, &Study::new(1, 8.0, warm_up));
        let of = |name: &str| mean(&results.observations[0], name);
        assert!((of("utilisation(clerk)") - used / offered).abs() < 1e-9, "{warm_up}");
        assert!((of("in_use(clerk)") - used / (8.0 - warm_up)).abs() < 1e-9, "{warm_up}");
        let cost = 10.0 * used + offered - used;
        assert!((of("cost(clerk)") - cost).abs() < 1e-6 && of("cost(desk)") == 0.0, "{warm_up}");
        assert!((of("cost(all)") - cost).abs() < 1e-6);
        assert_eq!(of("utilisation(desk)"), 0.0);
    }
}

#[test]
fn a_permanent_batch_continues_as_one() {
    let text = r#"
[resource]
oven = 1
[entity.part]
every = 1
most = 6
do = [
  { batch = 3, permanent = true, do = [{ count = "packs" }], tally = "collected" },
  { use = "oven", for = 2 },
  { tally = "stay" },
]
"#;
    // The third of three has its own time only, and the others end.
    known(
        text,
        &[
            ("packs", 2.0),
            ("count(collected)", 4.0),
            ("collected", 1.5),
            ("count(stay)", 2.0),
            ("stay", 2.0),
            ("in_use(oven)", 0.2),
        ],
    );
    // Those that end may hold nothing, though the one that continues releases.
    let holding = text.replace("oven = 1", "oven = 1\ntray = 6");
    let holding = holding.replace("  { batch", "  { seize = \"tray\" },\n  { batch");
    let holding = holding.replace("  { tally", "  { release = \"tray\" },\n  { tally");
    let holding = refused(&holding);
    assert!(matches!(holding, ProcessError::Holding { .. }), "{holding}");
}

#[test]
fn copies_have_the_attributes_and_can_be_joined() {
    let text = r#"
[resource]
bed = 1
[entity.order]
at_start = 1
attributes = { size = 3, weight = 1.5, due = { kind = "time", value = 7 } }
do = [
  { set = "size", to = 5 },
  { seize = "bed" },
  { clone = 2, join = true, do = [
    { delay = "time(number)" },
    { tally = "copied", value = "size" },
    { tally = "weighed", value = "weight" },
    { tally = "due", value = "due" },
    { set = "size", to = 9 },
  ] },
  { clone = "size - 5", do = [{ count = "none" }] },
  { join = true },
  { tally = "order", value = "now" },
  { tally = "own", value = "size" },
  { release = "bed" },
]
"#;
    known(
        text,
        &[
            ("count(copied)", 2.0),
            ("copied", 5.0),
            ("weighed", 1.5),
            ("due", 7.0),
            ("none", 0.0),
            // The copies are entities 2 and 3 of their type.
            ("order", 3.0),
            ("own", 5.0),
            ("in_use(bed)", 3.0 / 20.0),
        ],
    );
    let released = text.replace("{ set = \"size\", to = 9 }", "{ release = \"bed\" }");
    let released = refused(&released);
    assert!(matches!(released, ProcessError::NotHeld { .. }), "{released}");
}

#[test]
fn a_label_names_the_random_numbers_of_one_statement() {
    let text = |first: &str, second: &str| {
        format!(
            r#"
[entity.part]
at_start = 1
attributes = {{ size = {{ exponential = 1 }} }}
do = [
  {{ delay = {{ exponential = 1 }}, label = "{first}" }},
  {{ repeat = 2, do = [{{ delay = {{ exponential = 1 }}, label = "{second}" }}] }},
  {{ tally = "stay" }},
]
"#
        )
    };
    compiled(&text("first", "second"));
    let repeated = refused(&text("first", "first"));
    assert!(matches!(repeated, ProcessError::Repeated { .. }), "{repeated}");
    assert!(repeated.to_string().starts_with("line 7"), "{repeated}");
    for label in ["size", "a/b", "delay#1", ""] {
        let error = refused(&text("first", label));
        assert!(matches!(error, ProcessError::Name { .. }), "{label}: {error}");
    }
}

#[test]
fn a_whole_number_and_a_fraction_are_a_real() {
    let text = r#"
[parameters]
p = 2
[variable]
x = 3
[entity.part]
at_start = 1
attributes = { r = { kind = "real", value = "p + 0.5" } }
do = [
  { tally = "sum", value = "p + 0.5" },
  { tally = "product", value = "r * (p - 0.5)" },
  { tally = "larger", value = "if(x > p + 0.5, 1, 0)" },
]
"#;
    known(text, &[("sum", 2.5), ("product", 3.75), ("larger", 1.0)]);
    let whole = r#"
[parameters]
p = 2
[entity.part]
at_start = 1
do = [{ repeat = "p + 0.5", do = [{ count = "rounds" }] }]
"#;
    let error = refused(whole);
    assert!(matches!(error, ProcessError::Kinds { .. }), "{error}");
}
