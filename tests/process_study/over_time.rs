//! Who holds which units, over time.

use eventhorizon::process::{Holding, Study};

use super::{BY_HAND, compiled};

/// Unit, number of the entity, begin, end.
fn shown(holdings: &[Holding]) -> Vec<(u32, u32, f64, f64)> {
    holdings.iter().map(|of| (of.unit, of.number, of.from, of.until)).collect()
}

const TWO: &str = r#"
unit = "hour"
[resource]
bed = { schedule = [[4, 2], [4, 1]] }
nurse = 1
[entity.patient]
every = 1
most = 3
attributes = { stay = 3 }
do = [
  { if = "number == 2", do = [{ set = "stay", to = 1 }] },
  { if = "number < 9", do = [{ seize = "bed" }] },
  { delay = "time(stay)" },
  { release = "bed" },
  { use = "nurse", for = 0.5 },
]
"#;

#[test]
fn holdings_are_those_that_a_hand_computes() {
    let by_hand = compiled(BY_HAND);
    let study = Study::new(1, 10.0, 4.0);
    let found = by_hand.occupation(&study, 0, [0.0, 5.0], 100).unwrap();
    assert_eq!((found.unit.as_str(), found.from, found.until), ("hour", 0.0, 5.0));
    let server = &found.resources[0];
    assert_eq!((server.resource.as_str(), &server.units[..]), ("server", &[(0.0, 1)][..]));
    assert_eq!(shown(&server.holdings), [(1, 1, 2.0, 3.0), (1, 2, 3.0, 4.0), (1, 3, 4.0, 5.0)]);
    // From a time on, and no more than requested.
    let some = by_hand.occupation(&study, 0, [3.5, 10.0], 2).unwrap();
    assert_eq!(shown(&some.resources[0].holdings), [(1, 2, 3.5, 4.0), (1, 3, 4.0, 5.0)]);
    assert_eq!(some.until, 5.0);
    assert!(by_hand.occupation(&study, 0, [5.0, 5.0], 1).is_err());
    assert!(by_hand.occupation(&study, 0, [11.0, 12.0], 1).is_err());
}

#[test]
fn units_are_numbered_and_may_be_counted_in_runs() {
    let two = compiled(TWO);
    let found = two.occupation(&Study::new(1, 10.0, 0.0), 0, [0.0, 10.0], 100).unwrap();
    let [bed, nurse] = &found.resources[..] else { panic!("{found:?}") };
    assert_eq!(bed.units, [(0.0, 2), (4.0, 1), (8.0, 2)]);
    assert_eq!(shown(&bed.holdings), [(1, 1, 1.0, 4.0), (2, 2, 2.0, 3.0), (2, 3, 3.0, 6.0)]);
    assert_eq!(shown(&nurse.holdings), [(1, 2, 3.0, 3.5), (1, 1, 4.0, 4.5), (1, 3, 6.0, 6.5)]);
    let mut csv = Vec::new();
    found.to_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.starts_with("resource,unit,entity,number,from,until\nbed,1,patient,1,1,4\n"), "{csv}");
    let svg = found.draw().unwrap();
    assert!(["bed 2", "nurse", "patient", "time (hour)"].iter().all(|text| svg.contains(text)), "{svg}");
}
