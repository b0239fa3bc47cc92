//! Lists all kernels that the library may link for a model, for tests and for programs that compile
//! them ahead of time.

use crate::gpu::Recipe;
use crate::queue::QueueDesign;

use super::replicas;
use crate::pdes::contract::model::Model;
use crate::pdes::contract::sync::Windows;
use crate::pdes::device::check;
use crate::pdes::device::cut::{Outbox, Sort};
use crate::pdes::device::declared::Declared;
use crate::pdes::device::pool::Pool;
use crate::pdes::device::recipes::{Choice, Recipes, output, totals};
use crate::pdes::device::strategy::{Strategy, usual};

/// All kernels that a simulation of `model` may link by default; for the paper's queue designs, one
/// variant each.
#[doc(hidden)]
pub fn kernels<M: Model>(model: &M) -> Vec<Recipe> {
    let mut kernels = output_kernels(model);
    kernels.extend(replicas::kernels(model));
    let recipes = |choice| Recipes::new::<M::Payload>(model.name(), &model.source(), choice);
    let start = recipes(Choice::plain(Declared::default())).start;
    let declared = check::declared(model, &start).expect("a model that links");
    let usual_choice = |queue, windows| Choice::usual(Strategy { queue, windows, is_team: false }, declared);
    for queue in QueueDesign::PRODUCTION {
        let (calendar, wide) = (queue.is_calendar(), queue == usual(Windows::WIDE));
        let sort = Sort { group_size: 128, team: 128, bins: 256, subgroup: None };
        let (buckets, sorted) = if calendar { (8, Some(sort)) } else { (0, None) };
        let goes = |windows: &Windows| !windows.is_speculative() || !calendar;
        let asked = |windows: &Windows| goes(windows) && (!windows.needs_senders || wide && declared.senders);
        for int64 in [false, true] {
            for (store, tiles) in [(None, 4), (None, 1), (Some((1024, 24)), 1)] {
                let of =
                    |windows| Choice { int64, tiles, store, buckets, sorted, ..usual_choice(queue, windows) };
                for windows in Windows::all().filter(asked) {
                    let Recipes { look, relax, window, .. } = recipes(of(windows));
                    kernels.extend(look.into_iter().chain(relax).chain([window]));
                }
                // Outboxes work alike for all queues but the calendar.
                if !int64 && (wide || calendar) {
                    let outbox = Some(Outbox { parts: 3, own: 1, room: 64 });
                    let part = recipes(Choice { outbox, ..of(Windows::EPOCHS) });
                    kernels.extend([part.window].into_iter().chain(part.arrive));
                }
                // Reductions in workgroups work alike for all queues: one variant for each reducing
                // kernel.
                if !int64 && (wide || calendar) {
                    for windows in Windows::all().filter(|windows| goes(windows) && !windows.needs_senders) {
                        let sorted =
                            sorted.map(|_| Sort { group_size: 64, team: 16, bins: 64, subgroup: Some(32) });
                        let choice = Choice { sorted, picked: 0, subgroup: Some(32), ..of(windows) };
                        let Recipes { look, window, sort, .. } = recipes(choice);
                        kernels.extend(look.into_iter().chain([window]).chain(sort));
                    }
                }
                let plain = of(Windows::EPOCHS);
                if calendar {
                    let sorted = sorted.map(|sort| Sort { bins: 0, ..sort });
                    let Recipes { window, sort, .. } = recipes(Choice { sorted, picked: 24, ..plain });
                    kernels.extend([window].into_iter().chain(sort));
                }
                if tiles > 1 || calendar {
                    kernels.extend(recipes(plain).others());
                }
            }
        }
    }
    for (int64, is_far) in [(false, false), (true, false), (false, true)] {
        let pool = Some(Pool { slots: 256, lists: 64, is_far });
        let strategy = Strategy { is_team: true, ..Strategy::usual(Windows::WIDE) };
        let team = recipes(Choice { int64, pool, group_size: 64, ..Choice::usual(strategy, declared) });
        let Recipes { start, settle, look, window, digest, count_held, export, import, .. } = team;
        kernels.extend([start, settle, window, digest, count_held, export, import].into_iter().chain(look));
    }
    for queue in QueueDesign::ALL.into_iter().filter(|queue| queue.row().paper) {
        let plain = recipes(usual_choice(queue, Windows::EPOCHS));
        kernels.push(plain.window.clone());
        kernels.extend(plain.others());
    }
    kernels
}

/// The kernels of results and those that start LPs, and one that handles events in each of single
/// runs and replicas: together they link all functions of a model.
#[doc(hidden)]
pub fn handler_kernels<M: Model>(model: &M) -> Vec<Recipe> {
    let recipes = |choice| Recipes::new::<M::Payload>(model.name(), &model.source(), choice);
    let start = recipes(Choice::plain(Declared::default())).start;
    let declared = check::declared(model, &start).expect("a model that links");
    let Recipes { start, window, .. } = recipes(Choice::plain(declared));
    let mut kernels = output_kernels(model);
    kernels.extend([start, window]);
    kernels.extend(replicas::handler_kernels(model));
    kernels
}

/// The kernels of results.
#[doc(hidden)]
pub fn output_kernels<M: Model>(model: &M) -> Vec<Recipe> {
    let mut kernels = vec![totals("totals", 64), totals("classify", 64)];
    if size_of::<M::Output>() > 0 {
        kernels.extend([false, true].map(|int64| output(model, int64, 256)));
    }
    kernels
}
