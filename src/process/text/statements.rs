//! Statements: tables with one action.

use super::super::error::ProcessError;
use super::super::ir::{
    Action, Awaited, Expression, Patience, Policy, Preempted, Request, Statement, Waiting,
};
use super::keys::{Keys, expression, list, number, setting, table, text};
use super::tree::{Node, Tree};
use super::values::value;

/// Actions. The first of them that a table has is its action: the last ones are keys of others,
/// too.
pub(super) const ACTIONS: [&str; 31] = [
    "delay",
    "seize",
    "release",
    "use",
    "resize",
    "select",
    "put",
    "get",
    "give",
    "take",
    "wait",
    "wait_until",
    "wait_any",
    "batch",
    "send",
    "spawn",
    "clone",
    "interrupted",
    "interrupt",
    "if",
    "with",
    "while",
    "repeat",
    "forever",
    "go",
    "end",
    "note",
    "set",
    "join",
    "tally",
    "count",
];

/// Levels of blocks in each other: what reads and compiles them is recursive.
const MOST_DEPTH: usize = 32;

/// A list of statements.
pub(super) fn statements(node: &Node, what: &str, depth: usize) -> Result<Vec<Statement>, ProcessError> {
    if depth == MOST_DEPTH {
        return Err(ProcessError::TooMany {
            what: "levels of blocks in each other",
            count: depth + 1,
            most: MOST_DEPTH,
        });
    }
    list(node, what)?.iter().map(|node| statement(node, depth + 1)).collect()
}

/// A list of statements, or the name of a block.
fn block(node: &Node, what: &str, depth: usize) -> Result<Vec<Statement>, ProcessError> {
    match &node.value {
        Tree::Text(block) => {
            let action = Action::Go { block: block.clone() };
            Ok(vec![Statement { action, label: None, place: node.place }])
        }
        Tree::List(_) => statements(node, what, depth),
        _ => Err(setting(node, what, "write a list of statements, or the name of a block")),
    }
}

/// A block that may be missing.
fn optional(keys: &mut Keys<'_>, key: &'static str, depth: usize) -> Result<Vec<Statement>, ProcessError> {
    keys.take(key).map_or(Ok(Vec::new()), |node| block(node, key, depth))
}

fn body(keys: &mut Keys<'_>, depth: usize) -> Result<Vec<Statement>, ProcessError> {
    statements(keys.need("do", "write what is done: `do = [...]`")?, "do", depth)
}

fn statement(node: &Node, depth: usize) -> Result<Statement, ProcessError> {
    let given = table(node, "a statement")?;
    let Some(name) = ACTIONS.into_iter().find(|action| given.contains_key(*action)) else {
        let known = ACTIONS.iter().map(|&action| action.to_owned()).collect();
        let Some((name, value)) = given.iter().next() else {
            let (place, what) = (node.place, "a statement".to_owned());
            let remedy = "write an action: `{ delay = 3 }`".to_owned();
            return Err(ProcessError::Setting { place, what, value: "an empty table".to_owned(), remedy });
        };
        // A key of an action beside a mistyped action is not what is wrong.
        let near = |name: &&String| crate::text::closest(name, ACTIONS).is_some();
        let name = given.keys().find(near).unwrap_or(name).clone();
        return Err(ProcessError::Unknown { place: value.place, name, what: "a statement", known });
    };
    let mut keys = Keys::of(node, format!("`{name}`"))?;
    let subject = keys.take(name).expect("the action is a key of the table");
    let label = keys.text("label")?;
    let action = action(name, subject, &mut keys, depth)?;
    // A second action has a remedy of its own.
    if let Some((other, second)) = keys.others().find(|(key, _)| ACTIONS.contains(&key.as_str())) {
        return Err(ProcessError::Setting {
            place: second.place,
            what: "a statement".to_owned(),
            value: format!("both `{name}` and `{other}`"),
            remedy: "write two statements".to_owned(),
        });
    }
    keys.end()?;
    Ok(Statement { action, label, place: node.place })
}

fn action(name: &str, subject: &Node, keys: &mut Keys<'_>, depth: usize) -> Result<Action, ProcessError> {
    Ok(match name {
        "delay" => Action::Delay(value(subject, name)?),
        "seize" => Action::Seize { requests: requests(name, subject, keys)?, waiting: waiting(keys, depth)? },
        "release" => Action::Release { requests: requests(name, subject, keys)? },
        "use" => Action::Use {
            requests: requests(name, subject, keys)?,
            waiting: Waiting {
                preempted: preempted(keys, depth)?,
                then: keys.take("then").map_or(Ok(Vec::new()), |node| statements(node, "then", depth))?,
                ..waiting(keys, depth)?
            },
            body: keys.take("do").map_or(Ok(Vec::new()), |node| statements(node, "do", depth))?,
            time: keys.take("for").map(|time| value(time, "for")).transpose()?,
        },
        "put" | "get" => {
            let container = text(subject, name)?;
            let amount = keys.expression("amount")?.unwrap_or(Expression::Number(1.0));
            let waiting = waiting(keys, depth)?;
            match name {
                "put" => Action::Put { container, amount, waiting },
                _ => Action::Get { container, amount, waiting },
            }
        }
        "give" => Action::Give { store: text(subject, name)?, waiting: waiting(keys, depth)? },
        "take" => {
            let into = keys.take("into").map(|into| table(into, "into")).transpose()?;
            let pairs = into.into_iter().flatten();
            let into = pairs.map(|(own, theirs)| Ok((own.clone(), text(theirs, own)?)));
            let into = into.collect::<Result<_, ProcessError>>()?;
            Action::Take { store: text(subject, name)?, into, waiting: waiting(keys, depth)? }
        }
        "wait" => Action::Wait { signal: text(subject, name)?, waiting: waiting(keys, depth)? },
        "wait_until" => {
            let condition = expression(subject, name)?;
            Action::WaitUntil { condition, waiting: waiting(keys, depth)? }
        }
        "wait_any" => {
            let arms = list(subject, name)?.iter().map(|node| awaited(node, depth));
            Action::WaitAny { arms: arms.collect::<Result<_, _>>()?, waiting: waiting(keys, depth)? }
        }
        "resize" => Action::Resize {
            resource: text(subject, name)?,
            units: expression(keys.need("units", "write how many there are: `units = 3`")?, "units")?,
        },
        "select" => {
            let among = list(subject, name)?.iter().map(|node| text(node, name));
            Action::Select {
                among: among.collect::<Result<_, _>>()?,
                by: policy(keys.need("by", "write how: `by = \"shortest\"`")?)?,
                body: body(keys, depth)?,
            }
        }
        "batch" => Action::Batch {
            size: expression(subject, name)?,
            body: keys.take("do").map_or(Ok(Vec::new()), |node| statements(node, "do", depth))?,
            permanent: keys.truth("permanent")?,
            waiting: waiting(keys, depth)?,
        },
        "interrupted" => {
            Action::Interruptible { body: body(keys, depth)?, handler: block(subject, name, depth)? }
        }
        "interrupt" => Action::Interrupt {
            entity: text(subject, name)?,
            number: expression(keys.need("number", "write which of them: `number = 1`")?, "number")?,
        },
        "send" => Action::Send { signal: text(subject, name)? },
        "spawn" => {
            let set = keys.take("set").map(|set| table(set, "set")).transpose()?;
            let set =
                set.into_iter().flatten().map(|(name, value)| Ok((name.clone(), expression(value, name)?)));
            Action::Spawn {
                entity: text(subject, name)?,
                count: keys.expression("count")?.unwrap_or(Expression::Number(1.0)),
                set: set.collect::<Result<_, ProcessError>>()?,
                joined: keys.truth("join")?,
            }
        }
        "clone" => Action::Clone {
            count: expression(subject, name)?,
            body: body(keys, depth)?,
            joined: keys.truth("join")?,
        },
        "if" | "with" => branches(name, subject, keys, depth)?,
        "while" => Action::While { condition: expression(subject, name)?, body: body(keys, depth)? },
        "repeat" => Action::Repeat { count: Some(expression(subject, name)?), body: body(keys, depth)? },
        "forever" => Action::Repeat { count: None, body: statements(subject, name, depth)? },
        "set" => {
            let to = keys.need("to", "write its value: `to = ...`")?;
            Action::Set { name: text(subject, name)?, value: value(to, "to")? }
        }
        "tally" => Action::Tally { name: text(subject, name)?, value: keys.expression("value")? },
        "count" => Action::Count { name: text(subject, name)?, by: keys.expression("by")? },
        "note" => Action::Note { name: text(subject, name)?, value: keys.expression("value")? },
        "go" => Action::Go { block: text(subject, name)? },
        "join" => sure(subject, name).map(|()| Action::Join)?,
        _ => sure(subject, name).map(|()| Action::End)?,
    })
}

/// What `use` does when its unit is taken.
fn preempted(keys: &mut Keys<'_>, depth: usize) -> Result<Preempted, ProcessError> {
    let Some(node) = keys.take("preempted") else { return Ok(Preempted::default()) };
    match &node.value {
        Tree::List(_) => Ok(Preempted::Lose(statements(node, "preempted", depth)?)),
        Tree::Text(text) if text == "resume" => Ok(Preempted::Resume),
        Tree::Text(text) if text == "repeat" => Ok(Preempted::Repeat),
        Tree::Text(text) if text == "restart" => Ok(Preempted::Restart),
        _ => {
            let remedy = "write \"resume\", \"repeat\", \"restart\", or a list of statements";
            Err(setting(node, "preempted", remedy))
        }
    }
}

fn policy(node: &Node) -> Result<Policy, ProcessError> {
    match &node.value {
        Tree::Text(text) if text == "shortest" => Ok(Policy::Shortest),
        Tree::Text(text) if text == "most_free" => Ok(Policy::MostFree),
        Tree::Text(text) if text == "in_turn" => Ok(Policy::InTurn),
        Tree::Text(text) if text == "random" => Ok(Policy::Random),
        _ => {
            let remedy = "write \"shortest\", \"most_free\", \"in_turn\" or \"random\"";
            Err(setting(node, "by", remedy))
        }
    }
}

/// A branch of `wait_any`.
fn awaited(node: &Node, depth: usize) -> Result<(Awaited, Vec<Statement>), ProcessError> {
    let mut keys = Keys::of(node, "a branch of `wait_any`")?;
    let found = match (keys.take("signal"), keys.take("until")) {
        (Some(signal), None) => Awaited::Signal(text(signal, "signal")?),
        (None, Some(condition)) => Awaited::Until(expression(condition, "until")?),
        _ => {
            let remedy = "write `signal = \"opened\"` or `until = \"x > 3\"`";
            return Err(setting(node, "wait_any", remedy));
        }
    };
    let then = optional(&mut keys, "do", depth)?;
    keys.end()?;
    Ok((found, then))
}

/// Checks that the value is `true`.
fn sure(node: &Node, what: &str) -> Result<(), ProcessError> {
    match node.value {
        Tree::Truth(true) => Ok(()),
        _ => Err(setting(node, what, "write `true`")),
    }
}

/// `"bed"` with `units`, or `{ berth = 1, tug = 2 }`.
fn requests(name: &str, node: &Node, keys: &mut Keys<'_>) -> Result<Vec<Request>, ProcessError> {
    match &node.value {
        Tree::Text(resource) => {
            let units = keys.expression("units")?.unwrap_or(Expression::Number(1.0));
            Ok(vec![Request { resource: resource.clone(), units }])
        }
        Tree::Table(all) if !all.is_empty() => {
            let request = |(resource, units): (&String, &Node)| {
                Ok(Request { resource: resource.clone(), units: expression(units, resource)? })
            };
            all.iter().map(request).collect()
        }
        _ => {
            Err(setting(node, name, "name a resource, or several with their units: `{ berth = 1, tug = 2 }`"))
        }
    }
}

fn waiting(keys: &mut Keys<'_>, depth: usize) -> Result<Waiting, ProcessError> {
    let priority = keys.expression("priority")?;
    let patience = keys.take("patience").map(|node| patience(node, depth)).transpose()?;
    Ok(Waiting { priority, patience, tally: keys.text("tally")?, ..Waiting::default() })
}

/// `{ time = 20, when = "level > 3", else = "left" }`, or a time alone.
fn patience(node: &Node, depth: usize) -> Result<Patience, ProcessError> {
    let long = match &node.value {
        Tree::Table(of) => of.keys().any(|key| ["time", "when", "else", "continue"].contains(&key.as_str())),
        _ => false,
    };
    if !long {
        let time = value(node, "patience")?;
        return Ok(Patience { when: None, time, otherwise: Vec::new(), continues: false });
    }
    let mut keys = Keys::of(node, "`patience`")?;
    let time = value(keys.need("time", "write how long it waits: `time = 20`")?, "time")?;
    let when = keys.expression("when")?;
    let otherwise = optional(&mut keys, "else", depth)?;
    let continues = keys.truth("continue")?;
    keys.end()?;
    Ok(Patience { when, time, otherwise, continues })
}

/// `if` with `elif`, and `with` with one probability or a list of them.
fn branches(name: &str, subject: &Node, keys: &mut Keys<'_>, depth: usize) -> Result<Action, ProcessError> {
    let mut arms = Vec::new();
    let more = |nodes: &Node, what: &str, key: &'static str, arms: &mut Vec<_>| {
        for node in list(nodes, what)? {
            let mut keys = Keys::of(node, format!("a branch of `{name}`"))?;
            let of = keys.need(key, "a branch begins with its condition or probability")?;
            let of = expression(of, key)?;
            let then = keys.need("do", "write what is done: `do = [...]`")?;
            arms.push((of, block(then, "do", depth)?));
            keys.end()?;
        }
        Ok::<(), ProcessError>(())
    };
    if let (Tree::List(_), "with") = (&subject.value, name) {
        more(subject, name, "p", &mut arms)?;
    } else {
        let then = keys.need("do", "write what is done: `do = [...]`")?;
        arms.push((expression(subject, name)?, block(then, "do", depth)?));
    }
    if name == "with" {
        return Ok(Action::With { arms, otherwise: optional(keys, "else", depth)? });
    }
    if let Some(elif) = keys.take("elif") {
        more(elif, "elif", "if", &mut arms)?;
    }
    Ok(Action::If { arms, otherwise: optional(keys, "else", depth)? })
}

/// The end of a time, `until` or `warm_up`, in units.
pub(super) fn time(node: &Node, what: &str) -> Result<f64, ProcessError> {
    let time = number(node, what)?;
    if time >= 0.0 { Ok(time) } else { Err(setting(node, what, "write a time that is not negative")) }
}
