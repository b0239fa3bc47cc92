//! Networks as TOML, in the form of the guide.

use std::fmt::Write as _;

use eventhorizon::facility::Network;
use toml::{Table, Value};

use crate::shared::Outcome;

/// Keys with the value that they have if they are missing.
const DEFAULTS: [(&str, &str); 4] =
    [("unit", "\"unit of time\""), ("batch", "1"), ("population", "0"), ("discipline", "\"fifo\"")];

/// A description of a network, with formulas of columns, that reads back as the same network.
///
/// # Errors
/// If a number has no form in TOML.
pub fn of_network(network: &Network, columns: &[(String, String)]) -> Outcome<String> {
    let table = Table::try_from(network)?;
    let mut text = String::new();
    let is_node_table = |value: &Value| {
        value.as_table().is_some_and(|nodes| nodes.values().all(|node| matches!(node, Value::Table(_))))
    };
    let (nodes, keys): (Vec<_>, Vec<_>) = table
        .iter()
        .filter(|(key, value)| !is_default(key, value))
        .partition(|(key, value)| *key != "travel" && is_node_table(value));
    for (key, value) in keys {
        writeln!(text, "{} = {}", name(key), inline(value))?;
    }
    for (kind, all) in nodes {
        for (node, keys) in all.as_table().into_iter().flatten() {
            writeln!(text, "\n[{}.{}]", name(kind), name(node))?;
            let keys = keys.as_table().into_iter().flatten().filter(|(key, value)| !is_default(key, value));
            for (key, value) in keys {
                let value = if matches!(&**key, "to" | "tasks") { route(key, value) } else { inline(value) };
                writeln!(text, "{} = {value}", name(key))?;
            }
        }
    }
    if !columns.is_empty() {
        writeln!(text, "\n[columns]")?;
    }
    for (column, formula) in columns {
        writeln!(text, "{} = {}", name(column), string(formula))?;
    }
    Ok(text)
}

fn is_default(key: &str, value: &Value) -> bool {
    DEFAULTS.contains(&(key, &*inline(value)))
}

/// A key, or one with quotation marks where it needs them.
fn name(key: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    match !key.is_empty() && key.bytes().all(is_bare) {
        true => key.to_owned(),
        false => string(key),
    }
}

/// Escapes of JSON are escapes of TOML.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Float(number) if number.is_infinite() => {
            if *number > 0.0 {
                "inf".to_owned()
            } else {
                "-inf".to_owned()
            }
        }
        Value::Float(number) => format!("{number:?}"),
        Value::Array(all) => format!("[{}]", all.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Table(keys) => {
            let all = keys.iter().map(|(key, value)| format!("{} = {}", name(key), inline(value)));
            format!("{{ {} }}", all.collect::<Vec<_>>().join(", "))
        }
        Value::Integer(number) => number.to_string(),
        Value::Boolean(is_true) => is_true.to_string(),
        Value::Datetime(time) => time.to_string(),
    }
}

/// Links, each in its shortest form, on lines of their own if there are several.
fn route(key: &str, value: &Value) -> String {
    let Value::Array(links) = value else { return inline(value) };
    let link = |link: &Value| match link.as_table() {
        Some(keys) if keys.len() == 1 => keys.get("node").map_or_else(|| inline(link), inline),
        _ => inline(link),
    };
    let links: Vec<String> = links.iter().map(link).collect();
    match &links[..] {
        [one] if key == "to" => one.clone(),
        [one] => format!("[{one}]"),
        _ if links.iter().all(|link| link.starts_with('"')) => format!("[{}]", links.join(", ")),
        _ => format!("[\n    {},\n]", links.join(",\n    ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_reads_back() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/networks");
        let mut read = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let network = Network::from_toml(&std::fs::read_to_string(&path).unwrap()).unwrap();
            let text = of_network(&network, &[]).unwrap();
            assert_eq!(Network::from_toml(&text).unwrap(), network, "{}: {text}", path.display());
            read += 1;
        }
        assert!(read > 15);
    }

    #[test]
    fn arrivals_by_other_laws_have_no_time_between_them() {
        let text =
            "name = \"a\"\n[source.in]\nmap = { d0 = [[-1.0]], d1 = [[1.0]] }\nto = \"out\"\n[sink.out]\n";
        let network = Network::from_toml(text).unwrap();
        let written = of_network(&network, &[]).unwrap();
        assert!(written.contains("map = ") && !written.contains("interarrival"), "{written}");
        assert_eq!(Network::from_toml(&written).unwrap(), network);
    }

    #[test]
    fn names_and_routes_have_their_shortest_form() {
        let text = "name = \"a \\\"b\\\"\"\n[source.\"in 1\"]\ninterarrival = { exponential = 2 }\nto = [{ node = \"desk\", probability = 0.5 }, \"out\"]\n[station.desk]\nservice = { constant = 1 }\nto = \"out\"\n[sink.out]\n";
        let text = of_network(&Network::from_toml(text).unwrap(), &[]).unwrap();
        for line in [
            "name = \"a \\\"b\\\"\"\n",
            "[source.\"in 1\"]\ninterarrival = { exponential = 2.0 }\nto = [\n    { node = \"desk\", probability = 0.5 },\n    \"out\",\n]\n",
            "[station.desk]\nservers = 1\nservice = { constant = 1.0 }\nto = \"out\"\n\n[sink.out]\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(!text.contains("fifo") && !text.contains("batch"), "{text}");
    }
}
