//! Checks that the system has enough threads and memory for a run.

use std::fmt::Display;
use std::sync::Mutex;
use std::thread::{Builder, available_parallelism};

use super::{Outcome, print_report, usage};

/// The largest number of threads for parallel loops.
const MOST: usize = 1024;

/// Starts the threads for parallel loops: `RAYON_NUM_THREADS`, or one for each core. If the system
/// gives fewer, half of those, since drivers start threads too; rayon would panic at the first
/// loop.
pub fn start_threads() -> Outcome<()> {
    let wanted = wanted(std::env::var("RAYON_NUM_THREADS").ok().as_deref())?;
    let free = free_threads(wanted);
    let pool = rayon::ThreadPoolBuilder::new();
    let pool = match threads_of_loops(wanted, free) {
        None => pool.num_threads(1).use_current_thread(),
        Some(threads) => pool.num_threads(threads),
    };
    if free < wanted {
        print_report(&format!(
            "notice: the system gives only {free} of {wanted} threads, so parallel loops run slower."
        ));
    }
    pool.build_global().map_err(|error| format!("no threads for parallel loops: {error}").into())
}

/// The number of threads for parallel loops, or `None` if the main thread runs them.
///
/// The main thread takes no work from other threads while it waits for one: a loop in a thread that
/// the main thread waits for would never begin.
fn threads_of_loops(wanted: usize, free: usize) -> Option<usize> {
    match free {
        _ if free == wanted => Some(wanted),
        0 => None,
        _ => Some((free / 2).max(1)),
    }
}

fn wanted(set: Option<&str>) -> Outcome<usize> {
    let cores = || available_parallelism().map_or(1, usize::from).min(MOST);
    match set.map(|text| (text, text.trim().parse::<usize>())) {
        None | Some((_, Ok(0))) => Ok(cores()),
        Some((_, Ok(threads))) if threads <= MOST => Ok(threads),
        Some((text, _)) => {
            let text: String = text.chars().take(40).collect();
            Err(usage(format!(
                "RAYON_NUM_THREADS is `{text}`: set it to a number of threads up to {MOST}, or leave it unset"
            )))
        }
    }
}

/// The number of threads, up to `wanted`, that the system gives at once. They end before this
/// returns.
fn free_threads(wanted: usize) -> usize {
    let gate = Mutex::new(());
    std::thread::scope(|scope| {
        let held = gate.lock();
        let wait = || drop(gate.lock());
        let started = (0..wanted).map_while(|_| Builder::new().spawn_scoped(scope, wait).ok());
        let started: Vec<_> = started.collect();
        drop(held);
        let free = started.len();
        // A scope ends before its threads have released their stacks; a join does not.
        started.into_iter().for_each(|thread| drop(thread.join()));
        free
    })
}

/// Refuses work that needs more threads than the system gives besides those of parallel loops.
pub fn check_threads(what: impl Display, threads: usize) -> Outcome<()> {
    let free = free_threads(threads);
    match free == threads {
        true => Ok(()),
        false => {
            Err(format!("{what} need {threads} threads, and the system gives {free}: choose fewer").into())
        }
    }
}

/// Refuses work that needs more memory than the machine has, since a failed allocation would abort
/// the program without a message.
pub fn check_memory(what: impl Display, bytes: u64) -> Outcome<()> {
    let free = free_memory();
    let is_given =
        usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    let free = match free {
        Some(free) if bytes > free => format!("{free} bytes are free"),
        _ if !is_given => "the system refuses to allocate them".to_owned(),
        _ => return Ok(()),
    };
    Err(format!("{what} need about {bytes} bytes of memory, and {free}: choose fewer").into())
}

/// The free memory in bytes of the machine or the control group, if the system reports it.
fn free_memory() -> Option<u64> {
    let read = |path| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
    });
    let group = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse().ok());
    machine.into_iter().chain(group).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_thread_runs_loops_only_where_no_other_can_be_started() {
        for wanted in 1..20 {
            assert_eq!(threads_of_loops(wanted, 0), None);
            for free in 1..=wanted {
                let threads = threads_of_loops(wanted, free).expect("threads of their own");
                assert!((1..=free).contains(&threads), "{threads} of {free}");
                assert!(free == wanted || threads == 1 || free - threads >= threads);
            }
        }
    }

    /// A loop in a thread that the thread's starter waits for.
    #[test]
    fn a_pool_of_one_thread_serves_a_thread_that_is_waited_for() {
        let threads = threads_of_loops(8, 1).expect("threads of their own");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let sum = std::thread::scope(|scope| {
            let looped = scope.spawn(|| pool.install(|| rayon::join(|| 1, || 2)));
            looped.join().unwrap()
        });
        assert_eq!(sum, (1, 2));
    }
}
