//! Graphs as edge lists of SNAP and as GraphML.

use std::collections::HashMap;

use eventhorizon::search::Graph;

use super::xml::{Element, Visitor, visit};

/// A graph whose vertices have names.
pub struct NamedGraph {
    /// The graph.
    pub graph: Graph,
    /// The name of each vertex, as the file has it.
    pub names: Vec<String>,
}

/// Vertices by name, and arcs, as they are read.
#[derive(Default)]
struct Growing<'t> {
    numbers: HashMap<std::borrow::Cow<'t, str>, u32>,
    names: Vec<String>,
    arcs: Vec<(u32, u32, u32)>,
}

impl<'t> Growing<'t> {
    fn vertex(&mut self, name: impl Into<std::borrow::Cow<'t, str>>) -> Result<u32, String> {
        let name = name.into();
        if let Some(&number) = self.numbers.get(&name) {
            return Ok(number);
        }
        let number = u32::try_from(self.names.len()).map_err(|_| "the graph has 2^32 vertices".to_owned())?;
        self.names.push(name.clone().into_owned());
        self.numbers.insert(name, number);
        Ok(number)
    }

    fn add(&mut self, from: u32, to: u32, weight: u32, is_directed: bool) {
        self.arcs.push((from, to, weight));
        if !is_directed {
            self.arcs.push((to, from, weight));
        }
    }

    fn done(self) -> Result<NamedGraph, String> {
        let vertices = u32::try_from(self.names.len()).map_err(|error| error.to_string())?;
        let graph = Graph::new(vertices, &self.arcs).map_err(|error| error.to_string())?;
        Ok(NamedGraph { graph, names: self.names })
    }
}

/// A weight: a whole number from 0 to 2^32 - 1, which may have a fraction of zeros.
fn weight(text: &str) -> Result<u32, String> {
    let whole = match text.split_once('.') {
        Some((whole, zeros)) if zeros.bytes().all(|digit| digit == b'0') => whole,
        _ => text,
    };
    whole.parse().map_err(|_| {
        format!("the weight `{text}` is not a whole number from 0 to {}: write it in smaller units", u32::MAX)
    })
}

/// A graph as a list of edges, as SNAP distributes them: two vertices in a line, and a weight if
/// there is a third column; else all weights are 1. Lines with `#` are comments. Edges lead both
/// ways if a comment says "undirected".
///
/// # Errors
/// The line and what is wrong there.
pub fn from_edges(text: &str) -> Result<NamedGraph, String> {
    let mut growing = Growing::default();
    let mut is_directed = true;
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with(['#', '%']) {
            is_directed &= !text.to_ascii_lowercase().contains("undirected");
            continue;
        }
        let at = |what: String| format!("line {line}: {what}");
        let words: Vec<&str> = text.split([' ', '\t', ',']).filter(|word| !word.is_empty()).collect();
        let (from, to, of) = match words[..] {
            [from, to] => (from, to, 1),
            [from, to, of] => (from, to, weight(of).map_err(at)?),
            _ => return Err(at(format!("expected two vertices and perhaps a weight, found `{text:.60}`"))),
        };
        let ends = [growing.vertex(from).map_err(at)?, growing.vertex(to).map_err(at)?];
        growing.add(ends[0], ends[1], of, is_directed);
    }
    growing.done()
}

/// A graph as GraphML. The weight of an edge is its data with the name `weight`; else 1.
///
/// # Errors
/// The line and what is wrong there.
pub fn from_graphml(text: &str) -> Result<NamedGraph, String> {
    let mut reader = GraphMl { growing: Growing::default(), is_directed: true, weight: None, usual: 1 };
    visit(text.as_bytes(), &mut reader)?;
    if reader.growing.names.is_empty() {
        return Err("it has no vertex: expected GraphML".to_owned());
    }
    reader.growing.done()
}

struct GraphMl {
    growing: Growing<'static>,
    is_directed: bool,
    /// The key of weights, and the weight of edges without one.
    weight: Option<String>,
    usual: u32,
}

impl GraphMl {
    fn vertex(&mut self, element: &Element, key: &str) -> Result<u32, String> {
        let name = element.attribute(key).ok_or_else(|| format!("`{}` has no `{key}`", element.name))?;
        self.growing.vertex(name.to_owned())
    }
}

impl Visitor for GraphMl {
    fn begins(&mut self, element: &Element) -> Result<bool, String> {
        if element.name == "graph" {
            self.is_directed = element.attribute("edgedefault") != Some("undirected");
        }
        if element.name == "hyperedge" {
            return Err("edges between more than two vertices are not supported".to_owned());
        }
        // A node may contain a graph, whose edges count too.
        if element.name == "node" {
            self.vertex(element, "id")?;
        }
        Ok(matches!(&*element.name, "key" | "edge"))
    }

    fn whole(&mut self, element: Element) -> Result<(), String> {
        let at = |what: String| format!("the `{}` of line {}: {what}", element.name, element.line);
        if element.name == "key" {
            let is_weight = element.attribute("attr.name") == Some("weight");
            if is_weight && matches!(element.attribute("for"), Some("edge" | "all") | None) {
                self.weight = element.attribute("id").map(str::to_owned);
                if let Some(usual) = element.first("default") {
                    self.usual = weight(usual.text.trim()).map_err(at)?;
                }
            }
            return Ok(());
        }
        let data = element
            .all("data")
            .find(|data| self.weight.is_some() && data.attribute("key") == self.weight.as_deref());
        let of = data.map_or(Ok(self.usual), |data| weight(data.text.trim())).map_err(at)?;
        let is_directed = match element.attribute("directed") {
            Some(directed) => directed == "true",
            None => self.is_directed,
        };
        let (from, to) = (self.vertex(&element, "source")?, self.vertex(&element, "target")?);
        self.growing.add(from, to, of, is_directed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_give_one_graph() {
        let edges = "# Directed graph\n# FromNodeId\tToNodeId\n7\t3\t2\n3\t9\t5.0\n9 7 1\n";
        let xml = "<graphml>\n<key id=\"d1\" for=\"edge\" attr.name=\"weight\" attr.type=\"int\"><default>1</default></key>\n\
            <graph edgedefault=\"directed\">\n<node id=\"7\"/>\n<node id=\"3\"><data key=\"d0\">x</data></node>\n<node id=\"9\"/>\n\
            <edge source=\"7\" target=\"3\"><data key=\"d1\">2</data></edge>\n<edge source=\"3\" target=\"9\"><data key=\"d1\">5</data></edge>\n<edge source=\"9\" target=\"7\"/>\n</graph>\n</graphml>";
        let [one, other] = [from_edges(edges), from_graphml(xml)].map(Result::unwrap);
        assert_eq!(one.names, ["7", "3", "9"]);
        assert_eq!((&one.names, &one.graph), (&other.names, &other.graph));
        assert_eq!(one.graph, Graph::new(3, &[(0, 1, 2), (1, 2, 5), (2, 0, 1)]).unwrap());
        let both = from_edges("# Undirected graph: x.txt\n1 2\n").unwrap();
        assert_eq!(both.graph, Graph::new(2, &[(0, 1, 1), (1, 0, 1)]).unwrap());
        let both = from_graphml(&xml.replace("=\"directed\"", "=\"undirected\"")).unwrap();
        assert_eq!(both.graph.arcs(), 6);
    }

    #[test]
    fn what_is_no_graph_is_refused_with_its_line() {
        for (text, words) in
            [("1 2\n\n3\n", "line 3: expected two vertices"), ("1 2 0.5\n", "line 1: the weight `0.5`")]
        {
            assert!(from_edges(text).err().unwrap().contains(words), "{text}");
        }
        let wrong = from_graphml("<graphml>\n<graph>\n<edge source='1'/></graph></graphml>").err().unwrap();
        assert!(wrong.contains("line 3: `edge` has no `target`"), "{wrong}");
        assert!(from_graphml("<html/>").err().unwrap().contains("expected GraphML"));
    }
}
