//! Moves a run to another memory: with more room after an overflow, or with another queue design.

use web_time::{Duration, Instant};

use crate::gpu::GpuError;
use crate::queue::QueueDesign;
use crate::time::Ticks;

use super::super::auto::Auto;
use super::room::{self, cannot_grow, new_snapshot, of_design, tiles_for};
use super::{Rebuild, Simulation};
use crate::pdes::contract::error::{Fault, FaultKind, SimulationError};
use crate::pdes::contract::sync::Windows;
use crate::pdes::device::cut::{Cut, Needs};
use crate::pdes::device::growth::Snapshot;
use crate::pdes::device::recipes::{Choice, Recipes};
use crate::pdes::device::strategy::Strategy;
use crate::pdes::device::{growth, plans, transfer};
use crate::pdes::{Capacity, Event, Model, Until};

impl<M: Model> Simulation<M> {
    /// Continues with another queue design, whatever was chosen at the start. Results are the same.
    ///
    /// # Errors
    /// A [`Fault`] of the run; [`SimulationError::TooLarge`] and a device error if there is no room
    /// for it: then nothing changes.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn set_queue(&mut self, queue: QueueDesign) -> Result<(), SimulationError> {
        pollster::block_on(self.set_queue_async(queue))
    }

    /// [`Simulation::set_queue`] without blocking.
    ///
    /// # Errors
    /// As [`Simulation::set_queue`].
    pub async fn set_queue_async(&mut self, queue: QueueDesign) -> Result<(), SimulationError> {
        self.progress_async().await?;
        let (calendar, chosen) = (queue.is_calendar(), self.sync.windows());
        let epochs = !chosen.is_some_and(Windows::is_speculative) && self.memory.run.lookahead > Ticks::ZERO;
        if calendar && !epochs {
            return Err(SimulationError::Calendar);
        }
        // A strategy in a trial is not a choice.
        let windows = if calendar { Windows::EPOCHS } else { self.auto.settled(self.strategy).windows };
        let strategy = Strategy { queue, windows, is_team: false };
        let wide = !self.strategy.windows.are_epochs();
        self.rebuild(strategy, self.memory.capacity(), &[]).await?;
        self.further |= wide;
        self.auto = Auto::new(&[strategy], self.memory.cut.rows, None, Duration::ZERO);
        self.pace = self.pace.clone().slower(64);
        Ok(())
    }

    /// Whether a driver ended the loops of an invocation that serves several LPs by the library's
    /// choice.
    pub(super) fn has_long_loops(&self, fault: Fault) -> bool {
        fault.kind == FaultKind::LoopsCut && self.memory.cut.tiles > 1 && self.rebuild.tiles.is_none()
    }

    /// Goes back to the snapshot, with larger capacities, or with one LP per invocation. If there
    /// is no room for that, goes back without, and returns the reason. Fails with faults that
    /// neither can fix, and with device errors.
    pub(super) async fn grow(&mut self, fault: Fault) -> Result<Option<SimulationError>, SimulationError> {
        let mut larger = growth::larger(self.memory.capacity(), fault);
        if self.has_long_loops(fault) {
            larger.push(self.memory.capacity());
        }
        let repeats = !larger.is_empty() || self.strategy.is_team;
        let Some(snapshot) = self.snapshot.as_ref().filter(|_| repeats) else {
            return Err(fault.into());
        };
        snapshot.restore(&self.gpu)?;
        // Windows that an application recorded may have failed before.
        self.progress_async().await?;
        if self.strategy.is_team {
            return self.grow_team(fault).await.map(|()| None);
        }
        let tiles = self.rebuild.tiles;
        if self.has_long_loops(fault) {
            self.rebuild.tiles = Some(1);
        }
        let ends = snapshot.ends();
        let mut refused = None;
        for capacity in larger {
            match self.rebuild(self.strategy, capacity, &ends).await {
                Ok(()) => {
                    self.auto.grown();
                    log::info!(
                        "{fault}: the run continues with room for {capacity:?}, {} LPs per invocation",
                        self.memory.cut.tiles
                    );
                    return Ok(None);
                }
                Err(error) if of_design(&error) => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        self.rebuild.tiles = tiles;
        Ok(Some(refused.unwrap_or(fault.into())))
    }

    /// Continues a team from the snapshot, with more room if it lacked some. Any other fault may be
    /// another than that of the sequential engine, or of loops that a driver ended: then the run
    /// repeats without a team.
    async fn grow_team(&mut self, fault: Fault) -> Result<(), SimulationError> {
        let ends = self.snapshot.as_ref().map_or_else(Vec::new, Snapshot::ends);
        if fault.kind == FaultKind::QueueFull {
            self.rebuild.needs.events = room::for_events(fault.needed.into());
            match self.rebuild(self.strategy, self.memory.capacity(), &ends).await {
                Ok(()) => {
                    log::info!(
                        "{fault}: the run continues with room for {} events",
                        self.memory.run.queue_capacity
                    );
                    return Ok(());
                }
                Err(error) if of_design(&error) => log::info!("{error}"),
                Err(error) => return Err(error),
            }
        }
        log::info!("the run continues without a team, which could not follow: {fault}");
        self.leave_team(&ends).await
    }

    /// Continues without a team, and never changes to one again. (Event-limited runs have none.)
    pub(super) async fn leave_teams(&mut self) -> Result<(), SimulationError> {
        if self.strategy.is_team {
            self.progress_async().await?;
            self.leave_team(&[]).await?;
        }
        self.auto.leave_teams();
        Ok(())
    }

    async fn leave_team(&mut self, ends: &[Until]) -> Result<(), SimulationError> {
        let windows = self.sync.windows().unwrap_or(Windows::EPOCHS);
        let strategy = Strategy::usual(windows);
        self.further |= !self.strategy.windows.are_epochs();
        self.rebuild(strategy, self.memory.capacity(), ends).await?;
        self.auto.leave_teams();
        self.pace = self.pace.clone().slower(64);
        Ok(())
    }

    /// Continues with another strategy, if the device has room for it.
    pub(super) async fn change(&mut self, strategy: Strategy, ends: &[Until]) -> Result<(), SimulationError> {
        let (before, begin) = (self.strategy, Instant::now());
        // (The comparison is with the last strategy, not with the memory: after event-horizon
        // windows, the rows that relaxations read for LPs with valid speculative executions are
        // outdated.)
        let changed = if strategy.is_team == before.is_team
            && strategy.queue == before.queue
            && strategy.windows.found_rows <= before.windows.found_rows
        {
            self.change_windows(strategy)
        } else {
            self.rebuild(strategy, self.memory.capacity(), ends).await
        };
        match changed {
            Ok(()) => {
                log::info!("{strategy} instead of {before}");
                self.further |= !before.windows.are_epochs();
                // Windows may take far longer with it.
                self.pace = self.pace.clone().slower(64);
            }
            Err(error) if of_design(&error) => log::info!("{strategy}: {error}"),
            Err(error) => return Err(error),
        }
        self.auto.changed(begin.elapsed());
        Ok(())
    }

    /// Switches to the plans for event-limited runs, or back, if they differ.
    pub(super) fn count(&mut self, counted: bool) -> Result<(), SimulationError> {
        let declared = self.rebuild.declared;
        let differ = declared.for_run(counted) != declared.for_run(self.counted);
        self.counted = counted;
        if differ && self.strategy.windows.is_speculative() {
            self.change_windows(self.strategy)
        } else {
            Ok(())
        }
    }

    /// Continues in the same memory, with other windows.
    fn change_windows(&mut self, strategy: Strategy) -> Result<(), SimulationError> {
        let plans = plans::windows(&self.gpu, &self.recipes(strategy, &self.memory.cut), &self.memory)?;
        self.forget_recorded()?;
        (self.plans, self.strategy) = (plans, strategy);
        Ok(())
    }

    /// Continues with another queue design or other capacities, which hold all pending events.
    pub(super) async fn rebuild(
        &mut self,
        strategy: Strategy,
        capacity: Capacity,
        ends: &[Until],
    ) -> Result<(), SimulationError> {
        let Rebuild { needs, group_size, tiles, .. } = &self.rebuild;
        let (gpu, old) = (&self.gpu, &self.memory);
        let exported = transfer::export(gpu, &self.recipes(self.strategy, &old.cut), old).await?;
        // The driver may have ended loops of the export.
        self.progress_async().await?;
        // Sent events are pending, too, at the latest when mailboxes are drained.
        let capacity = Capacity { queue: capacity.queue.max(exported.most()), ..capacity };
        // The model's estimate leaves room for what it expects.
        let total = exported.total();
        let events = if total < needs.events.into() { needs.events } else { room::for_events(total) };
        let needs = Needs { capacity, events, ..*needs };
        let rows = old.cut.rows;
        let tiles = tiles_for(gpu, rows, *group_size, *tiles, strategy, capacity);
        let cut = Cut::of(gpu, rows, (*group_size, tiles), strategy, needs)?;
        let recipes = self.recipes(strategy, &cut);
        plans::compile(gpu, &recipes, (&cut, needs.memory_rows), [&recipes.import]);
        let memory = old.with_room(gpu, cut, strategy)?;
        memory.take_memory(gpu, old)?;
        memory.put_control(gpu, old.control_of(gpu).await?, exported.first())?;
        exported.import(gpu, &recipes, &memory)?;
        plans::settle(gpu, &recipes, &memory)?;
        memory.keep_counts(gpu, old)?;
        let plans = plans::windows(gpu, &recipes, &memory)?;
        // One at a time: each is as large as the run.
        let snapshots = self.snapshot.take().is_some();
        self.snapshot = match snapshots.then(|| new_snapshot(gpu, &memory)) {
            // A change of the design must not cost the ability to grow.
            Some(Err(error)) if strategy != self.strategy => {
                self.snapshot = new_snapshot(gpu, old).ok();
                return Err(error.into());
            }
            Some(snapshot) => snapshot.inspect_err(cannot_grow).ok(),
            None => None,
        };
        self.forget_recorded()?;
        (self.memory, self.plans, self.strategy) = (memory, plans, strategy);
        if let Some(snapshot) = &mut self.snapshot {
            let mut encoder = self.gpu.encoder("snapshot");
            snapshot.save(&mut encoder, ends.iter().copied());
            self.gpu.submit(encoder)?;
        }
        Ok(())
    }

    /// Disables windows that an application has recorded but not submitted: they use memory that no
    /// longer belongs to the run, except the states, or do not know later ends.
    fn forget_recorded(&self) -> Result<(), GpuError> {
        for (part, buffer) in &self.plans.runs {
            let mut run = self.memory.run_for(*part);
            run.until = Ticks::ZERO;
            buffer.write(&self.gpu, 0, &[run])?;
        }
        Ok(())
    }

    /// The error for a fault that is a cycle.
    pub(super) async fn cycle(&self, fault: Fault) -> Result<SimulationError, SimulationError> {
        let exported =
            transfer::export(&self.gpu, &self.recipes(self.strategy, &self.memory.cut), &self.memory).await?;
        let pending = exported.read(&self.gpu, self.memory.run.first_lp).await?;
        let time = pending.iter().map(|(_, event): &(u32, Event<M::Payload>)| event.time).min();
        Ok(SimulationError::cycle(fault, time.unwrap_or(Ticks::NEVER), pending.into_iter()))
    }

    pub(super) fn recipes(&self, strategy: Strategy, cut: &Cut) -> Recipes {
        Recipes::new::<M::Payload>(
            &self.name,
            &self.rebuild.source,
            Choice::new(&self.gpu, strategy, self.rebuild.declared.for_run(self.counted), cut),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Gpu;
    use crate::models::FifoTorus;
    use crate::pdes::checkpoint::Skew;
    use crate::pdes::{CpuSimulation, Options, Sync};
    use crate::time::Resolution;

    /// As [`Auto`] does, at any window.
    #[test]
    fn a_run_changes_to_a_team_and_back() {
        let gpu = Gpu::for_test();
        let model = FifoTorus::new(9, 16, 250, 1.0, Resolution::default()).unwrap();
        let mut cpu = CpuSimulation::new(&model, Options::default()).unwrap();
        let mut simulation = Simulation::new(&gpu, &model, Options::default()).unwrap();
        let [team, grid] = [true, false];
        let strategies = [
            (Sync::Yawns, team),
            (Sync::Yawns, grid),
            (Sync::Horizon, team),
            (Sync::Yawns, team),
            (Sync::Horizon, team),
            (Sync::Horizon, grid),
            (Sync::Neighbours, grid),
            (Sync::Horizon, team),
            (Sync::Neighbours, grid),
        ];
        for (i, (sync, is_team)) in (1..).zip(strategies) {
            let end = Until::time(Resolution::default().ticks(0.4 * f64::from(i)).unwrap());
            simulation.move_end(end).unwrap();
            let mut encoder = gpu.encoder("some windows");
            simulation.record(&mut encoder, 4);
            gpu.submit(encoder).unwrap();
            let strategy = Strategy { is_team, ..Strategy::usual(sync.windows().unwrap()) };
            pollster::block_on(simulation.change(strategy, &[end])).unwrap();
            assert_eq!(simulation.strategy, strategy);
            let (found, expected) = (simulation.run(end).unwrap(), cpu.run(end).unwrap());
            assert_eq!((found.now, found.events), (expected.now, expected.events), "{strategy}");
            assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint(), "{strategy}");
            assert_eq!(simulation.strategy, strategy, "a team can follow");
            assert!(simulation.outputs(end.time).unwrap() == cpu.outputs(end.time).unwrap(), "{strategy}");
        }
    }

    /// As `Sync::Auto` does, at any window: LPs may be at different times then.
    #[test]
    fn a_run_goes_on_with_other_windows() {
        let gpu = Gpu::new().unwrap();
        // NVIDIA's driver deadlocks if a device is destroyed while threads end.
        std::mem::forget(gpu.clone());
        let model = FifoTorus::new(7, 9, 120, 1.0, Resolution::default()).unwrap();
        let mut cpu = CpuSimulation::new(&model, Options::default()).unwrap();
        let mut simulation = Simulation::new(&gpu, &model, Options::default()).unwrap();
        let heap = QueueDesign::Heap;
        let strategies = [
            (Sync::Neighbours, heap),
            (Sync::Horizon, heap),
            (Sync::Neighbours, heap),
            (Sync::Yawns, heap),
            (Sync::Yawns, QueueDesign::Calendar),
            (Sync::Neighbours, heap),
        ];
        for (i, (sync, queue)) in (1..).zip(strategies) {
            let end = Until::time(Resolution::default().ticks(0.4 * f64::from(i)).unwrap());
            simulation.move_end(end).unwrap();
            let mut encoder = gpu.encoder("some windows");
            simulation.record(&mut encoder, 4);
            gpu.submit(encoder).unwrap();
            let strategy = Strategy { queue, windows: sync.windows().unwrap(), is_team: false };
            let was_speculative = simulation.strategy.windows.is_speculative();
            pollster::block_on(simulation.change(strategy, &[end])).unwrap();
            assert_eq!(simulation.strategy, strategy);
            assert_eq!(
                simulation.skew() == Skew::Further,
                was_speculative || strategy.windows.is_speculative(),
                "{strategy}"
            );
            let more = Until::events(cpu.run(end).unwrap().events + 9);
            for end in [end, more] {
                let (found, expected) = (simulation.run(end).unwrap(), cpu.run(end).unwrap());
                assert_eq!((found.now, found.events), (expected.now, expected.events), "{strategy}");
                assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint(), "{strategy}");
                assert_eq!(
                    simulation.skew() == Skew::Further,
                    strategy.windows.is_speculative(),
                    "{strategy}"
                );
            }
        }
    }
}
