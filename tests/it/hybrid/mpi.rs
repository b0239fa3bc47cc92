//! Ranks as processes: this program under `mpirun`, as [`a_rank`]. `--timeout` is an option of Open
//! MPI, for tests that must not hang.

use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use eventhorizon::hybrid::{HybridError, Lp, MpiRank, Options, Transport};
use eventhorizon::models::Phold;
use eventhorizon::pdes::{self, CpuSimulation, Until};
use eventhorizon::time::Resolution;

use super::ticks;

/// The environment variable with the task of the ranks.
const DEED: &str = "EVENTHORIZON_TEST_DEED";

fn phold() -> Phold {
    Phold::new(300, 4, 0.1, 10.0, Resolution::default()).unwrap()
}

fn mpirun(ranks: u32, deed: &str) -> Output {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "--timeout", "60", "-n", &ranks.to_string()]);
    if deed == "killed alone" {
        command.arg("--enable-recovery");
    }
    command.arg(std::env::current_exe().unwrap()).args([
        "--ignored",
        "--exact",
        "hybrid::mpi::a_rank",
        "--nocapture",
    ]);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env(DEED, deed).env_remove("RUST_BACKTRACE").stdin(Stdio::null());
    // Programs that start at once may fail to create Open MPI's common folder of sessions.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("eventhorizon-mpi-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let output = command.env("TMPDIR", &folder).output();
    let _ = std::fs::remove_dir_all(&folder);
    output.expect("an MPI for the feature `mpi`, with its mpirun on the PATH")
}

/// Checks that the ranks ended with these words, and not by the time limit.
fn ended(deed: &str, reported: &[&str]) {
    let output = mpirun(3, deed);
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // If ranks continue without another one, `mpirun` reports no failure.
    assert!(!output.status.success() || deed == "killed alone", "{deed}: {said}");
    assert!(!said.contains("time limit"), "{deed}: {said}");
    for words in reported {
        assert!(said.contains(words), "{deed}: {said}");
    }
}

#[test]
fn processes_have_the_bits_of_the_sequential_engine() {
    let model = phold();
    let mut sequential = CpuSimulation::new(&model, pdes::Options::default()).unwrap();
    let events = sequential.run(Until::time(ticks(120.0))).unwrap().events;
    for ranks in 1..=4 {
        let output = mpirun(ranks, "phold");
        let reported = String::from_utf8_lossy(&output.stdout);
        for rank in 0..ranks {
            let expected = format!("rank {rank} of {ranks}: {events} {}\n", sequential.fingerprint());
            assert!(output.status.success() && reported.contains(&expected), "{ranks}: {output:?}");
        }
    }
}

#[test]
fn what_one_rank_sends_comes_whole_and_in_order() {
    let output = mpirun(3, "exchange");
    let reported = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && reported.matches("all came").count() == 3, "{output:?}");
}

#[test]
fn a_rank_that_hangs_ends_all() {
    let silent = "rank 1 did not answer within 1 s";
    ended("hangs", &[&format!("rank 0: {silent}"), &format!("rank 2: {silent}")]);
    // In the middle of sending.
    ended("hangs within", &[&format!("rank 0: {silent}"), &format!("rank 2: {silent}")]);
}

#[test]
fn a_rank_that_panics_or_returns_ends_all() {
    ended("panics", &["rank 0: rank 1 is gone", "rank 2: rank 1 is gone", "out of luck"]);
    ended("returns", &["rank 0: rank 1 is gone", "rank 2: rank 1 is gone"]);
}

#[test]
fn a_rank_that_is_killed_ends_all() {
    ended("killed", &["signal 6"]);
    // If `mpirun` lets the other ranks live, each of them returns an error.
    let silent = "rank 1 did not answer within 1 s";
    ended("killed alone", &[&format!("rank 0: {silent}"), &format!("rank 2: {silent}")]);
}

fn deed(rank: &mut dyn Transport, deed: &str) -> Result<(), HybridError> {
    let own = rank.rank();
    match (deed, own) {
        ("exchange", _) => {
            // Lengths of all kinds: short, zero, and longer than MPI buffers.
            for (round, length) in [3, 0, 5 << 20, 70_000, 1].into_iter().enumerate() {
                let part = |from: u32, to: u32| {
                    vec![(from * 16 + to) as u8 ^ round as u8; length * (to as usize + 1)]
                };
                let came = rank.exchange((0..3).map(|to| part(own, to)).collect())?;
                assert!((0..).zip(came).all(|(from, bytes)| bytes == part(from, own)));
            }
            println!("all came");
        }
        ("hangs", 1) => std::thread::sleep(Duration::from_secs(600)),
        ("hangs within", 1) => {
            for to in [0, 2] {
                rank.send(to, vec![1; 64 << 20])?;
            }
            std::thread::sleep(Duration::from_secs(600));
        }
        ("panics", 1) => panic!("out of luck"),
        ("returns", 1) => {}
        ("killed" | "killed alone", 1) => std::process::abort(),
        _ => {
            // Messages of a rank that hung may arrive or not.
            for _ in 0..2 {
                rank.exchange(vec![vec![2; 8 << 20]; 3])?;
            }
        }
    }
    Ok(())
}

#[test]
#[ignore = "a rank, which others of these tests start by mpirun"]
fn a_rank() {
    let what = std::env::var(DEED).expect("what to do");
    let mut rank = MpiRank::new().expect("the first in this process");
    if what == "phold" {
        let mut simulation = Lp::simulation(phold(), Some(Box::new(rank)), Options::default()).unwrap();
        let progress = simulation.run(ticks(120.0)).unwrap();
        let fingerprint = simulation.fingerprint().unwrap();
        let (rank, ranks) = (simulation.transport().rank(), simulation.transport().ranks());
        println!("rank {rank} of {ranks}: {} {fingerprint}", progress.events);
        return;
    }
    let patient = if what.starts_with("hangs") || what == "killed alone" { 1 } else { 60 };
    rank = rank.waiting(Duration::from_secs(patient));
    if let Err(error) = deed(&mut rank, &what) {
        println!("rank {}: {error}", rank.rank());
        drop(rank);
        std::process::exit(3);
    }
}
