//! The cost of random accesses to the device's memory, which bounds the speed of events there.

use std::io::{Write as _, stdout};

use clap::Args as ClapArgs;
use eventhorizon::gpu::{Buffer, Gpu, Kernel, Program, Source};

use crate::shared::rates::or;
use crate::shared::{Outcome, same};
use crate::time;

/// Measure the cost of random accesses to the device's memory, by the size of that memory
///
/// Each invocation accesses random places, as events do. `read` loads 16 bytes, four times before
/// it needs any of them; `chain` loads the next 16 bytes after it has the last; `change` reads 16
/// bytes and writes them, one place after the other; `send` increments a counter and writes 16
/// bytes into one of many mailboxes. Reads are summed and sent items counted, so that no access can
/// be optimised away.
#[derive(ClapArgs)]
#[command(after_help = "\
Example:
  cargo run --release -p eventhorizon-bench -- access --mib 64,1024")]
pub(crate) struct Args {
    /// Set the sizes of the memory, in MiB. Default: 16, 64, 256 and 1024
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    mib: Vec<u32>,
    /// Set the numbers of invocations. Default: 32768 and 1048576
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(64..=1 << 22))]
    invocations: Vec<u32>,
}

/// Accesses per invocation.
const EACH: u32 = 64;
/// Slots per mailbox.
const MAILBOX: u32 = 4;

const ACCESS: &str = "
struct Params { rows: u32, mailboxes: u32, first: u32, unused: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> memory: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> found: array<u32>;

fn mixed(word: u32) -> u32 {
    var x = (word ^ (word >> 16u)) * 0x7feb352du;
    x = (x ^ (x >> 15u)) * 0x846ca68bu;
    return x ^ (x >> 16u);
}

// The place of an access of an invocation, for 2^27 distinct accesses.
fn place(lane: u32, access: u32, count: u32) -> u32 {
    return mixed(params.first + lane * 64u + access) % count;
}

@compute @workgroup_size(64)
fn read(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = 0u;
    for (var i = 0u; i < 64u; i += 4u) {
        let a = memory[place(id.x, i, params.rows)];
        let b = memory[place(id.x, i + 1u, params.rows)];
        let c = memory[place(id.x, i + 2u, params.rows)];
        let d = memory[place(id.x, i + 3u, params.rows)];
        sum += a.x + b.x + c.x + d.x;
    }
    found[id.x] = sum;
}

@compute @workgroup_size(64)
fn chain(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = 0u;
    for (var i = 0u; i < 64u; i += 1u) {
        // The sum of the reads is their number, and gives the next place.
        sum += memory[place(id.x, sum, params.rows)].x;
    }
    found[id.x] = sum;
}

@compute @workgroup_size(64)
fn change(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = 0u;
    for (var i = 0u; i < 64u; i += 1u) {
        let at = place(id.x, i, params.rows);
        let row = memory[at];
        sum += row.x;
        memory[at] = vec4<u32>(row.x, row.yzw + i);
    }
    found[id.x] = sum;
}

@compute @workgroup_size(64)
fn send(@builtin(global_invocation_id) id: vec3<u32>) {
    for (var i = 0u; i < 64u; i += 1u) {
        let to = place(id.x, i, params.mailboxes);
        let index = atomicAdd(&counts[to], 1u);
        memory[to * 4u + index % 4u] = vec4<u32>(1u, id.x, i, index);
    }
    found[id.x] = 64u;
}
";

pub(crate) fn run(args: &Args) -> Outcome<()> {
    let gpu = Gpu::new()?;
    writeln!(stdout(), "{gpu}")?;
    writeln!(
        stdout(),
        "{:>7} {:>12} {:>8} {:>14} {:>22}",
        "MiB",
        "invocations",
        "access",
        "10^9 each s",
        "ns of an invocation's"
    )?;
    let program = Program::link("access", &[Source::new("access", ACCESS)])?;
    let kernels = ["read", "chain", "change", "send"]
        .map(|name| Kernel::new(&gpu, &program, name, &[]).map(|kernel| (name, kernel)));
    let kernels = kernels.into_iter().collect::<Result<Vec<_>, _>>()?;
    let limit = gpu.limits().max_storage_buffer_binding_size;
    for mib in or(&args.mib, &[16, 64, 256, 1024]) {
        let rows = u64::from(mib) << 16;
        if rows * 16 > limit {
            writeln!(stdout(), "{mib:7} exceeds the largest binding of this device: {} MiB", limit >> 20)?;
            continue;
        }
        let mailboxes = rows / u64::from(MAILBOX);
        let memory = Buffer::storage_from(&gpu, "memory", &vec![[1u32, 0, 0, 0]; usize::try_from(rows)?])?;
        for invocations in or(&args.invocations, &[1 << 15, 1 << 20]) {
            let invocations = invocations.next_multiple_of(64);
            let counts = Buffer::<u32>::storage(&gpu, "counts", mailboxes)?;
            let found = Buffer::<u32>::storage(&gpu, "found", invocations.into())?;
            let params = Buffer::uniform(
                &gpu,
                "params",
                &[u32::try_from(rows)?, u32::try_from(mailboxes)?, 0x9e37_79b9, 0],
            )?;
            for (name, kernel) in &kernels {
                found.write(&gpu, 0, &vec![u32::MAX; usize::try_from(found.len())?])?;
                let all = [
                    ("params", params.binding()),
                    ("memory", memory.binding()),
                    ("counts", counts.binding()),
                    ("found", found.binding()),
                ];
                let used = |entry: &str| match *name {
                    "send" => true,
                    _ => entry != "counts",
                };
                let buffers: Vec<_> = all.into_iter().filter(|(entry, _)| used(entry)).collect();
                let bindings = kernel.bind(&gpu, &buffers)?;
                let ms = time(&gpu, &|pass| kernel.dispatch(pass, &bindings, invocations / 64))?;
                let each = vec![EACH; usize::try_from(found.len())?];
                same(&(found.read(&gpu)? == each), &true, format!("accesses of `{name}`"))?;
                let accesses = f64::from(invocations) * f64::from(EACH);
                writeln!(
                    stdout(),
                    "{mib:7} {invocations:12} {name:>8} {:14.3} {:22.1}",
                    accesses / ms / 1e6,
                    ms * 1e6 / f64::from(EACH)
                )?;
            }
            let sent: u64 = counts.read(&gpu)?.into_iter().map(u64::from).sum();
            let whole = sent > 0 && sent.is_multiple_of(u64::from(invocations) * u64::from(EACH));
            same(&whole, &true, "the sent items")?;
        }
    }
    Ok(())
}
