use eventhorizon::gpu::{Program, Source, StructLayout};
use eventhorizon::replication::{Experiment, pack};
use eventhorizon::statistics::{AnalysisError, Design, Value};
use proptest::prelude::*;

fn layout(text: &'static str) -> StructLayout {
    Program::link("t", &[Source::new("p.wgsl", text)]).unwrap().layout("Params").unwrap()
}

fn params() -> StructLayout {
    layout("struct Params { clients: u32, drift: i32, horizon: vec2<u32>, load: f32 }")
}

fn read(text: &str) -> Result<Design, AnalysisError> {
    Design::from_csv(text.as_bytes())
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn a_factorial_has_its_last_factor_fastest() {
    let design = Design::default().cross("a", [1, 2]).unwrap().cross("b", [0.5, 0.25, 0.125]).unwrap();
    assert_eq!(design.factors(), ["a", "b"]);
    let points: Vec<_> = (0..design.len()).map(|point| design.describe(point)).collect();
    assert_eq!(points, ["a=1 b=0.5", "a=1 b=0.25", "a=1 b=0.125", "a=2 b=0.5", "a=2 b=0.25", "a=2 b=0.125"]);
    assert_eq!(design.levels(4), [Value::Integer(2), Value::Real(0.25)]);
    assert_eq!(Design::default().len(), 1);
    assert_eq!(Design::default().describe(0), "");
}

#[test]
fn points_become_the_bytes_of_the_struct() {
    let layout = params();
    // Offsets 0, 4, 8, 16; 24 bytes with padding. The order of the factors is not that of the
    // fields.
    let text = "load, horizon, drift, clients\n0.5, 4294967298, -1, 7\n\n1e-3, 1e6, 2e0, 4294967295\n";
    let bytes = pack(&read(text).unwrap(), &layout, None).unwrap();
    let expected =
        [[7, u32::MAX, 2, 1, 0.5_f32.to_bits(), 0], [u32::MAX, 2, 1_000_000, 0, 1e-3_f32.to_bits(), 0]];
    assert_eq!(words(&bytes), expected.concat());
}

#[test]
fn other_parameters_keep_their_defaults() {
    let defaults: Vec<u8> = [9_u32, 8, 7, 6, 5, 4].into_iter().flat_map(u32::to_le_bytes).collect();
    let design = Design::default().cross("drift", [-2, 3]).unwrap();
    let bytes = pack(&design, &params(), Some(&defaults)).unwrap();
    assert_eq!(words(&bytes), [9, (-2_i32) as u32, 7, 6, 5, 4, 9, 3, 7, 6, 5, 4]);
    assert_eq!(pack(&Design::default(), &params(), Some(&defaults)).unwrap(), defaults);
    let short = pack(&design, &params(), Some(&defaults[4..])).unwrap_err();
    assert!(matches!(short, AnalysisError::DefaultBytes { got: 20, expected: 24 }));
    let missing = pack(&design, &params(), None).unwrap_err();
    let message =
        "no factor sets the parameter `clients`; add a factor of that name, or pass default parameters";
    assert_eq!(missing.to_string(), message);
}

#[test]
fn values_that_do_not_fit_are_named_with_their_place() {
    let layout = layout("struct Params { n: u32, i: i32, t: vec2<u32>, f: f32 }");
    let refused = |n: &str, i: &str, t: &str, f: &str| {
        let text = format!("n,i,t,f\n1,1,1,1\n{n},{i},{t},{f}\n");
        match read(&text).and_then(|design| pack(&design, &layout, None)) {
            Err(error @ AnalysisError::Value { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let whole = "and the parameter is a u32: a whole number from 0 to 4294967295";
    assert_eq!(refused("-1", "1", "1", "1"), format!("point 1 (line 3): factor `n` is -1, {whole}"));
    assert_eq!(refused("2.5", "1", "1", "1"), format!("point 1 (line 3): factor `n` is 2.5, {whole}"));
    for n in ["4294967296", "1e10", "inf", "NaN", "-0.5"] {
        assert!(refused(n, "1", "1", "1").contains("factor `n`"));
    }
    for i in ["2147483648", "-2147483649", "0.1"] {
        assert!(refused("1", i, "1", "1").contains("factor `i`"));
    }
    for t in ["-1", "18446744073709551616", "1e20", "1.5"] {
        assert!(refused("1", "1", t, "1").contains("factor `t`"));
    }
    for f in ["1e39", "-1e39", "1e-60", "inf", "NaN"] {
        assert!(refused("1", "1", "1", f).contains("factor `f`"));
    }
    assert_eq!(
        refused("1", "fast", "1", "1"),
        "point 1 (line 3): factor `i` is `fast`, which is not a number"
    );
    assert!(refused("1", "1", "1", "").contains("factor `f` is ``"));
    // From a program there is no line number.
    let design = Design::default().cross("n", [-1_i64]).unwrap();
    let error = pack(&design, &layout, Some(&[0; 24])).unwrap_err();
    assert!(error.to_string().starts_with("point 0: factor `n` is -1"), "{error}");
    // The ends of the ranges fit.
    let text = "n,i,t,f\n4294967295,-2147483648,18446744073709551615,3.4e38\n0,2147483647,0,-0.0\n";
    pack(&read(text).unwrap(), &layout, None).unwrap();
}

#[test]
fn tables_that_are_none_are_refused() {
    let unknown = pack(&read("clients,lode\n1,2\n").unwrap(), &params(), Some(&[0; 24])).unwrap_err();
    let message = "the parameter struct has no field `lode`; its fields are: clients, drift, horizon, load";
    assert_eq!(unknown.to_string(), message);
    assert!(matches!(read("a,b,a\n1,2,3\n"), Err(AnalysisError::RepeatedFactor { factor }) if factor == "a"));
    let twice = Design::default().cross("a", [1]).unwrap().cross("a", [2]).unwrap_err();
    assert!(matches!(twice, AnalysisError::RepeatedFactor { .. }));
    let none = Design::default().cross("a", Vec::<u32>::new()).unwrap_err();
    assert!(matches!(none, AnalysisError::NoLevels { .. }));
    assert!(matches!(read("a,b\n"), Err(AnalysisError::NoPoints)));
    assert!(matches!(read(""), Err(AnalysisError::NoPoints)));
    let ragged = read("a,b\n1,2\n3\n").unwrap_err();
    assert!(matches!(ragged, AnalysisError::Csv(_)) && ragged.to_string().contains("line: 3"), "{ragged}");
    let layout = layout("struct Params { place: vec3<f32>, n: u32 }");
    let typed = pack(&read("place,n\n1,1\n").unwrap(), &layout, None).unwrap_err();
    assert!(matches!(typed, AnalysisError::FactorType { field } if field == "place"));
    let mut large = Design::default().cross("a", 0..65_536).unwrap();
    large = large.cross("b", [0]).unwrap();
    let error = large.cross("c", 0..65_536).unwrap_err();
    assert!(matches!(error, AnalysisError::TooManyPoints { points: 4_294_967_296 }), "{error}");
}

#[test]
fn streams_follow_the_options() {
    let design = Design::default().cross("a", [1, 2]).unwrap();
    let plain = Experiment::new(design, 10, 1);
    let key = |e: &Experiment, point, replication| {
        let stream = e.stream(point, replication);
        (stream.point, stream.replication, stream.complement)
    };
    assert_eq!(key(&plain, 1, 7), (1, 7, false));
    // Neither more replications nor more points change a stream.
    let larger = Experiment { replications: 1000, ..plain.clone() };
    assert_eq!(key(&larger, 1, 7), key(&plain, 1, 7));
    let common = plain.clone().with_common_random_numbers();
    assert_eq!(key(&common, 1, 7), key(&common, 0, 7));
    let pairs = plain.clone().with_antithetic_pairs();
    assert_eq!((key(&pairs, 1, 6), key(&pairs, 1, 7)), ((1, 3, false), (1, 3, true)));
    assert!(pairs.check().is_ok() && plain.check().is_ok());
    let odd = Experiment { replications: 9, ..pairs };
    assert!(matches!(odd.check(), Err(AnalysisError::Odd { replications: 9 })));
    let none = Experiment { replications: 0, ..plain };
    assert!(matches!(none.check(), Err(AnalysisError::Setting { .. })));
}

proptest! {
    #[test]
    fn tables_survive_a_round_trip(rows in prop::collection::vec((any::<i64>(), -1e300_f64..1e300), 1..20)) {
        let text: String = rows.iter().map(|(a, b)| format!("{a},{b:?}\n")).collect();
        let design = read(&format!("a,b\n{text}")).unwrap();
        let mut written = Vec::new();
        design.to_csv(&mut written).unwrap();
        let again = Design::from_csv(&written[..]).unwrap();
        prop_assert_eq!(again.len(), rows.len());
        for (point, (a, b)) in rows.iter().enumerate() {
            prop_assert_eq!(again.levels(point)[0], Value::Integer((*a).into()));
            // A whole f64 may come back as the same whole number.
            let level = match &again.levels(point)[1] { Value::Integer(i) => *i as f64, Value::Real(r) => *r, Value::Name(name) => panic!("{name:?}") };
            prop_assert_eq!(level, *b);
        }
    }
}

#[test]
fn values_are_numbers_however_they_were_written() {
    let design = Design::from_csv("a,b,c\n-3,0.25,1e6\n".as_bytes()).unwrap();
    let levels: Vec<f64> = design.levels(0).iter().map(|level| level.as_f64()).collect();
    assert_eq!(levels, [-3.0, 0.25, 1e6]);
    assert_eq!(Value::from(u64::MAX).as_f64(), 2_f64.powi(64));
}
