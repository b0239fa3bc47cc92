//! Results: rows, columns and totals on the GPU are those of the sequential engine, bit for bit.
//!
//! Debug builds of the library fill outputs and partial totals with a pattern before each dispatch,
//! so that unwritten rows differ.

use super::common::counted::{Counted, CountedOutput};
use super::common::{few, gpu};
use bytemuck::{Pod, Zeroable};
use eventhorizon::gpu::{Gpu, GpuError, Source};
use eventhorizon::pdes::{
    Capacity, Context, CpuModel, CpuSimulation, Event, MAX_CLASSES, Model, Number, Options, Outputs,
    Simulation, SimulationError, Totals, Until,
};
use eventhorizon::queue::{Lanes, QueueDesign};
use eventhorizon::statistics::{PooledAverage, Tally, Values};
use eventhorizon::time::Ticks;

pub(super) const END: Ticks = Ticks::new(100);

/// Runs both engines to [`END`], and compares all results.
fn same<M: CpuModel<Output: PartialEq>>(
    gpu: &Gpu,
    model: &M,
    options: Options,
    classes: &str,
) -> (Outputs<M::Output>, Totals) {
    let mut cpu = CpuSimulation::in_rust(model, options).unwrap();
    cpu.run(Until::time(END)).unwrap();
    let mut simulation = Simulation::new(gpu, model, options).unwrap();
    simulation.run(Until::time(END)).unwrap();
    let expected = cpu.outputs(END).unwrap();
    let found = simulation.outputs(END).unwrap();
    assert_eq!(found.rows().len(), model.lps() as usize);
    let bytes = |rows: &[M::Output]| bytemuck::cast_slice::<_, u8>(rows).to_vec();
    assert!(bytes(found.rows()) == bytes(expected.rows()), "{options:?}");
    assert_eq!(found.columns(), expected.columns());
    assert!(found == expected);
    for classes in [None, Some(classes)] {
        let found = simulation.totals(END, classes).unwrap();
        assert_eq!(found, cpu.totals(END, classes).unwrap(), "{options:?}");
        assert_eq!(found.classes().is_empty(), classes.is_none());
    }
    // The run is unchanged.
    assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
    assert_eq!(simulation.run(Until::time(END)).unwrap(), cpu.run(Until::time(END)).unwrap());
    (found, simulation.totals(END, Some(classes)).unwrap())
}

pub(super) fn seeded(seed: u64) -> Options {
    Options::default().seed(seed)
}

#[test]
fn lp_counts_around_workgroups_and_chunks() {
    let gpu = gpu();
    for lps in [1, 2, 63, 64, 65, 1000, 1023, 1024, 1025, 2049] {
        same(&gpu, &Counted::new(lps), seeded(lps.into()), "kind");
    }
}

#[test]
fn workgroups_tiles_and_kernels_without_features() {
    let model = Counted::new(300);
    let gpu = gpu();
    for &(group_size, tiles) in few(2, &[(8, 7), (256, 1), (8, 1), (64, 3)]) {
        let options = seeded(5).group_size(group_size).tiles(tiles);
        same(&gpu, &model, options, "kind");
    }
    for gpu in [gpu.without(wgpu::Features::all()), gpu.checked()] {
        same(&gpu, &model, seeded(5), "kind");
    }
}

#[test]
fn outputs_that_are_cut_over_bindings() {
    // 64 KiB hold the outputs of 372 LPs, and 8 KiB those of 46; LP memory and queues are
    // partitioned differently.
    let gpu = gpu();
    if gpu.limits().max_storage_buffers_per_shader_stage < 30 {
        let small = gpu.binding_at_most(1 << 16);
        let mut model = Counted::new(160);
        model.first_kinds = (0..50).collect();
        same(&small, &model, seeded(3).group_size(32), "kind");
        return;
    }
    let cuts = [(1 << 16, 8, [40, 65, 400]), (1 << 16, 64, [64, 65, 130]), (1 << 13, 8, [40, 41, 56])];
    for &(bytes, group_size, counts) in few(1, &cuts) {
        let small = gpu.binding_at_most(bytes);
        for lps in counts {
            let mut model = Counted::new(lps);
            // A class for nearly every LP: chunks of one row.
            model.first_kinds = (0..50).collect();
            same(&small, &model, seeded(3).group_size(group_size), "kind");
        }
    }
    // Lanes that share an LP: parts are no whole workgroups of outputs.
    for &bytes in few(2, &[1 << 16, 5 << 13, 3 << 14]) {
        let options = seeded(3).queue(QueueDesign::CbPar(Lanes::Eight)).group_size(64);
        let lps = u32::try_from(bytes / 160).unwrap(); // whose states fit
        same(&gpu.binding_at_most(bytes), &Counted::new(lps), options, "kind");
    }
    // Chunks that cannot be smaller.
    let mut model = Counted::new(56);
    model.capacity = Capacity { queue: 4, mailbox: 8 };
    let small = gpu.binding_at_most(1 << 13);
    let queue = Some(QueueDesign::Heap4);
    let options = Options::default().queue(queue).group_size(64);
    let refused = Simulation::new(&small, &model, options).unwrap().outputs(END).unwrap_err();
    assert!(matches!(refused, SimulationError::Gpu(GpuError::TooLarge { needed: 11264, limit: 8192, .. })));
    assert!(refused.to_string().contains("the outputs of the 64 LPs of a workgroup"), "{refused}");
}

#[test]
fn a_part_of_a_run_tells_of_its_lps() {
    let gpu = gpu();
    // LPs that send only to themselves.
    let model = Counted { lps: 200, ..Counted::new(200) }
        .with("let other = (lp + 1u", "let other = lp; _ = (lp + 1u");
    let mut whole = Simulation::new(&gpu, &model, seeded(8)).unwrap();
    whole.run(Until::time(END)).unwrap();
    let expected = whole.outputs(END).unwrap();
    let parts = [0..70, 70..200].map(|lps| {
        let mut part = Simulation::of_range(&gpu, &model, lps.clone(), seeded(8)).unwrap();
        part.run(Until::time(END)).unwrap();
        let found = part.outputs(END).unwrap();
        assert_eq!(found.rows(), &expected.rows()[lps.start as usize..lps.end as usize]);
        let mut csv = Vec::new();
        found.to_csv(&mut csv).unwrap();
        let second = String::from_utf8(csv).unwrap().lines().nth(1).unwrap().to_owned();
        assert!(second.starts_with(&format!("{},", lps.start)), "{second}");
        part.totals(END, None).unwrap().column("wait.sum").unwrap().sum().unwrap().unsigned().unwrap()
    });
    let sum = whole.totals(END, None).unwrap().column("wait.sum").unwrap().sum().unwrap();
    assert_eq!(sum, Number::Unsigned(parts.iter().sum()));
}

#[test]
fn columns_have_the_names_and_types_of_the_struct() {
    let (outputs, totals) = same(&gpu(), &Counted::new(90), seeded(1), "kind");
    let names: Vec<_> = outputs.names().collect();
    assert_eq!(
        names[..6],
        ["wait.sum", "wait.squares", "wait.minimum", "wait.maximum", "wait.count", "wait.since"]
    );
    assert_eq!(names[6..9], ["load.area", "load.since", "load.changed"]);
    assert_eq!(names[12..19], ["big", "ticks", "kind", "drift", "share", "bins[0]", "bins[1]"]);
    // Without the field `unused` of `TimeAverage`.
    assert_eq!(names.len(), 24);
    let rows = outputs.rows();
    let column = |name| outputs.column(name).unwrap().values;
    assert_eq!(column("wait.sum"), Values::U128(rows.iter().map(|row| row.wait.sum()).collect()));
    assert_eq!(column("wait.count"), Values::U64(rows.iter().map(|row| row.wait.count()).collect()));
    assert_eq!(column("load.level"), Values::U32(rows.iter().map(|row| row.load.level()).collect()));
    assert_eq!(column("drift"), Values::I32(rows.iter().map(|row| row.drift).collect()));
    assert_eq!(column("share"), Values::F32(rows.iter().map(|row| row.share).collect()));
    assert_eq!(column("bins[4]"), Values::U32(rows.iter().map(|row| row.bins[4]).collect()));
    assert_eq!(column("lp"), Values::U32((0..90).collect()));
    assert!(rows.iter().any(|row| row.drift < 0) && rows.iter().any(|row| row.bins[3] > 0));
    assert!(rows.iter().any(|row| row.big[1] >> 32 > 0));

    // Computed here, without the library's loops.
    let total = |name| totals.column(name).unwrap();
    let drift: i64 = rows.iter().map(|row| i64::from(row.drift)).sum();
    assert_eq!(total("drift").sum().unwrap(), Number::Signed(drift));
    let least = rows.iter().map(|row| row.drift).min().unwrap();
    assert_eq!(total("drift").minimum(), Number::Signed(least.into()));
    let most = rows.iter().map(|row| row.share).fold(f32::MIN, f32::max);
    assert_eq!(total("share").maximum(), Number::Real(most));
    let big: u128 = rows.iter().map(|row| u128::from(row.big[1]) << 64 | u128::from(row.big[0])).sum();
    assert_eq!(total("big").sum().unwrap(), Number::Unsigned(big));
    let classes: Vec<_> =
        totals.classes().iter().map(|class| (class.class().unwrap(), class.lps())).collect();
    assert_eq!(classes, [(7, 23), (8, 23), (9, 22), (10, 22)]);
    let third: u64 = rows.iter().filter(|row| row.kind == 9).map(|row| u64::from(row.bins[1])).sum();
    let of_third = totals.class(9).unwrap().column("bins[1]").unwrap();
    assert_eq!(of_third.sum().unwrap(), Number::Unsigned(third.into()));
    assert_eq!(of_third.name(), "bins[1]");
    assert!(totals.class(6).is_none() && totals.all().class().is_none() && totals.at() == END);
}

#[test]
fn the_librarys_statistics_are_pooled() {
    let gpu = gpu();
    // Few events, so that some LPs and some classes have no observation.
    let mut model = Counted { first_kinds: (0..30).collect(), ..Counted::new(90) };
    model.params.classes = 1;
    let mut simulation = Simulation::new(&gpu, &model, seeded(2)).unwrap();
    simulation.run(Until::time(Ticks::new(7))).unwrap();
    let outputs = simulation.outputs(END).unwrap();
    let totals = simulation.totals(END, Some("kind")).unwrap();
    assert_eq!(totals, outputs.totals(Some("kind")).unwrap());
    let pooled = |class: Option<u32>| {
        let (mut wait, mut load) = (Tally::default(), PooledAverage::default());
        for row in outputs.rows().iter().filter(|row| class.is_none_or(|class| row.kind == class)) {
            wait.merge(&row.wait);
            load.add(&row.load);
        }
        (Some(wait), Some(load))
    };
    assert_eq!((totals.tally("wait"), totals.time_average("load")), pooled(None));
    let empty = outputs.rows().iter().filter(|row| row.wait.count() == 0).count();
    assert!(empty > 20 && totals.tally("wait").unwrap().minimum().unwrap() > 0, "{empty}");
    let mut some = 0;
    for class in totals.classes() {
        let wait = class.tally("wait").unwrap();
        assert_eq!((Some(wait), class.time_average("load")), pooled(class.class()));
        some += u32::from(wait.count() == 0);
    }
    assert!(some > 0, "no class without an observation");
    assert!(totals.tally("load").is_none() && totals.tally("no").is_none());
    assert!(totals.time_average("wait").is_none());
    // A time before the run's, and no time.
    let mut cpu = CpuSimulation::in_rust(&model, Options::default().seed(2)).unwrap();
    cpu.run(Until::time(Ticks::new(7))).unwrap();
    for at in [Ticks::ZERO, Ticks::NEVER] {
        assert!(matches!(simulation.totals(at, None), Err(SimulationError::ResultTime { .. })));
        assert!(matches!(cpu.totals(at, None), Err(SimulationError::ResultTime { .. })));
    }
    // An average that has not started when the results are read.
    let early = Simulation::new(&gpu, &model, seeded(4)).unwrap();
    assert!(early.totals(Ticks::ZERO, None).unwrap().time_average("load").is_none());
}

#[test]
fn results_are_those_of_the_time_that_is_asked_for() {
    let model = Counted::new(70);
    let mut simulation = Simulation::new(&gpu(), &model, seeded(1)).unwrap();
    let mut cpu = CpuSimulation::in_rust(&model, Options::default().seed(1)).unwrap();
    for end in [0, 5, 50, 1 << 40] {
        let until = Until { events: 3000, ..Until::time(Ticks::new(end)) };
        assert_eq!(simulation.run(until).unwrap(), cpu.run(until).unwrap());
        for later in [0, 1, 1000] {
            let at = Ticks::new(end + later);
            let found = pollster_outputs(&simulation, at);
            assert!(found == cpu.outputs(at).unwrap());
            assert_eq!((found.at(), found.rows()[0].ticks), (at, at));
        }
    }
}

/// Uses the asynchronous form.
fn pollster_outputs(simulation: &Simulation<Counted>, at: Ticks) -> Outputs<CountedOutput> {
    use std::task::{Context, Poll, Waker};
    let mut future = std::pin::pin!(simulation.outputs_async(at));
    loop {
        if let Poll::Ready(found) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return found.unwrap();
        }
    }
}

#[test]
fn tables_csv_and_json_say_the_same() {
    let mut model = Counted::new(40);
    model.params.huge = 0xf000_0000;
    let (outputs, totals) = same(&gpu(), &model, seeded(6), "kind");

    let mut csv = Vec::new();
    outputs.to_csv(&mut csv).unwrap();
    let mut reader = csv::Reader::from_reader(&*csv);
    let header: Vec<_> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(header[0], "lp");
    assert!(header[1..].iter().eq(outputs.names()));
    let big = header.iter().position(|name| name == "big").unwrap();
    for (row, record) in outputs.rows().iter().zip(reader.records()) {
        let record = record.unwrap();
        let number = u128::from(row.big[1]) << 64 | u128::from(row.big[0]);
        assert_eq!((record[0].parse(), record[big].parse()), (Ok(row.lp), Ok(number)));
    }
    let json: serde_json::Value = serde_json::from_str(&outputs.to_json()).unwrap();
    assert_eq!((&json["at"], json["outputs"].as_array().unwrap().len()), (&100.into(), 40));
    assert_eq!(json["outputs"][3]["lp"], 3);
    assert_eq!(json["outputs"][3]["wait.count"], outputs.rows()[3].wait.count());
    assert_eq!(json["outputs"][3]["drift"], outputs.rows()[3].drift);
    let table = outputs.to_string();
    assert_eq!(table.lines().count(), 1 + 20 + 1);
    assert!(table.ends_with("and 20 more LPs\n"), "{table}");

    // The sum of `big` exceeds 2^128, and `share` has none.
    let mut csv = Vec::new();
    totals.to_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert_eq!(csv.lines().count(), 1 + 5 * 24);
    assert!(csv.starts_with("class,lps,column,sum,minimum,maximum\n,40,wait.sum,"), "{csv}");
    assert!(csv.contains("\n,40,big,overflow,") && csv.contains("\n,40,share,,"), "{csv}");
    assert!(csv.contains("\n7,10,kind,70,7,7\n"), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&totals.to_json()).unwrap();
    assert_eq!(
        (&json["at"], &json["all"]["lps"], &json["all"]["class"]),
        (&100.into(), &40.into(), &().into())
    );
    assert_eq!(json["all"]["columns"]["big"]["sum"], "overflow");
    assert!(json["all"]["columns"]["share"]["sum"].is_null());
    assert_eq!(json["classes"][1]["class"], 8);
    assert_eq!(json["classes"][1]["columns"]["kind"]["sum"], 80);
    let table = totals.to_string();
    assert!(
        table.lines().any(|line| line.split_whitespace().eq(["all", "40", "lp", "780", "0", "39"])),
        "{table}"
    );

    let overflow = totals.column("big").unwrap().sum().unwrap_err();
    assert!(matches!(&overflow, SimulationError::SumOverflow { column } if column == "big"));
    assert!(overflow.to_string().contains("`big` is 2^128 or more"), "{overflow}");
    let none = totals.column("share").unwrap().sum().unwrap_err();
    assert!(matches!(&none, SimulationError::NoSum { column } if column == "share"));
    assert!(none.to_string().contains("f32"), "{none}");
    let unknown = totals.column("wait").unwrap_err().to_string();
    assert!(unknown.contains("`wait`") && unknown.contains("wait.sum, wait.squares"), "{unknown}");
}

/// Numbers at the edges of words, one column of each type, from `data`.
#[derive(Clone)]
struct Edges {
    data: Vec<u32>,
    lps: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Edge {
    wide: [u64; 2],
    long: u64,
    word: u32,
    signed: i32,
    real: f32,
    kind: u32,
    spare: [u32; 2],
}

impl Model for Edges {
    type State = u32;
    type Params = ();
    type Payload = [u32; 2];
    type Output = Edge;

    fn name(&self) -> &str {
        "edges"
    }
    fn source(&self) -> Source {
        let text = "struct State { word: u32 }
            @group(1) @binding(1) var<storage, read> data: array<u32>;
            struct Output { wide: vec4<u32>, long: vec2<u32>, word: u32, signed: i32, real: f32, kind: u32, spare: vec2<u32> }
            fn init(lp: u32, state: ptr<function, State>) {}
            fn handle(lp: u32, event: Event, state: ptr<function, State>) {}
            fn at(i: u32) -> u32 { return data[i % arrayLength(&data)]; }
            fn output(lp: u32, state: ptr<function, State>) -> Output {
                let i = lp * 3u;
                return Output(
                    vec4<u32>(at(i), at(i + 1u), at(i + 2u), at(i + 3u)), vec2<u32>(at(i + 4u), at(i + 5u)), at(i + 6u),
                    bitcast<i32>(at(i + 7u)), bitcast<f32>(at(i + 8u) & 0xff7fffffu), at(i + 9u), vec2<u32>());
            }";
        Source::new("edges.wgsl", text)
    }
    fn lps(&self) -> u32 {
        self.lps
    }
    fn lookahead(&self) -> Ticks {
        Ticks::new(1)
    }
    fn params(&self) {}
    fn data(&self) -> &[u32] {
        &self.data
    }
    fn capacity(&self) -> Capacity {
        Capacity { queue: 1, mailbox: 1 }
    }
}

impl CpuModel for Edges {
    fn init(&self, _: u32, _: &mut u32, _: &mut Context<'_>) {}
    fn handle(&self, _: u32, _: &Event, _: &mut u32, _: &mut Context<'_>) {}
    fn output(&self, lp: u32, _: &u32, _: &mut Context<'_>) -> Edge {
        // The buffer is rounded up to 16 bytes, which `arrayLength` includes: here the length is a
        // multiple of 4.
        let at = |i: u32| self.data[(lp * 3 + i) as usize % self.data.len()];
        let long = |i| u64::from(at(i + 1)) << 32 | u64::from(at(i));
        Edge {
            wide: [long(0), long(2)],
            long: long(4),
            word: at(6),
            signed: at(7).cast_signed(),
            real: f32::from_bits(at(8) & 0xff7f_ffff),
            kind: at(9),
            spare: [0; 2],
        }
    }
}

#[test]
fn numbers_at_the_edges_of_words() {
    let gpu = gpu();
    let edges = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_fffe, 0xffff_ffff];
    for &period in few(3, &[4, 28, 52, 8, 12]) {
        let mixed = (0..period).map(|i: u32| edges[(i * 5 + i / 7) as usize % 8]).collect();
        for data in [mixed, vec![u32::MAX; period as usize], vec![0; period as usize]] {
            for lps in [1, 2, 200, 1030] {
                same(&gpu, &Edges { data: data.clone(), lps }, Options::default(), "kind");
            }
        }
    }
}

#[test]
fn a_sum_at_the_bound_fits_and_one_more_does_not() {
    let gpu = gpu();
    for (lowest, fits) in [(4, true), (5, false)] {
        // For two LPs, the second of which begins at the last word of the first: a sum of 2^128 -
        // 1, and of one more.
        let data = vec![lowest, 7, 1 << 31, !4, !7, !(1 << 31), 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let (outputs, totals) = same(&gpu, &Edges { data, lps: 2 }, Options::default(), "kind");
        let Values::U128(wide) = outputs.column("wide").unwrap().values else { panic!() };
        assert_eq!(wide[0].checked_add(wide[1]), fits.then_some(u128::MAX));
        assert_eq!(totals.column("wide").unwrap().sum().is_ok(), fits);
    }
}

#[test]
fn a_million_lps_take_several_dispatches() {
    let data = (0..28).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).collect();
    same(&gpu(), &Edges { data, lps: (1 << 20) + 5 }, Options::default(), "kind");
}

#[test]
fn classes_up_to_the_bound() {
    let gpu = gpu();
    let classes = |lps: u32| {
        let model =
            Counted { lps, first_kinds: (0..lps).map(|lp| lp * 1_000_003).collect(), ..Counted::new(lps) };
        Simulation::new(&gpu, &model, Options::default()).unwrap().totals(END, Some("kind"))
    };
    let most = u32::try_from(MAX_CLASSES).unwrap();
    assert_eq!(classes(most).unwrap().classes().len(), MAX_CLASSES);
    let first_kinds = (0..most).rev().map(|lp| lp / 3 * 1_000_003).collect();
    same(&gpu, &Counted { first_kinds, ..Counted::new(most) }, seeded(1), "kind");
    let error = classes(most + 1).unwrap_err();
    assert!(
        matches!(&error, SimulationError::TooManyClasses { column, most: MAX_CLASSES } if column == "kind")
    );
    assert!(error.to_string().contains("4096"), "{error}");
    let model = Counted { first_kinds: (0..5000).collect(), ..Counted::new(5000) };
    let cpu =
        CpuSimulation::in_rust(&model, Options::default()).unwrap().totals(END, Some("lp")).unwrap_err();
    assert!(matches!(cpu, SimulationError::TooManyClasses { .. }));

    let model = Counted::new(10);
    let simulation = Simulation::new(&gpu, &model, Options::default()).unwrap();
    let cpu = CpuSimulation::in_rust(&model, Options::default()).unwrap();
    for (name, words) in [("drift", "not a u32"), ("kinds", "no result column `kinds`"), ("wait", "wait.sum")]
    {
        let found = simulation.totals(END, Some(name)).unwrap_err().to_string();
        assert!(found.contains(words) && found.contains(name), "{found}");
        assert_eq!(found, cpu.totals(END, Some(name)).unwrap_err().to_string());
    }
}
