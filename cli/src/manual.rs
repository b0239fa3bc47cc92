//! Examples in the help of each command, completion scripts for shells, and pages for `man`.

use std::io::stdout;
use std::path::Path;

use clap::Command;
use eventhorizon_cli::shared::Outcome;

/// Each command with its source file, which contains the examples in its head.
const SOURCES: [(&str, &str); 21] = [
    ("run", include_str!("commands/run/mod.rs")),
    ("network", include_str!("commands/network.rs")),
    ("process", include_str!("commands/process.rs")),
    ("init", include_str!("commands/init.rs")),
    ("check", include_str!("commands/check.rs")),
    ("convert", include_str!("commands/convert.rs")),
    ("optimise", include_str!("commands/optimise.rs")),
    ("fit", include_str!("commands/fit.rs")),
    ("match", include_str!("commands/region_matching.rs")),
    ("search", include_str!("commands/astar.rs")),
    ("papers", include_str!("commands/papers/mod.rs")),
    ("doctor", include_str!("commands/doctor.rs")),
    ("phold", include_str!("commands/phold.rs")),
    ("phold-ranks", include_str!("commands/phold_ranks.rs")),
    ("experiment", include_str!("commands/experiment.rs")),
    ("mrip-mm1", include_str!("commands/mrip_mm1.rs")),
    ("mrip-pi", include_str!("commands/mrip_pi.rs")),
    ("mrip-walk", include_str!("commands/mrip_walk.rs")),
    ("activity", include_str!("commands/activity.rs")),
    ("moving-crowd", include_str!("commands/moving_crowd.rs")),
    ("soak", include_str!("commands/soak.rs")),
];

/// Adds the examples of each command below its options.
pub(crate) fn with_examples(command: Command) -> Command {
    SOURCES.iter().fold(command, |command, (name, source)| {
        let examples = examples(source);
        command.mut_subcommand(name, |command| command.after_help(format!("Examples:\n{examples}")))
    })
}

/// The lines of the first code block in the head of a source file.
fn examples(source: &str) -> String {
    let head = source.lines().map_while(|line| line.strip_prefix("//!"));
    let block = head.skip_while(|line| line.trim() != "```text").skip(1);
    let lines = block.take_while(|line| line.trim() != "```").map(|line| format!("  {}", line.trim_start()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Prints the completion script for a shell.
pub(crate) fn completions(shell: clap_complete::Shell, mut command: Command) {
    clap_complete::generate(shell, &mut command, "eventhorizon", &mut stdout());
}

/// Writes a page for `man` for the program and each command.
pub(crate) fn pages(folder: &Path, command: Command) -> Outcome<()> {
    let named = |error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(named)?;
    Ok(clap_mangen::generate_to(command, folder).map_err(named)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn every_command_has_examples_of_itself() {
        let command = crate::Program::command();
        let without = ["completions", "man"];
        for command in command.get_subcommands().filter(|command| !without.contains(&command.get_name())) {
            let name = command.get_name();
            let Some((_, source)) = SOURCES.iter().find(|(other, _)| *other == name) else {
                panic!("SOURCES lacks {name}")
            };
            let examples = examples(source);
            assert!(examples.contains(&format!("eventhorizon {name}")), "{name}: {examples}");
        }
    }
}
