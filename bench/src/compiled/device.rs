//! Compiled networks on a device, against the interpreter there.

use std::io::{Write as _, stdout};
use std::time::Instant;

use eventhorizon::Backend;
use eventhorizon::facility::{CompiledNetwork, DeviceNetwork, Facility, Form, NativeNetwork, Network, Study};
use eventhorizon::gpu::Gpu;
use eventhorizon::time::Ticks;

use super::{Args, SEED};
use crate::shared::{Outcome, same};

/// Replications whose rows are compared with those of machine code.
const COMPARED: u32 = 64;

pub(super) fn run(args: &Args) -> Outcome<()> {
    let gpu = Gpu::new()?;
    writeln!(stdout(), "{}", gpu.info().name)?;
    writeln!(
        stdout(),
        "{:<24} {:>12} {:>10} {:>10} {:>10} {:>10} {:>14}",
        "network",
        "replications",
        "code",
        "cold s",
        "T s",
        "3 T s",
        "1e9 units/s"
    )?;
    for path in &args.networks {
        let network = Network::from_toml(&std::fs::read_to_string(path)?)?;
        measure(args, &gpu, &network)?;
    }
    Ok(())
}

/// A network and a length of its runs.
struct Case<'a> {
    args: &'a Args,
    name: &'a str,
    units: f64,
}

impl Case<'_> {
    /// Prints the slope between runs of a length and of three times the length: it leaves out what
    /// a run costs at its begin and end. `run` makes replications until a time.
    fn slope(&self, code: &str, cold: f64, mut run: impl FnMut(f64) -> Outcome<()>) -> Outcome<()> {
        let mut best = [f64::INFINITY; 2];
        run(self.units)?;
        for _ in 0..self.args.runs {
            for (best, factor) in best.iter_mut().zip([1.0, 3.0]) {
                let begun = Instant::now();
                run(factor * self.units)?;
                *best = best.min(begun.elapsed().as_secs_f64());
            }
        }
        let [short, long] = best;
        let replications = self.args.replications;
        let slope = f64::from(replications) * 2.0 * self.units / (long - short) * 1e-9;
        writeln!(
            stdout(),
            "{:<24} {replications:>12} {code:>10} {cold:>10.3} {short:>10.4} {long:>10.4} {slope:>14.4}",
            self.name
        )?;
        Ok(())
    }
}

fn measure(args: &Args, gpu: &Gpu, network: &Network) -> Outcome<()> {
    let facility = network.compile()?;
    let units = args.length * network.until.ok_or("the network has no `until`")?;
    let case = Case { args, name: &network.name, units };
    let until = |units: f64| facility.resolution().ticks(units);
    let compiled = CompiledNetwork::new(&facility)?;
    let native = NativeNetwork::new(&compiled)?;
    let forms = [(Form::Uniform, "uniform"), (Form::Switch, "switch")];
    for (form, code) in forms.into_iter().take(if args.switch { 2 } else { 1 }) {
        let begun = Instant::now();
        let mut device = DeviceNetwork::with_form(gpu, &compiled, form)?;
        let cold = begun.elapsed().as_secs_f64();
        let compared = args.replications.min(COMPARED);
        let times = [until(0.05 * units)?, until(0.2 * units)?];
        let rows = pollster::block_on(device.run(SEED, 0..compared, times))?;
        let expected = native.run(SEED, 0..compared, times)?;
        for (number, (rows, expected)) in rows.iter().zip(&expected).enumerate() {
            let words = |rows| bytemuck::cast_slice::<_, u32>(rows).to_vec();
            let equal = words(&rows[..]) == words(&expected[..]);
            same(&equal, &true, format_args!("equal rows of {}, {number}", network.name))?;
        }
        case.slope(code, cold, |units| {
            pollster::block_on(device.run(SEED, 0..args.replications, [Ticks::ZERO, until(units)?]))?;
            Ok(())
        })?;
    }
    if !args.alone {
        interpret(&case, gpu, &facility)?;
    }
    Ok(())
}

/// The interpreter on the device, as studies run it.
fn interpret(case: &Case<'_>, gpu: &Gpu, facility: &Facility) -> Outcome<()> {
    let study = |units: f64| {
        let study = Study::new(case.args.replications, units, 0.0).seed(SEED);
        facility.study(&study).backend(Backend::Gpu(gpu)).run()?;
        Ok(())
    };
    let begun = Instant::now();
    study(0.01 * case.units)?;
    case.slope("interp.", begun.elapsed().as_secs_f64(), study)
}
