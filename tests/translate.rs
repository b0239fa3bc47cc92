//! Every kernel that the library can link, translated to every language of wgpu's back ends, so
//! that a kernel that only Vulkan accepts fails here and not first on a Mac.
//!
//! Each set of files is linked once, each text parsed once, each entry point translated once with
//! each set of constants. This is a program of its own: it needs naga's back ends and no adapter.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use eventhorizon::gpu::{Program, Recipe, Source};
use eventhorizon::process::program::Size;
use eventhorizon::process::{Large, Medium, Printed, ProcessModel, ProcessRun, Sized3, Small, lower};
use eventhorizon::time::Ticks;
use eventhorizon::{hybrid, pdes, process};
use indexmap::IndexMap;
use naga::back::{PipelineConstants, pipeline_constants::process_overrides};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ShaderStage};
use rayon::prelude::*;
use wgpu::Features;

/// A model of LPs with results.
#[path = "common/counted.rs"]
#[allow(dead_code, unreachable_pub, reason = "only its WGSL is of use here")]
mod counted;

#[path = "common/kernels.rs"]
#[allow(unreachable_pub, reason = "others use it, too")]
mod kernels;

/// Process models with all statements.
#[path = "process/models.rs"]
#[allow(dead_code, unreachable_pub, reason = "others use it, too")]
mod processes;

/// A text with all kernels that are built from it.
struct Linked {
    program: Program,
    /// The names of the files that it was joined from.
    files: BTreeSet<String>,
    /// Entry points with constants, each pair once.
    kernels: BTreeSet<(&'static str, Vec<(&'static str, u64)>)>,
}

/// The recipes of `tests/common/kernels.rs` and those that only these tests link, by their text.
/// [`every_file_is_linked`] fails for a file of `shaders/` that none of them links.
static LINKED: LazyLock<Vec<Linked>> = LazyLock::new(|| {
    let handlers = hybrid::kernels(
        eventhorizon::wgsl!("wgsl/hybrid_batched.wgsl"),
        eventhorizon::wgsl!("wgsl/hybrid_team.wgsl"),
    );
    let results = pdes::output_kernels(&counted::Counted::new(1));
    let recipes = [kernels::recipes(), handlers, results, statistics(), of_processes()];
    let mut by_files: IndexMap<Vec<Source>, Vec<Recipe>> = IndexMap::new();
    for recipe in recipes.into_iter().flatten() {
        by_files.entry(recipe.sources().to_vec()).or_default().push(recipe);
    }
    let files = |program: &Program| {
        let lines = 1..=u32::try_from(program.text().lines().count()).unwrap();
        lines.filter_map(|line| Some(program.origin(line)?.0.to_owned())).collect()
    };
    let link = |recipes: Vec<Recipe>| {
        let program = recipes[0].link().unwrap_or_else(|error| panic!("{error}"));
        let bits = |recipe: &Recipe| {
            recipe.constants().into_iter().map(|(name, value)| (name, value.to_bits())).collect()
        };
        let kernels = recipes.iter().map(|recipe| (recipe.entry(), bits(recipe))).collect();
        Linked { files: files(&program), program, kernels }
    };
    let by_files: Vec<_> = by_files.into_values().collect();
    let mut linked: Vec<Linked> = by_files.into_par_iter().map(link).collect();
    // What runs on the CPU has no kernels.
    let process = Printed::new(lower(&processes::queue()).unwrap());
    for native in [pdes::native_sources(&counted::Counted::new(1)), process::run::native_sources(&process)] {
        let program = Program::link("native", &native).unwrap_or_else(|error| panic!("{error}"));
        linked.push(Linked { files: files(&program), program, kernels: BTreeSet::new() });
    }
    // Files in another order, or under another name, can give the same text.
    let mut by_text: IndexMap<(String, Features), Linked> = IndexMap::new();
    for linked in linked {
        let text = (linked.program.text().to_owned(), linked.program.features());
        match by_text.get_mut(&text) {
            None => drop(by_text.insert(text, linked)),
            Some(same) => {
                same.files.extend(linked.files);
                same.kernels.extend(linked.kernels);
            }
        }
    }
    by_text.into_values().collect()
});

/// The functions that models may use in their states: kernels that test only these. No model of the
/// library has a histogram yet.
fn statistics() -> Vec<Recipe> {
    let probe = eventhorizon::wgsl!("wgsl/statistics_probe.wgsl");
    let lines = include_str!("wgsl/statistics_probe.wgsl").lines();
    let names = lines.filter_map(|line| Some(line.strip_prefix("fn ")?.split_once('(')?.0));
    let entries: Vec<_> = names.filter(|name| name.starts_with("probe_")).collect();
    let products = [
        eventhorizon::wgsl!("../shaders/random/mul_wide.wgsl"),
        eventhorizon::wgsl!("../shaders/random/mul_wide_int64.wgsl"),
    ];
    let of = |product: &Source| {
        let sources = [probe.clone(), product.clone()];
        let recipes = entries.iter().map(|entry| Recipe::new("statistics", entry, sources.clone()));
        recipes.collect::<Vec<_>>()
    };
    products.iter().flat_map(of).collect()
}

/// Kernels of programs that process models are compiled into.
fn of_processes() -> Vec<Recipe> {
    fn kernels<S: Sized3>(printed: Printed) -> Vec<Recipe> {
        let run = ProcessRun::<S>::new(printed.into(), &[], Ticks::ZERO, 64);
        pdes::handler_kernels(&run.unwrap_or_else(|error| panic!("{error}")))
    }
    let kernels = |(number, model): (usize, ProcessModel)| {
        let printed = Printed::new(lower(&model).unwrap_or_else(|error| panic!("{}: {error}", model.name)));
        // The kernels differ in their library's parts, which are the same for all models.
        let slices = process::run::kernels(&printed).into_iter().take(if number == 0 { 4 } else { 1 });
        let slices: Vec<_> = slices.collect();
        let of_engine = match printed.program.size {
            Size::Small => kernels::<Small>(printed),
            Size::Medium => kernels::<Medium>(printed),
            Size::Large => kernels::<Large>(printed),
        };
        slices.into_iter().chain(of_engine).collect::<Vec<_>>()
    };
    processes::models().into_iter().enumerate().flat_map(kernels).collect()
}

/// An entry point with its overrides replaced by their values: what wgpu hands to a back end.
struct Shader {
    entry: &'static str,
    program: &'static Program,
    module: Module,
    info: ModuleInfo,
}

/// A check that every kernel passes.
type Check = fn(&Shader) -> Result<(), String>;

/// Each has a test. All run on a kernel at once, so that its overrides are processed once.
const CHECKS: [Check; 5] = [spirv, msl, hlsl, glsl, default_limits];

/// By check, the kernels that fail it.
static FAILURES: LazyLock<[Vec<String>; CHECKS.len()]> = LazyLock::new(|| {
    let failures = LINKED.par_iter().flat_map_iter(failures).collect::<Vec<_>>();
    let mut by_check = CHECKS.map(|_| Vec::new());
    for (check, failure) in failures {
        by_check[check].push(failure);
    }
    by_check
});

/// The numbers of checks that the kernels of a text fail, and why.
fn failures(linked: &'static Linked) -> Vec<(usize, String)> {
    let program = &linked.program;
    let module = naga::front::wgsl::parse_str(program.device_text()).unwrap();
    let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module).unwrap();
    let mut failures = Vec::new();
    for (entry, constants) in &linked.kernels {
        let values = constants.iter().map(|&(name, bits)| (name.to_owned(), f64::from_bits(bits)));
        let constants: PipelineConstants = values.collect();
        let name = format!("{}::{entry} {constants:?}", program.name());
        let point = Some((ShaderStage::Compute, *entry));
        let (module, info) = process_overrides(&module, &info, point, &constants)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let (module, info) = (module.into_owned(), info.into_owned());
        let shader = Shader { entry, program, module, info };
        for (number, check) in CHECKS.into_iter().enumerate() {
            if let Err(error) = check(&shader) {
                failures.push((number, format!("{name}: {error}")));
            }
        }
    }
    failures
}

/// Reports all kernels that fail a check, by its place in [`CHECKS`].
fn passed(check: usize) {
    assert!(FAILURES[check].is_empty(), "{}", FAILURES[check].join("\n"));
}

#[test]
fn every_file_is_linked() {
    fn walk(folder: &Path, found: &mut BTreeSet<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => walk(&path, found),
                false => drop(found.insert(path.canonicalize().unwrap())),
            }
        }
    }
    let mut missing = BTreeSet::new();
    walk(Path::new("shaders"), &mut missing);
    assert!(!missing.is_empty());
    for name in LINKED.iter().flat_map(|linked| &linked.files).collect::<BTreeSet<_>>() {
        // What is made of a process model is no file.
        if let Ok(path) = Path::new(name).canonicalize() {
            missing.remove(&path);
        }
    }
    assert!(missing.is_empty(), "in no program of LINKED: {missing:?}");
}

/// Programs with one of these files are built without run-time checks (`Recipe::trusted`).
const TRUSTED: [&str; 7] = [
    "shaders/facility/event_list.wgsl",
    "shaders/matching/",
    "shaders/pdes/calendar/calendar_sort.wgsl",
    "shaders/primitives/",
    "shaders/queue/parallel_heap.wgsl",
    "shaders/replication/",
    "shaders/search/",
];

#[test]
fn files_of_trusted_kernels_say_why_they_need_no_checks() {
    let (mut seen, mut missing) = (BTreeSet::<&str>::new(), BTreeSet::new());
    for Linked { files: names, .. } in LINKED.iter() {
        let of: Vec<_> =
            TRUSTED.iter().filter(|trusted| names.iter().any(|name| name.starts_with(*trusted))).collect();
        if of.is_empty() {
            continue;
        }
        seen.extend(of.into_iter().copied());
        // Models may use functions that the library does not check.
        let is_library = |name: &&String| name.starts_with("shaders/") && !name.contains("/models/");
        for name in names.iter().filter(is_library) {
            let text = std::fs::read_to_string(name).unwrap();
            if !text.lines().any(|line| line.starts_with("// bounds: ")) {
                missing.insert(name.clone());
            }
        }
    }
    assert_eq!(seen.len(), TRUSTED.len(), "{seen:?}");
    assert!(missing.is_empty(), "no `// bounds:` in {missing:?}");
}

#[test]
fn kernels_translate_to_spirv() {
    passed(0);
}

#[test]
fn kernels_translate_to_msl() {
    passed(1);
}

#[test]
fn kernels_translate_to_hlsl() {
    passed(2);
}

#[test]
fn kernels_translate_to_glsl() {
    passed(3);
}

#[test]
fn kernels_without_features_fit_the_default_limits_of_webgpu() {
    passed(4);
}

fn spirv(shader: &Shader) -> Result<(), String> {
    use naga::back::spv;
    let subgroups = shader.program.features().contains(Features::SUBGROUP);
    let options = spv::Options {
        lang_version: if subgroups { (1, 3) } else { (1, 0) }, // Vulkan 1.1 and 1.0
        fake_missing_bindings: true,                           // wgpu gives them
        ..Default::default()
    };
    let point =
        spv::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: shader.entry.to_owned() };
    match spv::write_vec(&shader.module, &shader.info, &options, Some(&point)) {
        Ok(words) if words[0] == 0x0723_0203 => Ok(()),
        Ok(words) => Err(format!("SPIR-V that begins with {:#x}", words[0])),
        Err(error) => Err(error.to_string()),
    }
}

fn msl(shader: &Shader) -> Result<(), String> {
    use naga::back::msl;
    let options = msl::Options { lang_version: (2, 4), fake_missing_bindings: true, ..Default::default() };
    let point = msl::PipelineOptions {
        entry_point: Some((ShaderStage::Compute, shader.entry.to_owned())),
        ..Default::default()
    };
    let (_, reflection) = msl::write_string(&shader.module, &shader.info, &options, &point)
        .map_err(|error| error.to_string())?;
    reflection.entry_point_names.into_iter().try_for_each(|name| name.map(drop)).map_err(|e| e.to_string())
}

fn hlsl(shader: &Shader) -> Result<(), String> {
    use naga::back::hlsl::{Options, PipelineOptions, ShaderModel, Writer};
    // Every Windows has a compiler for 5.1, which wgpu falls back to.
    let shader_model =
        if shader.program.features().is_empty() { ShaderModel::V5_1 } else { ShaderModel::V6_0 };
    let options = Options { shader_model, ..Default::default() };
    let point = PipelineOptions { entry_point: Some((ShaderStage::Compute, shader.entry.to_owned())) };
    let mut text = String::new();
    let reflection = Writer::new(&mut text, &options, &point)
        .write(&shader.module, &shader.info, None)
        .map_err(|error| error.to_string())?;
    reflection.entry_point_names.into_iter().try_for_each(|name| name.map(drop)).map_err(|e| e.to_string())
}

fn glsl(shader: &Shader) -> Result<(), String> {
    use naga::back::glsl::{Error, Options, PipelineOptions, Version, Writer};
    let options = Options { version: Version::new_gles(310), ..Default::default() };
    let point = PipelineOptions {
        shader_stage: ShaderStage::Compute,
        entry_point: shader.entry.to_owned(),
        multiview: None,
    };
    let mut text = String::new();
    let result = Writer::new(
        &mut text,
        &shader.module,
        &shader.info,
        &options,
        &point,
        naga::proc::BoundsCheckPolicies::default(),
    )
    .and_then(|mut writer| writer.write());
    // naga writes no 64-bit integers in GLSL, and wgpu offers none on OpenGL. A kernel of a program
    // with that feature may work without it; the linker refuses them without the feature.
    let narrow = Capabilities::all() - Capabilities::SHADER_INT64;
    let wide = shader.program.features().contains(Features::SHADER_INT64)
        && Validator::new(ValidationFlags::all(), narrow).validate(&shader.module).is_err();
    match result {
        Err(Error::UnsupportedScalar(scalar)) if wide && scalar.width == 8 => Ok(()),
        Ok(_) if wide => Err("naga writes 64-bit integers now: no longer expect it to fail".to_owned()),
        result => result.map(drop).map_err(|error| error.to_string()),
    }
}

fn default_limits(shader: &Shader) -> Result<(), String> {
    let limits = wgpu::Limits::default();
    if !shader.program.features().is_empty() {
        return Ok(());
    }
    let module = &shader.module;
    let workgroup: u32 = module
        .global_variables
        .iter()
        .filter(|(_, variable)| variable.space == AddressSpace::WorkGroup)
        .map(|(_, variable)| module.types[variable.ty].inner.size(module.to_ctx()).next_multiple_of(16))
        .sum();
    let used = || shader.program.used(shader.entry);
    if used().any(|variable| variable.name.as_deref() == Some("store_1")) {
        return Ok(()); // on adapters with more bindings another kernel is used
    }
    let storage = used().filter(|variable| matches!(variable.space, AddressSpace::Storage { .. })).count();
    let [x, y, z] = module.entry_points[0].workgroup_size;
    for (what, used, limit) in [
        ("bytes of workgroup memory", workgroup, limits.max_compute_workgroup_storage_size),
        ("storage buffers", u32::try_from(storage).unwrap(), limits.max_storage_buffers_per_shader_stage),
        ("invocations in a workgroup", x * y * z, limits.max_compute_invocations_per_workgroup),
    ] {
        if used > limit {
            return Err(format!("{used} {what}, and the limit is {limit}"));
        }
    }
    Ok(())
}

/// Tint, the compiler of Chrome, is stricter than naga, above all about barriers in non-uniform
/// control flow.
#[test]
fn tint_accepts_kernels() {
    if Command::new("tint").arg("--help").output().is_err() {
        // Bypasses the test runner, which hides the output of passing tests.
        writeln!(std::io::stderr(), "not checked with tint, which is not on the PATH").unwrap();
        return;
    }
    let mut failures = String::new();
    for (number, Linked { program, .. }) in LINKED.iter().enumerate() {
        if program.features().contains(Features::SHADER_INT64) {
            continue; // not in WebGPU
        }
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kernel_{number}.wgsl"));
        std::fs::write(&file, program.standard_text()).unwrap();
        let output = Command::new("tint").args(["--format", "wgsl"]).arg(&file).output().unwrap();
        if !output.status.success() {
            failures += &format!("{}: {}\n", program.name(), String::from_utf8_lossy(&output.stderr));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
