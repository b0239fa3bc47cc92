//! The candidates for the queue design, the synchronisation and the mapping of a run, and their
//! order by the model's estimates.

use crate::backend::OneRun;
use crate::gpu::Gpu;
use crate::queue::{DefaultFor, QueueDesign};
use crate::time::Ticks;

use crate::pdes::contract::capacity::mean_for;
use crate::pdes::contract::error::SimulationError;
use crate::pdes::contract::sync::Windows;
use crate::pdes::device::check;
use crate::pdes::device::cut::{Cut, Needs, TOO_MANY};
use crate::pdes::device::pool::Pool;
use crate::pdes::device::strategy::{Strategy, USUAL, usual};
use crate::pdes::{Capacity, Mapping, Model, Options};

/// The design for many sent events per LP and window.
const DENSE_QUEUE: QueueDesign = QueueDesign::default_for(DefaultFor::Dense);

/// The mean number of events sent to an LP in a window from which the calendar is tried first.
const DENSE: f64 = 2.5;

/// The calendar is not first if queues have room for this many times the sent events, and LPs are
/// few: distant events are in lists, which are slow.
const FAR_AHEAD: f64 = 50.0;
const FAR_AHEAD_LPS: u32 = 8192;

/// The maximum queue capacity for which a calendar is tried. (A guess.)
const MOST_IN_CALENDAR: u32 = 4096;

/// The candidate strategies for a model, the best guess first. Per-LP bounds are included if the
/// model declares senders.
pub(in crate::pdes) fn candidates<M: Model>(
    gpu: &Gpu,
    model: &M,
    options: &Options,
) -> Result<Vec<Strategy>, SimulationError> {
    let (none, capacity) = (model.lookahead() == Ticks::ZERO, model.capacity());
    // A calendar's buckets are YAWNS windows, and at least a tick long.
    let epochs = |windows: Windows| windows.are_epochs() && !none;
    let chosen = options.sync.windows();
    let calendar = options.queue.is_some_and(QueueDesign::is_calendar);
    if calendar && (none || chosen.is_some_and(|windows| !windows.are_epochs())) {
        return Err(SimulationError::Calendar);
    }
    let of = |windows: Windows| {
        let queues = match options.queue {
            Some(queue) => vec![queue],
            None if epochs(windows) => designs(gpu, model.lps(), capacity, options.fixed),
            None => vec![usual(windows)],
        };
        let fitting = |queue: &QueueDesign| !queue.is_calendar() || epochs(windows);
        let queues = queues.into_iter().filter(fitting);
        queues.map(|queue| Strategy { queue, windows, is_team: false }).collect::<Vec<_>>()
    };
    let teams = teams(gpu, model, options)?;
    let with_teams = |grid: Vec<Strategy>| {
        if options.mapping == Mapping::Team {
            return teams;
        }
        let (first, then) = if begins_in_team(gpu, model) { (teams, grid) } else { (grid, teams) };
        [first, then].concat()
    };
    if let Some(windows) = chosen {
        check::keeps(windows, model, None)?;
        return Ok(with_teams(of(windows)));
    }
    let mut order = Windows::all().collect::<Vec<_>>();
    if options.fixed {
        // The required mailbox capacity depends on the length of windows.
        order.retain(|windows| !windows.is_speculative());
    } else if none || begins_wide(model) {
        order.sort_by_key(|windows| (windows.needs_senders, !windows.is_speculative()));
    }
    order.retain(|windows| !(none && windows.needs_senders));
    Ok(with_teams(order.into_iter().flat_map(of).collect()))
}

/// The teams that may execute a run, the best guess first. Without any, an error if one was chosen.
fn teams<M: Model>(gpu: &Gpu, model: &M, options: &Options) -> Result<Vec<Strategy>, SimulationError> {
    let mapping = options.mapping;
    let chosen = options.sync.windows();
    let serves = |windows: &Windows| windows.serves_local_teams;
    let windows = match chosen {
        Some(windows) => vec![windows],
        None if begins_wide(model) => vec![Windows::WIDE, Windows::EPOCHS],
        None => vec![Windows::EPOCHS, Windows::WIDE],
    };
    let of = |windows| Strategy { is_team: true, ..Strategy::usual(windows) };
    let teams: Vec<_> = windows.into_iter().filter(serves).map(of).collect();
    let is_shaped = [options.group_size, options.tiles].iter().any(Option::is_some);
    let problem = if mapping == Mapping::Thread {
        "it is for many runs at once"
    } else if mapping == Mapping::Grid {
        return Ok(Vec::new());
    } else if cfg!(target_arch = "wasm32") {
        "browsers cannot wait for a run that leaves its team"
    } else if model.lookahead() == Ticks::ZERO {
        "the model has no lookahead"
    } else if options.fixed || options.queue.is_some() || is_shaped {
        "capacities are fixed, or a queue design, a group size or tiles are chosen"
    } else if teams.is_empty() {
        "teams do not support this synchronisation"
    } else if Cut::of(gpu, model.lps(), (1, 1), teams[0], Needs::of(model)).is_err() {
        TOO_MANY
    } else if gpu.is_software() && mapping == Mapping::Auto {
        // Barriers are slow there.
        return Ok(Vec::new());
    } else {
        return Ok(teams);
    };
    if mapping == Mapping::Auto {
        Ok(Vec::new())
    } else {
        Err(SimulationError::NoMapping { mapping, problem })
    }
}

/// Whether a team is expected to be faster than the grid.
fn begins_in_team<M: Model>(gpu: &Gpu, model: &M) -> bool {
    let needs = Needs::of(model);
    let pool = Pool::new(gpu, model.lps(), needs.events, needs.event_bytes);
    pool.is_some_and(|pool| !pool.is_far || estimated(model).is_some_and(|run| run.suits_team(false)))
}

/// Whether the model's estimates suggest wide event-horizon windows.
fn begins_wide<M: Model>(model: &M) -> bool {
    estimated(model).is_some_and(|run| run.is_sparse())
}

/// A long run of a model that estimates its pending events.
fn estimated<M: Model>(model: &M) -> Option<OneRun> {
    let lps = f64::from(model.lps());
    let lookahead = mean_for(model.capacity().mailbox) * lps;
    let pending = f64::from(model.events_held()?);
    Some(OneRun { lps, events: f64::INFINITY, pending, lookahead })
}

/// The expected number of events before the event horizon, in a run with `held` pending events.
pub(super) fn reach(held: u32) -> f64 {
    (2.0 * f64::from(held)).sqrt()
}

/// The mailbox capacity for event-horizon windows of a model that reports its number of pending
/// events: twice the expected load, because some windows are wider.
pub(in crate::pdes) fn mailbox_of_horizon<M: Model>(model: &M) -> u32 {
    let sent = model.events_held().map_or(0.0, |held| 2.0 * reach(held) / f64::from(model.lps()));
    Capacity::poisson(0.0, sent).mailbox
}

/// The queue designs for windows that are epochs, the best guess first.
fn designs(gpu: &Gpu, lps: u32, capacity: Capacity, fixed: bool) -> Vec<QueueDesign> {
    let sent = mean_for(capacity.mailbox);
    // Fixed capacities are those of queues and mailboxes. Software adapters gain nothing from a
    // calendar, and may end its loops. One invocation would have to sort a very long queue in an
    // epoch.
    if fixed || gpu.is_software() || capacity.queue > MOST_IN_CALENDAR {
        return vec![USUAL];
    }
    let far_ahead = lps < FAR_AHEAD_LPS && sent * FAR_AHEAD < f64::from(capacity.queue);
    let dense = sent >= DENSE && !far_ahead;
    if dense { vec![DENSE_QUEUE, USUAL] } else { vec![USUAL, DENSE_QUEUE] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Phold;
    use crate::time::Resolution;

    /// PHOLD with a lookahead of 10: LPs, events per LP, the rate, and whether a run begins with
    /// the event horizon.
    #[test]
    fn a_run_begins_with_wider_windows_where_the_model_promises_them() {
        for (lps, population, rate, expected) in [
            (1024, 4, 0.00001, true),
            (1024, 128, 0.00001, true),
            (1024, 1024, 0.00001, true),
            (32_768, 4, 0.00001, true),
            (32_768, 128, 0.00001, true),
            (32_768, 1024, 0.00001, true),
            (1_048_576, 4, 0.00001, true),
            (1_048_576, 16, 0.00001, true),
            (1024, 4, 0.001, true),
            (1024, 16, 0.001, false),
            (1024, 128, 0.001, false),
            (1024, 4, 0.1, false),
            (32_768, 4, 0.001, false),
            (1_048_576, 16, 0.001, false),
        ] {
            let model = Phold::new(lps, population, rate, 10.0, Resolution::default()).unwrap();
            assert_eq!(begins_wide(&model), expected, "{lps} x {population}, {rate}");
        }
    }

    #[test]
    fn small_runs_with_a_lookahead_begin_with_a_team_on_hardware() {
        let gpu = Gpu::for_test();
        let hardware = gpu.taken_for_hardware();
        let first = |gpu: &Gpu, lps, rate, lookahead, options| {
            let model = Phold::new(lps, 4, rate, lookahead, Resolution::default()).unwrap();
            let candidates = candidates(gpu, &model, &options).unwrap();
            let first = candidates[0];
            (first.is_team, first.windows.is_speculative(), candidates.iter().any(|other| other.is_team))
        };
        let auto = Options::default();
        for (lps, rate, expected) in [
            (64, 0.1, (true, false, true)),
            (128, 0.1, (true, false, true)),
            (1024, 0.1, (false, false, true)),
            (1024, 0.001, (true, true, true)),
            (4096, 0.00001, (false, true, false)),
        ] {
            assert_eq!(first(&hardware, lps, rate, 10.0, auto), expected, "{lps} LPs, rate {rate}");
        }
        let (grid, _, any) = first(&hardware, 64, 0.1, 10.0, auto.mapping(Mapping::Grid));
        assert!(!grid && !any);
        for (gpu, lookahead, options) in [
            (&hardware, 0.0, auto),
            (&hardware, 10.0, auto.fixed(true)),
            (&hardware, 10.0, auto.queue(QueueDesign::Heap)),
        ] {
            assert!(!first(gpu, 64, 0.1, lookahead, options).2, "{options:?}");
        }
        if gpu.is_software() {
            assert!(!first(&gpu, 64, 0.1, 10.0, auto).2, "barriers are slow there");
        }
    }
}
