//! The parts of a study, each on the CPU or on the device.

use std::ops::{ControlFlow, Range};

use web_time::Instant;

use crate::backend::{Backend, Chooser, Kind, Place};
use crate::gpu::Gpu;
use crate::pdes::{EngineOptions, Mapping, SimulationError};
use crate::statistics::Experiment;
use crate::time::Ticks;

use super::Facility;
use super::compiled::{CompiledNetwork, DeviceNetwork, Form};
use super::runner::{Replications, Runner};

/// Makes the replications of a study where its [`Chooser`] says.
pub(super) struct Makers<'g> {
    backend: Backend<'g>,
    options: EngineOptions,
    room: u32,
    chooser: Chooser<'g>,
    host: Option<Runner<'g>>,
    device: Option<Runner<'g>>,
    /// The device and how it ran replications, once it did.
    ran: Option<(&'g Gpu, Mapping)>,
}

impl<'g> Makers<'g> {
    /// `room` is the most that may wait at a station.
    pub(super) fn new(backend: Backend<'g>, options: EngineOptions, facility: &Facility, room: u32) -> Self {
        // Mappings are ways to use a device.
        let backend = backend.on_device_if(options.mapping != Mapping::Auto);
        let chooser = match CompiledNetwork::new(facility).ok().filter(CompiledNetwork::has_kernel) {
            Some(network) => Chooser::new(backend, Kind::Network).compiling(move |gpu| {
                // What fails here fails again when it is used, and is reported then.
                let _ = DeviceNetwork::with_form(gpu, &network, Form::Uniform);
            }),
            None => Chooser::new(backend, Kind::Interpreter),
        };
        Self { backend, options, room, chooser, host: None, device: None, ran: None }
    }

    /// Forgets what was made for another room of the facility.
    pub(super) fn clear(&mut self) {
        (self.host, self.device) = (None, None);
    }

    /// Makes the first replications of a range: at least one, unless `watch` stops it.
    pub(super) async fn run(
        &mut self,
        facility: &Facility,
        experiment: &Experiment,
        range: Range<u32>,
        until: Ticks,
        watch: impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<Replications, SimulationError> {
        let (place, count) = self.chooser.next(range.end - range.start, 1);
        let (runner, backend) = match place {
            Place::Host => (&mut self.host, Backend::Cpu),
            Place::Device(gpu) => (&mut self.device, Backend::Gpu(gpu)),
        };
        let runner = match runner {
            Some(runner) => runner,
            none => none.insert(Runner::new(backend, self.options, facility, self.room)?),
        };
        let began = Instant::now();
        let made = runner.run(experiment, range.start..range.start + count, until, watch).await?;
        self.chooser.took(place, made.runs.len(), began.elapsed());
        if let Place::Device(gpu) = place {
            self.ran = Some((gpu, made.mapping));
        }
        Ok(made)
    }

    /// Of a report: the engine, the adapter and the mapping.
    pub(super) fn names(&self) -> (&'static str, String, String) {
        match (self.ran, self.backend) {
            (Some((gpu, mapping)), _) => ("gpu", gpu.info().name.clone(), mapping.to_string()),
            (None, Backend::Gpu(gpu)) => ("gpu", gpu.info().name.clone(), String::new()),
            _ => ("cpu", "processor, all cores".to_owned(), "processor".to_owned()),
        }
    }
}
