//! Files of other programs: models of JMT, diagrams, and what is refused.

use std::fmt::Write as _;

use serde_json::Value;

use super::folder::Folder;
use super::{ended, run};

const ENGINE: &str = "jmt.engine.NetStrategies";

/// The array of a parameter: an element for each class.
fn by_class<'c>(name: &str, class: &str, each: impl IntoIterator<Item = (&'c str, String)>) -> String {
    let each: String =
        each.into_iter().map(|(of, element)| format!("<refClass>{of}</refClass>\n{element}\n")).collect();
    format!("<parameter array=\"true\" classPath=\"{ENGINE}.{class}\" name=\"{name}\">\n{each}</parameter>\n")
}

fn sub(class: &str, inner: &str) -> String {
    format!("<subParameter classPath=\"{class}\" name=\"it\">{inner}</subParameter>")
}

fn value(name: &str, value: &str) -> String {
    format!(
        "<subParameter classPath=\"java.lang.Double\" name=\"{name}\"><value>{value}</value></subParameter>"
    )
}

fn exponential(rate: f64) -> String {
    let law = sub("jmt.engine.random.Exponential", "");
    let parameters = sub("jmt.engine.random.ExponentialPar", &value("lambda", &rate.to_string()));
    sub(&format!("{ENGINE}.ServiceStrategies.ServiceTimeStrategy"), &format!("{law}{parameters}"))
}

fn queue(size: i32, rule: &str, put: &str, classes: &[&str]) -> String {
    let rules = classes.iter().map(|&class| (class, value("dropStrategy", rule)));
    let puts = classes.iter().map(|&class| (class, sub(&format!("{ENGINE}.QueuePutStrategies.{put}"), "")));
    format!(
        "<section className=\"Queue\">\n<parameter classPath=\"java.lang.Integer\" name=\"size\"><value>{size}</value></parameter>\n{}\
         <parameter classPath=\"{ENGINE}.QueueGetStrategies.FCFSstrategy\" name=\"FCFSstrategy\"/>\n{}</section>\n",
        by_class("dropStrategies", "String", rules),
        by_class("QueuePutStrategy", "QueuePutStrategy", puts),
    )
}

fn server(kind: &str, servers: u32, rates: &[(&str, f64)]) -> String {
    let rates = rates.iter().map(|&(class, rate)| (class, exponential(rate)));
    let jobs = match kind {
        "Delay" | "RandomSource" => String::new(),
        _ => format!(
            "<parameter classPath=\"java.lang.Integer\" name=\"maxJobs\"><value>{servers}</value></parameter>\n"
        ),
    };
    format!(
        "<section className=\"{kind}\">\n{jobs}{}</section>\n",
        by_class("ServiceStrategy", "ServiceStrategy", rates)
    )
}

/// Each class with its strategy: a name, or node and probability.
fn router(strategies: &[(&str, &[(&str, f64)])]) -> String {
    let strategies = strategies.iter().map(|&(class, links)| {
        let inner = match links {
            [(name, 0.0)] => sub(&format!("{ENGINE}.RoutingStrategies.{name}"), ""),
            _ => {
                let entry = |(node, share): &(&str, f64)| {
                    let parts = value("stationName", node) + &value("probability", &share.to_string());
                    sub("jmt.engine.random.EmpiricalEntry", &parts)
                };
                let entries: String = links.iter().map(entry).collect();
                let array = sub("jmt.engine.random.EmpiricalEntry", &entries);
                sub(&format!("{ENGINE}.RoutingStrategies.EmpiricalStrategy"), &array)
            }
        };
        (class, inner)
    });
    format!(
        "<section className=\"Router\">\n{}</section>\n",
        by_class("RoutingStrategy", "RoutingStrategy", strategies)
    )
}

fn node(name: &str, sections: &[String]) -> String {
    format!("<node name=\"{name}\">\n{}</node>\n", sections.concat())
}

const TUNNEL: &str = "<section className=\"ServiceTunnel\"/>\n";

fn archive(classes: &str, nodes: &[String], connections: &[(&str, &str)], more: &str) -> String {
    let connections = connections.iter().fold(String::new(), |mut text, (from, to)| {
        let _ = writeln!(text, "<connection source=\"{from}\" target=\"{to}\"/>");
        text
    });
    format!(
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\" standalone=\"no\"?>\n<archive name=\"m.jsimg\">\n<sim name=\"m.jsimg\">\n{classes}{}{connections}{more}</sim>\n</archive>\n",
        nodes.concat()
    )
}

fn json(name: &str, args: &[&str]) -> Value {
    let output = run(name, &[args, &["--json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The values of theory that `check` prints.
fn theory(file: &str) -> Vec<(String, f64)> {
    let printed = json("check", &[file]);
    let all = printed["points"][0]["facts"]["theory"].as_array().unwrap();
    all.iter().map(|pair| (pair[0].as_str().unwrap().to_owned(), pair[1].as_f64().unwrap())).collect()
}

fn known(theory: &[(String, f64)], name: &str) -> f64 {
    theory.iter().find(|(of, _)| of == name).unwrap_or_else(|| panic!("{name}: {theory:?}")).1
}

/// Runs a model, and compares every mean that has a theory with it.
fn agrees_with_theory(file: &str, least: usize) {
    let printed = json("network", &[file, "--backend", "cpu", "--replications", "40", "--seed", "7"]);
    let mut compared = 0;
    for row in printed["results"].as_array().unwrap() {
        let (Some(mean), Some(theory), Some(half)) =
            (row["mean"].as_f64(), row["theory"].as_f64(), row["half_width"].as_f64())
        else {
            continue;
        };
        // 95 % intervals are 2.02 standard errors wide; 3 of them are missed once in a million.
        assert!((mean - theory).abs() <= 3.0 * half + 1e-9, "{file}: {row}");
        compared += 1;
    }
    assert!(compared >= least, "{compared} of {least}");
}

/// A closed network of a delay and a station with shared servers, as JMT writes it.
fn terminals(think: [f64; 2], serve: [f64; 2], customers: [u32; 2]) -> String {
    let classes = ["interactive", "batch"];
    let rates = |times: [f64; 2]| [(classes[0], 1.0 / times[0]), (classes[1], 1.0 / times[1])];
    let named: String = classes
        .iter()
        .zip(customers)
        .map(|(class, customers)| {
            format!("<userClass customers=\"{customers}\" name=\"{class}\" priority=\"0\" referenceSource=\"Terminals\" type=\"closed\"/>\n")
        })
        .collect();
    let random: [(&str, &[(&str, f64)]); 2] =
        [(classes[0], &[("RandomStrategy", 0.0)]), (classes[1], &[("RandomStrategy", 0.0)])];
    let nodes = [
        node(
            "Terminals",
            &[
                queue(-1, "drop", "TailStrategy", &classes),
                server("Delay", 0, &rates(think)),
                router(&random),
            ],
        ),
        node(
            "CPU",
            &[
                queue(-1, "drop", "TailStrategy", &classes),
                server("PSServer", 1, &rates(serve)),
                router(&random),
            ],
        ),
    ];
    archive(
        &named,
        &nodes,
        &[("Terminals", "CPU"), ("CPU", "Terminals")],
        "<measure name=\"x\" type=\"Throughput\"/>\n",
    )
}

/// Exact mean value analysis of a delay and a station with shared servers: the throughput and the
/// customers at the station, by class.
fn mean_values(think: [f64; 2], serve: [f64; 2], customers: [u32; 2]) -> [[f64; 2]; 2] {
    let index = |a: u32, b: u32| (a * (customers[1] + 1) + b) as usize;
    let mut lines = vec![0.0; index(customers[0], customers[1]) + 1];
    let mut last = [[0.0; 2]; 2];
    for a in 0..=customers[0] {
        for b in 0..=customers[1] {
            last = [[0.0; 2]; 2];
            for (class, here) in [a, b].into_iter().enumerate().filter(|(_, here)| *here > 0) {
                let before = if class == 0 { lines[index(a - 1, b)] } else { lines[index(a, b - 1)] };
                let stay = serve[class] * (1.0 + before);
                let rate = f64::from(here) / (think[class] + stay);
                last[class] = [rate, rate * stay];
            }
            lines[index(a, b)] = last[0][1] + last[1][1];
        }
    }
    last
}

#[test]
fn closed_models_of_jmt_have_the_means_of_mean_value_analysis() {
    let folder = Folder::new("jmt-closed");
    let (think, serve, customers) = ([10.0, 4.0], [0.5, 2.0], [6, 3]);
    let file = folder.file("terminals.jsimg", terminals(think, serve, customers));
    let (known_all, expected) = (theory(&file), mean_values(think, serve, customers));
    for (class, [rate, number]) in ["interactive", "batch"].iter().zip(expected) {
        let of = |measure: &str| known(&known_all, &format!("{measure}(CPU, {class})"));
        assert!(
            (of("throughput") - rate).abs() < 1e-9 && (of("number") - number).abs() < 1e-9,
            "{known_all:?}"
        );
    }
    agrees_with_theory(&file, 8);
    // The same as a model of JMVA, with the CPU visited twice for half as long.
    let text = format!(
        "<?xml version=\"1.0\"?>\n<model>\n<description><![CDATA[Terminals & more]]></description>\n<parameters>\n<classes number=\"2\">\n\
         <closedclass name=\"interactive\" population=\"{}\"/>\n<closedclass name=\"batch\" population=\"{}\"/>\n</classes>\n\
         <stations number=\"2\">\n<delaystation name=\"Terminals\">\n<servicetimes><servicetime customerclass=\"interactive\">10.0</servicetime><servicetime customerclass=\"batch\">4</servicetime></servicetimes>\n\
         <visits><visit customerclass=\"interactive\">1</visit><visit customerclass=\"batch\">1</visit></visits>\n</delaystation>\n\
         <listation name=\"CPU\" servers=\"1\">\n<servicetimes><servicetime customerclass=\"interactive\">0.25</servicetime><servicetime customerclass=\"batch\">1</servicetime></servicetimes>\n\
         <visits><visit customerclass=\"interactive\">2</visit><visit customerclass=\"batch\">2</visit></visits>\n</listation>\n</stations>\n\
         <ReferenceStation number=\"2\"><Class name=\"interactive\" refStation=\"Terminals\"/><Class name=\"batch\" refStation=\"Terminals\"/></ReferenceStation>\n</parameters>\n</model>\n",
        customers[0], customers[1]
    );
    let file = folder.file("terminals.jmva", text);
    let known_all = theory(&file);
    for (class, [rate, number]) in ["interactive", "batch"].iter().zip(expected) {
        let of = |measure: &str| known(&known_all, &format!("{measure}(CPU, {class})"));
        assert!((of("throughput") - 2.0 * rate).abs() < 1e-9, "{known_all:?}");
        assert!((of("number") - number).abs() < 1e-9, "{known_all:?}");
    }
    agrees_with_theory(&file, 8);
}

/// An open model: a source of one class, stations and a sink.
fn open(nodes: &[String], connections: &[(&str, &str)], rate: f64) -> String {
    let class = "<userClass name=\"Class1\" priority=\"0\" referenceSource=\"Source\" type=\"open\"/>\n";
    let random: (&str, &[(&str, f64)]) = ("Class1", &[("RandomStrategy", 0.0)]);
    let source = node(
        "Source",
        &[server("RandomSource", 0, &[("Class1", rate)]), TUNNEL.to_owned(), router(&[random])],
    );
    let sink = node("Sink", &["<section className=\"JobSink\"/>\n".to_owned()]);
    archive(class, &[&[source], nodes, &[sink]].concat(), connections, "")
}

fn station(name: &str, size: i32, rule: &str, servers: u32, rate: f64, to: &[(&str, f64)]) -> String {
    let sections = [
        queue(size, rule, "TailStrategy", &["Class1"]),
        server("Server", servers, &[("Class1", rate)]),
        router(&[("Class1", to)]),
    ];
    node(name, &sections)
}

#[test]
fn open_models_of_jmt_agree_with_formulas() {
    let folder = Folder::new("jmt-open");
    let random: &[(&str, f64)] = &[("RandomStrategy", 0.0)];
    // M/M/1/3 with a load of 0.8: its loss is 0.8^3 · 0.2 / (1 - 0.8^4).
    let full = open(
        &[station("Queue 1", 3, "drop", 1, 1.0, random)],
        &[("Source", "Queue 1"), ("Queue 1", "Sink")],
        0.8,
    );
    let file = folder.file("full.jsimg", full);
    let loss = known(&theory(&file), "loss(Queue 1)");
    assert!((loss - 0.8_f64.powi(3) * 0.2 / (1.0 - 0.8_f64.powi(4))).abs() < 1e-9, "{loss}");
    agrees_with_theory(&file, 4);
    // Feedback: a customer returns with probability 1/4, so the station of 2 servers has the load 2/3.
    let again: &[(&str, f64)] = &[("Queue 1", 0.25), ("Sink", 0.75)];
    let text = open(
        &[station("Queue 1", -1, "drop", 2, 1.0, again)],
        &[("Source", "Queue 1"), ("Queue 1", "Queue 1"), ("Queue 1", "Sink")],
        1.0,
    );
    let file = folder.file("feedback.jsimg", text);
    assert!((known(&theory(&file), "utilisation(Queue 1)") - 2.0 / 3.0).abs() < 1e-9);
    agrees_with_theory(&file, 4);
    // Fork and join over two M/M/1 stations: Nelson and Tantawi's (12 - ρ)/8 · 1/(μ - λ).
    let fork = node("Fork", &[
        queue(-1, "drop", "TailStrategy", &["Class1"]),
        TUNNEL.to_owned(),
        "<section className=\"Fork\"><parameter name=\"jobsPerLink\"><value>1</value></parameter><parameter name=\"isSimplifiedFork\"><value>true</value></parameter></section>\n".to_owned(),
    ]);
    let strategy = sub(&format!("{ENGINE}.JoinStrategies.NormalJoin"), &value("numRequired", "-1"));
    let join = node(
        "Join",
        &[
            format!(
                "<section className=\"Join\">{}</section>\n",
                by_class("JoinStrategy", "JoinStrategy", [("Class1", strategy)])
            ),
            TUNNEL.to_owned(),
            router(&[("Class1", random)]),
        ],
    );
    let nodes =
        [fork, station("A", -1, "drop", 1, 1.0, random), station("B", -1, "drop", 1, 1.0, random), join];
    let connections =
        [("Source", "Fork"), ("Fork", "A"), ("Fork", "B"), ("A", "Join"), ("B", "Join"), ("Join", "Sink")];
    let file = folder.file("fork.jsimg", open(&nodes, &connections, 0.5));
    let sojourn = known(&theory(&file), "sojourn(Fork)");
    assert!((sojourn - (12.0 - 0.5) / 8.0 / 0.5).abs() < 1e-9, "{sojourn}");
    agrees_with_theory(&file, 6);
    // Visits of an open class of JMVA: 0.5 · 3 · 0.4 of the station's time.
    let text = "<model><parameters><classes number=\"1\"><openclass name=\"C\" rate=\"0.5\"/></classes><stations number=\"1\"><listation name=\"S\">\
        <servicetimes><servicetime customerclass=\"C\">0.4</servicetime></servicetimes><visits><visit customerclass=\"C\">3</visit></visits></listation></stations></parameters></model>";
    let file = folder.file("open.jmva", text);
    let all = theory(&file);
    assert!(
        (known(&all, "utilisation(S)") - 0.6).abs() < 1e-9 && (known(&all, "number(S)") - 1.5).abs() < 1e-9,
        "{all:?}"
    );
    // Several servers, as JMVA writes them: times that depend on the number of customers.
    let text = "<model><parameters><classes number=\"1\"><closedclass name=\"C\" population=\"4\"/></classes><stations number=\"2\"><ldstation name=\"S\">\
        <servicetimes><servicetimes customerclass=\"C\">1.0;0.5;0.5;0.5</servicetimes></servicetimes><visits><visit customerclass=\"C\">1</visit></visits></ldstation>\
        <delaystation name=\"Z\"><servicetimes><servicetime customerclass=\"C\">3</servicetime></servicetimes><visits><visit customerclass=\"C\">1</visit></visits></delaystation></stations></parameters></model>";
    let file = folder.file("servers.jmva", text);
    let converted = run("convert", &[&file, "--to", "json"]);
    let printed: Value = serde_json::from_slice(&converted.stdout).unwrap();
    assert_eq!(printed["station"]["S"]["servers"], 2);
    // What would be another model is refused.
    let twice = text.replace("<delaystation name=\"Z\">", "<delaystation name=\"S\">");
    let classes = "<classes number=\"2\"><closedclass name=\"C\" population=\"4\"/><closedclass name=\"D\" population=\"1\"/></classes>";
    let differing = text
        .replace("<classes number=\"1\"><closedclass name=\"C\" population=\"4\"/></classes>", classes)
        .replace(
            "0.5;0.5;0.5</servicetimes>",
            "0.5;0.5;0.5</servicetimes><servicetimes customerclass=\"D\">1;1;1;1;1</servicetimes>",
        )
        .replace("3</servicetime>", "3</servicetime><servicetime customerclass=\"D\">3</servicetime>")
        .replace("1</visit>", "1</visit><visit customerclass=\"D\">1</visit>");
    for (text, words) in [(twice, "another station called `S`"), (differing, "the same for all classes")] {
        let refused = run("convert", &[&folder.file("refused.jmva", text), "--to", "json"]);
        let printed = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && printed.contains(words), "{printed}");
    }
}

#[test]
fn a_converted_model_runs_with_the_same_results() {
    let folder = Folder::new("jmt-convert");
    let file = folder.file("terminals.jsimg", terminals([10.0, 4.0], [0.5, 2.0], [6, 3]));
    let toml = folder.file("terminals.toml", "");
    let converted = run("convert", &[&file, "--out", &toml]);
    assert!(converted.status.success(), "{converted:?}");
    let runs = [&file, &toml].map(|file| json("network", &[file, "--backend", "cpu", "--replications", "2"]));
    assert_eq!(runs[0]["fingerprint"], runs[1]["fingerprint"]);
    // A number of it varies as in a description.
    let changed = json(
        "network",
        &[&file, "--backend", "cpu", "--replications", "2", "--set", "station.CPU.servers=2"],
    );
    assert_ne!(runs[0]["fingerprint"], changed["fingerprint"]);
    for (form, words) in [("dot", "n1 -> n0"), ("mermaid", "n0 --> n1")] {
        let drawn = run("convert", &[&file, "--to", form]);
        let printed = String::from_utf8(drawn.stdout).unwrap();
        assert!(drawn.status.success() && printed.contains(words), "{printed}");
    }
}

#[test]
fn everything_that_is_not_supported_is_listed_with_its_line() {
    let folder = Folder::new("jmt-refused");
    let random: &[(&str, f64)] = &[("RandomStrategy", 0.0)];
    let text = open(
        &[
            station("Queue 1", 3, "waiting queue", 1, 1.0, random),
            station("Queue 2", -1, "drop", 1, 1.0, &[("PowerOfKRoutingStrategy", 0.0)]),
            node("Place", &["<section className=\"Storage\"/>\n".to_owned()]),
        ],
        &[("Source", "Queue 1"), ("Queue 1", "Queue 2"), ("Queue 2", "Sink"), ("Queue 2", "Queue 1")],
        0.5,
    );
    let place = 1 + text.lines().position(|line| line.contains("\"Place\"")).unwrap();
    let file = folder.file("m.jsimg", &text);
    let refused = run("network", &[&file]);
    ended::ended(
        &refused,
        2,
        &[
            "m.jsimg: this model cannot be read",
            &format!("line {place}, node `Place`: a node with the sections Storage"),
        ],
        "a place",
    );
    let text = text.replace("<node name=\"Place\">\n<section className=\"Storage\"/>\n</node>\n", "");
    let file = folder.file("m.jsimg", &text);
    let line = |words: &str| 1 + text.lines().position(|line| line.contains(words)).unwrap();
    let rule = format!(
        "line {}, section `Queue`: `Queue 1` has a bound with the rule `waiting queue`",
        line("Queue 1") + 1
    );
    let power = format!("line {}, subParameter `it`: `PowerOfKRoutingStrategy`", line("PowerOfK"));
    ended::ended(&run("check", &[&file]), 2, &[&rule, &power], "two reasons");
    for (name, text, words) in [
        ("a.jsimg", "<archive>\n<sim>", "a.jsimg: line 2: the file ends within an element"),
        ("b.jsimg", "<html/>", "found the element `html`"),
        ("c.jmva", "<model/>", "line 1, model: the element `parameters` is missing"),
        ("d.jsimg", "<sim><userClass name='x' type='odd'/></sim>", "found `odd`"),
    ] {
        ended::ended(&run("network", &[&folder.file(name, text)]), 2, &[words], name);
    }
    // Another encoding, named in the first line.
    let mut bytes = terminals([1.0; 2], [0.1; 2], [1, 1]).replace("Terminals", "Ger?t").into_bytes();
    bytes.iter_mut().filter(|byte| **byte == b'?').skip(1).for_each(|byte| *byte = 0xe4);
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    bytes[..end].iter_mut().filter(|byte| **byte == 0xe4).for_each(|byte| *byte = b'?');
    let file = folder.file("latin.jsimg", bytes);
    assert!(json("check", &[&file])["points"][0]["facts"]["nodes"].to_string().contains("Gerät"));
}

#[test]
fn cars_of_sumo_are_matched_as_positions_are() {
    let folder = Folder::new("sumo");
    let xml = "<fcd-export>\n<timestep time=\"0.00\"><vehicle id=\"a\" x=\"0\" y=\"0\"/></timestep>\n<timestep time=\"1.00\">\n\
        <vehicle id=\"a\" x=\"0.5\" y=\"2\"/><vehicle id=\"b\" x=\"1.25\" y=\"2\"/><vehicle id=\"c\" x=\"9\" y=\"9\"/>\n</timestep>\n</fcd-export>\n";
    let csv =
        "timestep_time;vehicle_id;vehicle_x;vehicle_y\n0.00;a;0;0\n1.00;a;0.5;2\n1.00;b;1.25;2\n1.00;c;9;9\n";
    let files = [("cars.xml", xml), ("cars.csv", csv), ("plain.csv", "0.5,2\n1.25,2\n9,9\n")];
    let files = files.map(|(name, text)| folder.file(name, text));
    for file in &files {
        let printed = json("match", &["--positions", file, "--width", "1", "--backend", "cpu"]);
        assert_eq!((&printed["regions"], &printed["pairs"]), (&6.into(), &5.into()), "{file}: {printed}");
    }
    for file in &files[..2] {
        let args = ["--positions", file, "--width", "1", "--backend", "cpu", "--time"];
        assert_eq!(json("match", &[&args[..], &["0"]].concat())["pairs"], 1);
        ended::ended(&run("match", &[&args[..], &["7"]].concat()), 2, &["no positions at the time 7"], file);
    }
    let wrong = run("match", &["--positions", &files[2], "--width", "1", "--time", "1"]);
    ended::ended(&wrong, 2, &["--time is for floating car data"], "plain positions");
}

#[test]
fn graphs_of_all_forms_are_searched_alike() {
    let folder = Folder::new("graphs");
    let arcs = [(4, 7, 3), (7, 2, 1), (2, 4, 5), (7, 4, 2)];
    let lines =
        |of: &dyn Fn(u32, u32, u32) -> String| arcs.map(|(from, to, weight)| of(from, to, weight)).concat();
    let edges = lines(&|from, to, weight| format!("{from}\t{to}\t{weight}\n"));
    let xml = lines(&|from, to, weight| {
        format!("<edge source=\"{from}\" target=\"{to}\"><data key=\"w\">{weight}</data></edge>\n")
    });
    // The numbers that vertices get in the order in which they occur.
    let number = |name: u32| {
        if name == 4 {
            1
        } else if name == 7 {
            2
        } else {
            3
        }
    };
    let dimacs = lines(&|from, to, weight| format!("a {} {} {weight}\n", number(from), number(to)));
    let files = [
        ("g.gr", format!("p sp 3 4\n{dimacs}")),
        ("g.txt", format!("# Directed graph\n{edges}")),
        (
            "g.graphml",
            format!(
                "<graphml><key id=\"w\" for=\"edge\" attr.name=\"weight\"/>\n<graph edgedefault=\"directed\">\n{xml}</graph></graphml>"
            ),
        ),
    ];
    let files = files.map(|(name, text)| folder.file(name, text));
    let args = |file| ["--graph", file, "--searches", "20", "--backend", "cpu"];
    let prints = [0, 1, 2].map(|file| json("search", &args(&files[file]))["fingerprint"].clone());
    assert!(prints.iter().all(|print| *print == prints[0]), "{prints:?}");
    let paths = run("search", &[&args(&files[1])[..], &["--paths", "-"]].concat());
    let printed = String::from_utf8(paths.stdout).unwrap();
    let vertices: Vec<&str> = printed.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    assert!(vertices.len() > 20 && vertices.iter().all(|name| ["4", "7", "2"].contains(name)), "{printed}");
    let coords = run("search", &[&args(&files[1])[..], &["--coords", &files[0]]].concat());
    ended::ended(&coords, 2, &["--coords needs a graph of the 9th DIMACS challenge"], "coordinates");
    let wrong = folder.file("wrong.txt", "1 2\n3\n");
    ended::ended(
        &run("search", &args(&wrong)),
        2,
        &["wrong.txt: line 2: expected two vertices"],
        "one vertex",
    );
}

#[test]
fn scalars_of_omnet_have_each_replication() {
    let folder = Folder::new("scalars");
    let (file, sca) =
        (folder.file("m.jsimg", terminals([10.0, 4.0], [0.5, 2.0], [6, 3])), folder.file("m.sca", ""));
    let printed = json("network", &[&file, "--backend", "cpu", "--replications", "3", "--sca", &sca]);
    let text = std::fs::read_to_string(&sca).unwrap();
    assert!(text.starts_with("version 3\nrun m-1-0-"), "{text:.200}");
    assert_eq!(text.lines().filter(|line| line.starts_with("run ")).count(), 3);
    assert!(
        text.contains("\nattr replication #2\n") && text.contains("\nattr unit \"unit of time\"\n"),
        "{text:.900}"
    );
    let scalars = text.lines().filter_map(|line| line.strip_prefix("scalar m.CPU throughput(batch) "));
    let values: Vec<f64> = scalars.map(|value| value.parse().unwrap()).collect();
    let rows = printed["results"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["node"] == "CPU" && row["class"] == "batch" && row["measure"] == "throughput");
    // All replications have the same length, so their mean is the estimate.
    let mean = values.iter().sum::<f64>() / 3.0;
    assert!((mean - row.unwrap()["mean"].as_f64().unwrap()).abs() < 1e-9 && values.len() == 3, "{values:?}");
    let several = run("network", &[&file, "--set", "station.CPU.servers=1,2", "--sca", &sca]);
    ended::ended(&several, 2, &["--sca"], "several points");
}
