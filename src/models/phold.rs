//! PHOLD, the standard benchmark of parallel discrete-event simulation.

use crate::ErrorKind;
use crate::gpu::Source;
use crate::pdes::{Capacity, Checkpoint, CheckpointError, Model};
use crate::text::{number, quoted};
use crate::time::{Resolution, Ticks, TimeError};

/// PHOLD as in Baudis et al. (section IV.A): `population` events per LP at the start, at
/// exponential times on random LPs; each event sends one to a uniformly random LP after the
/// lookahead plus an exponential delay. With [`Phold::with_neighbours`], the target is one of the
/// nearest LPs on a ring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phold {
    lps: u32,
    population: u32,
    /// 0 if an event may go to any LP.
    neighbours: u32,
    mean: Ticks,
    lookahead: Ticks,
    capacity: Capacity,
}

/// Why a PHOLD model was refused.
#[derive(Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PholdError {
    /// A rate that is not a positive number.
    #[error("the rate is {}; choose a positive number (events per unit of time)", number(*rate))]
    Rate {
        /// The rate.
        rate: f64,
    },
    /// An invalid delay or lookahead.
    #[error("the {what} is not a valid time: {source}")]
    Time {
        /// Which.
        what: &'static str,
        /// Why not.
        source: TimeError,
    },
    /// A population of zero.
    #[error("the population is 0, which leaves nothing to simulate; choose at least 1 event per LP")]
    NoPopulation,
    /// A number of neighbours that a ring of this many LPs does not have.
    #[error(
        "{neighbours} neighbours are impossible on a ring of {lps} LPs: {}",
        if *lps < 3 {
            "it must have at least 3 LPs".to_owned()
        } else {
            format!("choose an even number from 2 to {}", (lps - 1) & !1)
        }
    )]
    Neighbours {
        /// The requested number.
        neighbours: u32,
        /// The LPs.
        lps: u32,
    },
}

crate::text::debug_is_display!(PholdError);

impl PholdError {
    /// [`ErrorKind::Model`].
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Model
    }
}

impl Phold {
    /// `lps` LPs with `population` events each at the start; exponential delays with `rate` per
    /// unit of time, after a `lookahead` in units of time.
    ///
    /// # Errors
    /// [`PholdError`], naming the value.
    pub fn new(
        lps: u32,
        population: u32,
        rate: f64,
        lookahead: f64,
        resolution: Resolution,
    ) -> Result<Self, PholdError> {
        if !(rate.is_finite() && rate > 0.0) {
            return Err(PholdError::Rate { rate });
        }
        if population == 0 {
            return Err(PholdError::NoPopulation);
        }
        let time = |what, units| resolution.ticks(units).map_err(|source| PholdError::Time { what, source });
        let mean = time("mean delay (1 / rate)", 1.0 / rate)?;
        let lookahead = time("lookahead", lookahead)?;
        Ok(Self::of_times(lps, population, mean, lookahead, resolution))
    }

    /// The model of a saved run.
    ///
    /// # Errors
    /// [`CheckpointError::Foreign`] if it is not PHOLD.
    #[doc(hidden)]
    pub fn saved(checkpoint: &Checkpoint) -> Result<Self, CheckpointError> {
        let foreign = || CheckpointError::Foreign {
            what: format!("of the model `{}`, and this is `phold`", quoted(checkpoint.model())),
        };
        let lps = checkpoint.lps().end;
        let params: PholdParams = checkpoint.params().ok_or_else(foreign)?;
        let PholdParams { mean, population, neighbours } = params;
        // Capacities do not depend on the resolution.
        let model = Self::of_times(lps, population, mean, checkpoint.lookahead(), Resolution::default());
        let model = if neighbours == 0 { Ok(model) } else { model.with_neighbours(neighbours) };
        model.ok().filter(|model| model.name() == checkpoint.model() && population > 0).ok_or_else(foreign)
    }

    fn of_times(lps: u32, population: u32, mean: Ticks, lookahead: Ticks, resolution: Resolution) -> Self {
        // An LP holds Binomial(all events, 1 / LPs) events, bounded by a Poisson variable. Each
        // fires in a window, and is sent, with probability at most 1 - exp(-lookahead / mean
        // delay). Rounding down shortens a delay by less than one tick.
        let held = f64::from(population);
        let window = resolution.units(lookahead.saturating_add(Ticks::new(1)));
        let fires = match mean {
            Ticks::ZERO => 1.0,
            mean => -(-window / resolution.units(mean)).exp_m1(),
        };
        let capacity = Capacity::poisson(held, held * fires);
        Self { lps, population, neighbours: 0, mean, lookahead, capacity }
    }

    /// The same model on a ring: LP i sends only to the LPs i ± 1 to i ± `neighbours` / 2, all
    /// equally likely, also at the start. The WGSL declares this for
    /// [`Sync::Neighbours`](crate::pdes::Sync::Neighbours).
    ///
    /// # Errors
    /// [`PholdError::Neighbours`] unless it is an even number from 2 to one less than the LPs.
    pub fn with_neighbours(self, neighbours: u32) -> Result<Self, PholdError> {
        if neighbours == 0 || !neighbours.is_multiple_of(2) || neighbours >= self.lps {
            return Err(PholdError::Neighbours { neighbours, lps: self.lps });
        }
        // Capacities stay: events still move independently, and reach every LP equally often.
        Ok(Self { neighbours, ..self })
    }

    /// The rate of delays: the decimal number with the fewest digits that gives this mean delay.
    #[doc(hidden)]
    pub fn rate(&self, resolution: Resolution) -> f64 {
        let exact = match self.mean {
            // A quarter of a tick, which rounds to zero.
            Ticks::ZERO => 4.0 * f64::from(resolution.ticks_per_unit()),
            mean => resolution.units(mean).recip(),
        };
        let short = (0..17).filter_map(|digits| format!("{exact:.digits$e}").parse().ok());
        let is_same = |rate: &f64| resolution.ticks(rate.recip()) == Ok(self.mean);
        short.into_iter().find(is_same).unwrap_or(exact)
    }

    /// The events of each LP at the start.
    #[doc(hidden)]
    pub fn population(&self) -> u32 {
        self.population
    }

    /// The number of LPs that an LP sends to on a ring; `None` if it sends to all.
    #[doc(hidden)]
    pub fn neighbours(&self) -> Option<u32> {
        (self.neighbours > 0).then_some(self.neighbours)
    }

    /// Sets the capacities.
    #[must_use]
    pub fn with_capacity(self, capacity: Capacity) -> Self {
        Self { capacity, ..self }
    }
}

/// The WGSL `struct Params` of PHOLD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct PholdParams {
    /// Mean of the exponential delay.
    pub mean: Ticks,
    /// Events that each LP schedules at the start.
    pub population: u32,
    /// Neighbours of an LP on a ring; zero without a ring.
    pub neighbours: u32,
}

/// The WGSL `struct State` of PHOLD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct PholdState {
    /// Events executed at this LP, modulo 2^32.
    pub received: u32,
    /// Low word of the time of the last one.
    pub last: u32,
}

impl Model for Phold {
    type State = PholdState;
    type Params = PholdParams;
    type Payload = [u32; 2];
    type Output = ();

    fn name(&self) -> &str {
        if self.neighbours == 0 { "phold" } else { "phold on a ring" }
    }

    fn source(&self) -> Source {
        if self.neighbours == 0 {
            crate::wgsl!("../../shaders/models/phold.wgsl")
        } else {
            crate::wgsl!("../../shaders/models/phold_ring.wgsl")
        }
    }

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> Ticks {
        self.lookahead
    }

    fn params(&self) -> PholdParams {
        PholdParams { mean: self.mean, population: self.population, neighbours: self.neighbours }
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// Each event schedules another one.
    fn events_held(&self) -> Option<u32> {
        self.lps.checked_mul(self.population)
    }
}
