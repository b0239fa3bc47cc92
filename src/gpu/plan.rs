//! Recorded work: dispatches, copies and clears, described once and recorded any number of times.

use std::borrow::Cow;
use std::fmt;

use super::kernel::grid;
use super::{Bindings, Gpu, GpuError, Kernel, Submission};

/// A list of GPU work with the buffers that it uses. It keeps them alive.
///
/// A plan is built once, recorded into any encoder any number of times, and has a readable
/// `Display`. Steps run in order; each sees the writes of the earlier ones.
#[derive(Debug, Clone)]
pub struct Plan {
    label: Cow<'static, str>,
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
enum Step {
    Dispatch {
        kernel: Kernel,
        bindings: Bindings,
        work: Work,
    },
    Copy {
        label: Cow<'static, str>,
        from: wgpu::Buffer,
        from_byte: u64,
        to: wgpu::Buffer,
        to_byte: u64,
        bytes: u64,
    },
    Clear {
        label: Cow<'static, str>,
        buffer: wgpu::Buffer,
        bytes: u64,
    },
}

/// The number of workgroups of a dispatch.
#[derive(Debug, Clone)]
enum Work {
    Workgroups(u32),
    /// Three words that a kernel writes: x, y, z.
    Indirect {
        buffer: wgpu::Buffer,
        byte: u64,
    },
}

impl Plan {
    /// An empty plan.
    #[doc(hidden)]
    pub fn new(label: impl Into<Cow<'static, str>>) -> Self {
        Self { label: label.into(), steps: Vec::new() }
    }

    /// Whether it has no steps.
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Adds a dispatch of `workgroups` workgroups, with buffers by the names of their WGSL
    /// variables.
    ///
    /// Beyond the device's limit per dimension the grid gets a second dimension: see
    /// [`Kernel::dispatch`].
    ///
    /// # Errors
    /// As [`Kernel::bind`].
    #[doc(hidden)]
    pub fn dispatch(
        &mut self,
        gpu: &Gpu,
        kernel: &Kernel,
        workgroups: u32,
        buffers: &[(&str, wgpu::BindingResource<'_>)],
    ) -> Result<(), GpuError> {
        let bindings = kernel.bind(gpu, buffers)?;
        self.steps.push(Step::Dispatch {
            kernel: kernel.clone(),
            bindings,
            work: Work::Workgroups(workgroups),
        });
        Ok(())
    }

    /// Adds a dispatch that reads its number of workgroups when it runs: three words in
    /// `arguments`, from byte `byte` on.
    ///
    /// The buffer needs the usage `INDIRECT`, and the numbers must respect the device's limit per
    /// dimension: beyond it WebGPU runs nothing.
    ///
    /// # Errors
    /// As [`Kernel::bind`].
    #[doc(hidden)]
    pub fn dispatch_indirect(
        &mut self,
        gpu: &Gpu,
        kernel: &Kernel,
        (arguments, byte): (&wgpu::Buffer, u64),
        buffers: &[(&str, wgpu::BindingResource<'_>)],
    ) -> Result<(), GpuError> {
        let bindings = kernel.bind(gpu, buffers)?;
        let work = Work::Indirect { buffer: arguments.clone(), byte };
        self.steps.push(Step::Dispatch { kernel: kernel.clone(), bindings, work });
        Ok(())
    }

    /// Adds a copy of `bytes` bytes between buffers, each with a first byte. All three numbers are
    /// multiples of 4.
    #[doc(hidden)]
    pub fn copy(
        &mut self,
        label: impl Into<Cow<'static, str>>,
        (from, from_byte): (&wgpu::Buffer, u64),
        (to, to_byte): (&wgpu::Buffer, u64),
        bytes: u64,
    ) {
        let (from, to) = (from.clone(), to.clone());
        self.steps.push(Step::Copy { label: label.into(), from, from_byte, to, to_byte, bytes });
    }

    /// Adds a step that clears a buffer to zero.
    #[doc(hidden)]
    pub fn clear(&mut self, label: impl Into<Cow<'static, str>>, buffer: &wgpu::Buffer) {
        let bytes = buffer.size();
        self.steps.push(Step::Clear { label: label.into(), buffer: buffer.clone(), bytes });
    }

    /// Adds the steps of another plan.
    #[doc(hidden)]
    pub fn append(&mut self, other: &Self) {
        self.steps.extend_from_slice(&other.steps);
    }

    /// Records the plan into an encoder. Consecutive dispatches share a compute pass.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        self.record_times(encoder, 1);
    }

    /// Records the plan `times` times, one after the other.
    #[doc(hidden)]
    pub fn record_times(&self, encoder: &mut wgpu::CommandEncoder, times: u32) {
        let mut steps = (0..times).flat_map(|_| &self.steps).peekable();
        while let Some(step) = steps.peek() {
            match step {
                Step::Dispatch { .. } => {
                    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                        label: Some(&self.label),
                        timestamp_writes: None,
                    });
                    let mut set = None;
                    while let Some(Step::Dispatch { kernel, bindings, work }) = steps.peek() {
                        dispatch(&mut pass, &mut set, kernel, bindings, work);
                        steps.next();
                    }
                    continue;
                }
                Step::Copy { from, from_byte, to, to_byte, bytes, .. } => {
                    encoder.copy_buffer_to_buffer(from, *from_byte, to, *to_byte, *bytes);
                }
                Step::Clear { buffer, .. } => encoder.clear_buffer(buffer, 0, None),
            }
            steps.next();
        }
    }

    /// Records the plan into the caller's compute pass.
    ///
    /// # Panics
    /// If it has copies or clears, which a pass cannot contain. The functions that return plans
    /// document it.
    pub fn record_in(&self, pass: &mut wgpu::ComputePass<'_>) {
        let mut set = None;
        for step in &self.steps {
            let Step::Dispatch { kernel, bindings, work } = step else {
                panic!("a compute pass accepts only dispatches, but the plan is\n{self}")
            };
            dispatch(pass, &mut set, kernel, bindings, work);
        }
    }

    /// Submits the plan alone.
    ///
    /// # Errors
    /// As [`Gpu::submit`].
    pub fn submit(&self, gpu: &Gpu) -> Result<Submission, GpuError> {
        let mut encoder = gpu.encoder(&self.label);
        self.record(&mut encoder);
        gpu.submit(encoder)
    }
}

/// Records one dispatch. `set` is the pass's current pipeline.
fn dispatch<'p>(
    pass: &mut wgpu::ComputePass<'_>,
    set: &mut Option<&'p wgpu::ComputePipeline>,
    kernel: &'p Kernel,
    bindings: &Bindings,
    work: &Work,
) {
    if *set != Some(kernel.pipeline()) {
        pass.set_pipeline(kernel.pipeline());
        *set = Some(kernel.pipeline());
    }
    bindings.set(pass);
    match work {
        Work::Workgroups(workgroups) => {
            let (x, y) = grid(*workgroups, kernel.max_groups());
            pass.dispatch_workgroups(x, y, 1);
        }
        Work::Indirect { buffer, byte } => pass.dispatch_workgroups_indirect(buffer, *byte),
    }
}

/// One line for each step: its kernel, its workgroups, and the buffers that it reads and writes.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "plan \"{}\"", self.label)?;
        for (number, step) in self.steps.iter().enumerate() {
            write!(f, "{number:4}  ")?;
            match step {
                Step::Dispatch { kernel, bindings, work } => {
                    write!(f, "dispatch {} x ", kernel.name())?;
                    match work {
                        Work::Workgroups(workgroups) => write!(f, "{workgroups}")?,
                        Work::Indirect { byte, .. } => write!(f, "(the words at byte {byte} of a buffer)")?,
                    }
                    bindings.describe(kernel, f)?;
                    writeln!(f)?;
                }
                Step::Copy { label, from_byte, to_byte, bytes, .. } => {
                    writeln!(f, "copy {label}: {bytes} bytes, from byte {from_byte} to byte {to_byte}")?;
                }
                Step::Clear { label, bytes, .. } => writeln!(f, "clear {label}: {bytes} bytes")?,
            }
        }
        Ok(())
    }
}
