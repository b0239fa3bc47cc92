//! A process model at a point of an experiment, as a model of the engine: one LP is one
//! replication.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;

use crate::gpu::{Source, Word};
use crate::pdes::{Capacity, Model};
use crate::time::Ticks;

use super::error::ProcessError;
use super::print;
use super::program::{MOST_ENTITIES, Program, Size};

/// State and output of the models of a [`Size`]: [`Small`], [`Medium`] or [`Large`].
pub trait Sized3: Debug + Clone + Copy + Send + Sync + 'static {
    /// The size.
    const SIZE: Size;
    /// Rows of state.
    type State: Pod + Rows;
    /// Rows of output.
    type Output: Pod + Rows + Send + Sync;
}

/// Rows of 16 bytes.
pub trait Rows {
    /// The rows.
    fn rows(&self) -> &[[u32; 4]];
    /// The rows, to be changed.
    fn rows_mut(&mut self) -> &mut [[u32; 4]];
}

impl<const N: usize> Rows for [[u32; 4]; N] {
    fn rows(&self) -> &[[u32; 4]] {
        self
    }

    fn rows_mut(&mut self) -> &mut [[u32; 4]] {
        self
    }
}

/// [`Size::Small`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Small;
/// [`Size::Medium`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Medium;
/// [`Size::Large`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Large;

impl Sized3 for Small {
    const SIZE: Size = Size::Small;
    type State = [[u32; 4]; Size::Small.state_rows() as usize];
    type Output = [[u32; 4]; Size::Small.output_rows() as usize];
}

impl Sized3 for Medium {
    const SIZE: Size = Size::Medium;
    type State = [[u32; 4]; Size::Medium.state_rows() as usize];
    type Output = [[u32; 4]; Size::Medium.output_rows() as usize];
}

impl Sized3 for Large {
    const SIZE: Size = Size::Large;
    type State = [[u32; 4]; Size::Large.state_rows() as usize];
    type Output = [[u32; 4]; Size::Large.output_rows() as usize];
}

/// A program with its WGSL: what all points and rooms share.
#[derive(Debug)]
pub struct Printed {
    /// The program.
    pub program: Program,
    /// Its WGSL as a model of `pdes`.
    pub source: Source,
    /// Its WGSL for runs without `pdes`.
    pub(super) slices: Source,
    /// The words of [`Program::data`], and of the tables of the text.
    pub data: Vec<u32>,
}

impl Printed {
    /// Prints a program.
    pub fn new(program: Program) -> Self {
        let (source, slices) = (print::wgsl(&program), print::slices(&program));
        let data = print::data(&program);
        Self { program, source, slices, data }
    }
}

/// A process model with the values of its parameters, the end of its warm-up, and room for
/// entities. Its size is that of its program ([`Program::size`]).
#[derive(Debug, Clone)]
pub struct ProcessRun<S: Sized3> {
    printed: Arc<Printed>,
    params: Arc<[u32]>,
    room: u32,
    size: PhantomData<S>,
}

impl<S: Sized3> ProcessRun<S> {
    /// A point of an experiment: values of [`Program::parameters`].
    ///
    /// # Errors
    /// [`ProcessError`], if a value does not fit, with its place.
    ///
    /// # Panics
    /// If `S` is not the size of the program.
    pub fn new(
        printed: Arc<Printed>,
        point: &[f64],
        warm_up: Ticks,
        room: u32,
    ) -> Result<Self, ProcessError> {
        assert_eq!(S::SIZE, printed.program.size, "the size of a run is that of its program");
        let room = room.clamp(1, MOST_ENTITIES);
        let params = printed.program.params(point, warm_up, room)?.into();
        Ok(Self { printed, params, room, size: PhantomData })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.printed.program
    }

    /// The words of `Params`.
    pub fn words(&self) -> &[u32] {
        &self.params
    }

    /// Room for entities.
    pub fn room(&self) -> u32 {
        self.room
    }
}

impl<S: Sized3> Model for ProcessRun<S> {
    type State = S::State;
    type Params = Word;
    type Payload = [u32; 2];
    type Output = S::Output;

    fn name(&self) -> &str {
        &self.printed.program.name
    }

    fn source(&self) -> Source {
        self.printed.source.clone()
    }

    fn lps(&self) -> u32 {
        1
    }

    fn lookahead(&self) -> Ticks {
        Ticks::NEVER
    }

    fn params(&self) -> Word {
        Word::default()
    }

    fn params_bytes(&self) -> Vec<u8> {
        bytemuck::cast_slice(&self.params).to_vec()
    }

    fn data(&self) -> &[u32] {
        &self.printed.data
    }

    fn memory_rows(&self) -> u32 {
        self.printed.program.memory_rows(self.room)
    }

    /// Each entity has at most one pending event besides cancelled ones; a source has one.
    fn capacity(&self) -> Capacity {
        Capacity { queue: 32.max(self.room / 2), mailbox: 1 }
    }
}
