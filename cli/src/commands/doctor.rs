//! Lists the adapters and tests that the default one does what the library requires. Bug reports
//! should contain its output.
//!
//! Shows: `self_test`, and the properties of a device that matter to the library. The exit code is
//! 1 if a check fails. With --quick there is one check, a small run that is compared with the
//! sequential engine.
//!
//! ```text
//! eventhorizon doctor
//! eventhorizon doctor --quick
//! eventhorizon doctor --json report.json
//! WGPU_ADAPTER_NAME=llvmpipe eventhorizon doctor      # another adapter than the best
//! ```

use std::io::{Write as _, stdout};
use std::time::Instant;

use clap::Parser;
use eventhorizon::gpu::{Gpu, SLICE, Subgroups};
use eventhorizon::models::Phold;
use eventhorizon::pdes::{CpuSimulation, Options, Simulation, Until};
use eventhorizon::self_test::{Check, SelfTest};
use eventhorizon::time::Resolution;
use serde_json::{Value, json};

use crate::shared::{self, Outcome};

/// Print adapters and test the default one
#[derive(Parser)]
pub struct Args {
    /// Print the adapters and test none
    #[arg(long)]
    list: bool,
    /// Print the adapters and make one check: a small run on the default adapter, compared with the
    /// CPU
    #[arg(long, conflicts_with = "list")]
    quick: bool,
    #[command(flatten)]
    json: shared::Json,
}

pub fn run(args: &Args) -> Outcome<()> {
    shared::check_files(&[args.json.file()])?;
    let reported = !args.json.on_stdout();
    let adapters = pollster::block_on(adapters());
    let gpu = Gpu::new()?;
    if reported {
        writeln!(stdout(), "eventhorizon {}, {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS)?;
        writeln!(stdout(), "\nadapters")?;
        for adapter in &adapters {
            writeln!(stdout(), "  {}", line(adapter))?;
        }
        writeln!(stdout(), "\nthe library uses\n  {gpu}")?;
    }
    let paths = paths(&gpu);
    if reported {
        for (what, how) in &paths {
            writeln!(stdout(), "  {what:<24}{how}")?;
        }
    }
    let mut object = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "system": std::env::consts::OS,
        "adapters": adapters,
        "adapter": gpu.info().name,
        "paths": paths.iter().map(|(what, how)| ((*what).to_owned(), Value::from(how.as_str()))).collect::<serde_json::Map<_, _>>(),
        "limits": format!("{:?}", gpu.limits()),
        "features": format!("{:?}", gpu.features()),
    });
    if args.list {
        return args.json.write(&object);
    }
    if reported {
        writeln!(stdout(), "\nchecks")?;
    }
    let report = match args.quick {
        true => SelfTest { checks: vec![small_run(&gpu)] },
        false => eventhorizon::self_test(&gpu),
    };
    if reported {
        for line in report.to_string().lines() {
            writeln!(stdout(), "  {line}")?;
        }
    }
    let checks = report.checks.iter().map(|check| {
        json!({
            "name": check.name,
            "passed": check.outcome.is_ok(),
            "note": check.outcome.as_ref().unwrap_or_else(|wrong| wrong),
            "seconds": check.took.as_secs_f64(),
        })
    });
    object["checks"] = checks.collect();
    object["passed"] = report.passed().into();
    let verdict = match report.failures().next() {
        None => Ok(()),
        Some(first) => Err(format!(
            "this adapter fails the check of {}, which the library requires. Update its driver, or choose another adapter \
             (WGPU_ADAPTER_NAME); please report the output above",
            first.name
        )
        .into()),
    };
    shared::all([args.json.write(&object), verdict])
}

/// The check of --quick.
fn small_run(gpu: &Gpu) -> Check {
    let begun = Instant::now();
    let outcome = compared(gpu).map_err(|error| error.to_string());
    Check { name: "PHOLD, a small run".to_owned(), outcome, took: begun.elapsed() }
}

/// Runs PHOLD on the device and on the CPU, and compares events and fingerprints.
fn compared(gpu: &Gpu) -> Outcome<String> {
    let seconds = Resolution::default();
    let model = Phold::new(64, 4, 0.1, 10.0, seconds)?;
    let end = Until::time(seconds.ticks(100.0)?);
    let mut simulation = Simulation::new(gpu, &model, Options::default().seed(1))?;
    let mut reference = CpuSimulation::new(&model, Options::default().seed(1))?;
    let events = reference.run(end)?.events;
    let found = (simulation.run(end)?.events, simulation.fingerprint()?);
    shared::same(&found, &(events, reference.fingerprint()), "events and fingerprint")?;
    Ok(format!("{events} events, equal on the CPU"))
}

/// The adapters as wgpu reports them.
async fn adapters() -> Vec<Value> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let backends = wgpu::Backends::from_env().unwrap_or(wgpu::Backends::PRIMARY);
    let found = instance.enumerate_adapters(backends).await;
    let adapter = |adapter: &wgpu::Adapter| {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        json!({
            "name": info.name,
            "backend": format!("{:?}", info.backend),
            "type": format!("{:?}", info.device_type),
            "driver": format!("{} {}", info.driver, info.driver_info),
            "max_buffer_size": limits.max_buffer_size,
            "max_storage_buffer_binding_size": limits.max_storage_buffer_binding_size,
            "max_storage_buffers_per_shader_stage": limits.max_storage_buffers_per_shader_stage,
            "max_compute_workgroup_storage_size": limits.max_compute_workgroup_storage_size,
            "max_compute_invocations_per_workgroup": limits.max_compute_invocations_per_workgroup,
            "subgroups": adapter.features().contains(wgpu::Features::SUBGROUP),
            "int64": adapter.features().contains(wgpu::Features::SHADER_INT64),
        })
    };
    found.iter().map(adapter).collect()
}

fn line(adapter: &Value) -> String {
    let text = |key: &str| adapter[key].as_str().unwrap_or_default().to_owned();
    let number = |key: &str| adapter[key].as_u64().unwrap_or_default();
    let mut line = format!(
        "{} ({}, {}, {}): bindings of {} MiB, {} of them, {} KiB of workgroup memory, workgroups of {}",
        text("name"),
        text("backend"),
        text("type"),
        text("driver").trim(),
        number("max_storage_buffer_binding_size") >> 20,
        number("max_storage_buffers_per_shader_stage"),
        number("max_compute_workgroup_storage_size") >> 10,
        number("max_compute_invocations_per_workgroup"),
    );
    for (key, name) in [("subgroups", ", subgroups"), ("int64", ", 64-bit integers")] {
        if adapter[key] == true {
            line += name;
        }
    }
    line
}

/// The methods that the library would use on this device.
fn paths(gpu: &Gpu) -> Vec<(&'static str, String)> {
    let limits = gpu.limits();
    let whole = |subgroups: &Subgroups| {
        let sizes = subgroups
            .layouts()
            .iter()
            .filter(|layout| layout.whole)
            .map(|layout| layout.group_size.to_string());
        match sizes.collect::<Vec<_>>() {
            none if none.is_empty() => "not used: no workgroup size has only whole subgroups".to_owned(),
            sizes => format!("in sorts, scans and teams, in workgroups of {}", sizes.join(", ")),
        }
    };
    let products = match gpu.has(wgpu::Features::SHADER_INT64) {
        true => "with the device's 64-bit integers",
        false => "from halves of 16 bits: the device has no 64-bit integers",
    };
    let runs = match gpu.info().device_type {
        wgpu::DeviceType::Cpu => "by threads: the adapter is software",
        _ => "by teams or threads, whichever is faster in a trial; large runs one after the other",
    };
    let neighbours = match limits.max_compute_invocations_per_workgroup {
        most @ 0..=256 => format!("relaxed in workgroups of {most}"),
        most => format!("relaxed in workgroups of up to {most}"),
    };
    vec![
        ("subgroups", gpu.subgroups().as_ref().map_or("not used: the device has none".into(), whole)),
        ("products", products.into()),
        (
            "bindings",
            format!(
                "{} storage buffers of {} MiB",
                limits.max_storage_buffers_per_shader_stage,
                gpu.max_buffer_bytes() >> 20
            ),
        ),
        ("workgroup memory", format!("{} KiB", limits.max_compute_workgroup_storage_size >> 10)),
        ("per-LP bounds", neighbours),
        ("many runs at once", runs.into()),
        ("submissions", format!("of about {} ms", SLICE.as_millis())),
        ("compiled kernels", shared::cache::describe(gpu)),
        ("costs of studies", shared::cache::describe_costs(gpu)),
    ]
}
