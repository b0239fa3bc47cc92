#!/usr/bin/env python3
"""Runs descriptions of examples/networks with Ciw, too, and checks that both say the same.

    pip install ciw
    cargo build --release -p eventhorizon-cli
    python3 scripts/compare_ciw.py [--program PATH] [--backend cpu|gpu] [--replications N] [FILE.toml ...]

Both make independent replications of the same description. A mean agrees if it lies no further from the other than 1.5 times the half width of the
interval of their difference (at 95 %). Ends with 1 if one does not. What Ciw has no like of, or has in another meaning, is named and left out.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time
import tomllib

import ciw

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "examples" / "networks"
FILES = ["mm1", "mg1", "mmck", "jackson", "clinic", "call_centre", "processor", "line"]
# Student's t at 97.5 %, by degrees of freedom.
STUDENT = {7: 2.365, 9: 2.262, 11: 2.201, 15: 2.131, 19: 2.093, 23: 2.069, 31: 2.040}


class Unlike(Exception):
    """What Ciw does not have, or not like this."""


def distribution(law):
    if law is None:
        return None
    ((name, value),) = law.items()
    if name == "constant":
        return ciw.dists.Deterministic(value=value)
    if name == "exponential":
        return ciw.dists.Exponential(rate=1 / value)
    if name == "uniform":
        return ciw.dists.Uniform(lower=value[0], upper=value[1])
    if name == "triangular":
        return ciw.dists.Triangular(lower=value[0], mode=value[1], upper=value[2])
    if name == "erlang":
        return ciw.dists.Erlang(rate=value["stages"] / value["mean"], num_phases=value["stages"])
    if name == "hyperexponential":
        rates = [1 / value["first"], 1 / value["second"]]
        return ciw.dists.HyperExponential(rates=rates, probs=[value["probability"], 1 - value["probability"]])
    if name == "lognormal":
        spread = math.log(1 + (value["deviation"] / value["mean"]) ** 2)
        return ciw.dists.Lognormal(mean=math.log(value["mean"]) - spread / 2, sd=math.sqrt(spread))
    if name == "weibull":
        return ciw.dists.Weibull(scale=value["scale"], shape=value["shape"])
    raise Unlike(f"the distribution {name}")


def links(to):
    """Links as (node, probability, class)."""
    if isinstance(to, dict):
        raise Unlike("ways in turn or to the shortest line")
    to = [to] if isinstance(to, str) else to
    to = [{"node": link} if isinstance(link, str) else link for link in to]
    if any("travel" in link for link in to):
        raise Unlike("ways that take time")
    if any("becomes" in link or "class" in link for link in to):
        raise Unlike("ways that depend on the class")
    rest = 1 - sum(link.get("probability", 0) for link in to)
    return [(link["node"], link.get("probability", rest)) for link in to]


def translate(net):
    """The network as Ciw has it, and what else is needed to simulate it."""
    for kind in ("router", "fork"):
        if kind in net:
            raise Unlike(f"a {kind}")
    if "travel" in net:
        raise Unlike("ways that take time")
    classes = net.get("classes", ["customer"])
    stations = {**net.get("station", {}), **net.get("delay", {})}
    names = list(stations)
    if not net.get("source"):
        raise Unlike("a closed network")
    sinks = set(net.get("sink", {}))
    arrivals = {c: [None] * len(names) for c in classes}
    for source in net["source"].values():
        if "rates" in source or source.get("batch", 1) != 1:
            raise Unlike("a source with batches or rates")
        ((first, _),) = links(source["to"])
        place = arrivals[source.get("class", classes[0])]
        if place[names.index(first)] is not None:
            raise Unlike("two sources of one class at a node")
        place[names.index(first)] = distribution(source["interarrival"])
    services, reneging = ({c: [] for c in classes} for _ in range(2))
    servers, capacities, disciplines, rows = [], [], [], []
    preempt = priorities = False
    for name, node in stations.items():
        if "balking" in node or "breakdown" in node or "schedule" in node or "population" in node:
            raise Unlike("balking, breakdowns, schedules, populations")
        discipline = node.get("discipline", "fifo")
        if discipline in ("sharing", "polling"):
            raise Unlike(f"the discipline {discipline}")
        preempt |= discipline == "preemptive"
        priorities |= discipline in ("priority", "preemptive")
        disciplines.append({"lifo": ciw.disciplines.LIFO, "random": ciw.disciplines.SIRO}.get(discipline, ciw.disciplines.FIFO))
        delay = name in net.get("delay", {})
        servers.append(math.inf if delay else node.get("servers", 1))
        capacities.append(node["capacity"] - servers[-1] if "capacity" in node else math.inf)
        fed = {to for other in stations.values() for to, _ in links(other["to"])}
        if "capacity" in node and node.get("when_full", "lose") == "lose" and name in fed:
            raise Unlike("loss between stations")
        for c in classes:
            law = node.get("service_of", node.get("time_of", {})).get(c, node.get("service", node.get("time")))
            services[c].append(distribution(law))
            reneging[c].append(distribution(node.get("patience_of", {}).get(c, node.get("patience"))))
        row = [0.0] * len(names)
        for to, probability in links(node["to"]):
            if to not in sinks:
                row[names.index(to)] += probability
        rows.append(row)
    settings = dict(
        arrival_distributions=arrivals,
        service_distributions=services,
        number_of_servers=servers,
        queue_capacities=capacities,
        service_disciplines=disciplines,
        routing={c: rows for c in classes},
    )
    if any(law is not None for laws in reneging.values() for law in laws):
        settings["reneging_time_distributions"] = reneging
    if priorities:
        order = {c: place for place, c in enumerate(classes)}
        settings["priority_classes"] = (order, ["resume" if preempt else False] * len(names)) if preempt else order
    return ciw.create_network(**settings), names, servers


def simulate(net, until, warm_up, replications):
    """Means of each replication: by (node, measure)."""
    network, names, servers = translate(net)
    found, begun, events = {}, time.perf_counter(), 0
    for seed in range(replications):
        ciw.seed(seed)
        simulation = ciw.Simulation(network)
        simulation.simulate_until_max_time(until)
        records = simulation.get_all_records(only=["service"])
        events += 2 * len(records)
        for place, name in enumerate(names):
            here = [r for r in records if r.node == place + 1 and warm_up <= r.exit_date < until]
            values = {"throughput": len(here) / (until - warm_up)}
            if here:
                values["wait"] = statistics.fmean(r.waiting_time for r in here)
                values["sojourn"] = statistics.fmean(r.exit_date - r.arrival_date for r in here)
            for measure, value in values.items():
                found.setdefault((name, measure), []).append(value)
    return found, time.perf_counter() - begun, events


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--program", default="target/release/eventhorizon")
    options.add_argument("--backend", default="cpu")
    options.add_argument("--replications", type=int, default=16, choices=sorted(n + 1 for n in STUDENT))
    options.add_argument("--share", type=float, default=0.1, help="of the time that the description says")
    options.add_argument("files", nargs="*")
    args = options.parse_args()
    wrong = 0
    for file in args.files or [FOLDER / f"{name}.toml" for name in FILES]:
        net = tomllib.loads(pathlib.Path(file).read_text())
        warm_up = net["warm_up"]
        until = warm_up + args.share * net["until"]
        try:
            theirs, seconds, events = simulate(net, until, warm_up, args.replications)
        except Unlike as unlike:
            print(f"{net['name']}: not compared: {unlike}")
            continue
        command = [args.program, "network", str(file), "--json", "-", "--backend", args.backend]
        command += ["--replications", str(args.replications), "--until", str(until), "--warm-up", str(warm_up)]
        ours = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        rows = {}
        for row in ours["results"]:
            # Where there are several classes, those of all come first.
            rows.setdefault((row["node"], row["measure"]), row)
        agreed, compared = 0, 0
        for key, values in theirs.items():
            row = rows.get(key)
            if row is None or row["mean"] is None or len(values) < args.replications:
                continue
            if key[1] == "wait" and net["station"].get(key[0], {}).get("discipline") == "preemptive":
                continue  # Ciw counts until the last time that the service was taken up, and we until the first
            half = STUDENT[args.replications - 1] * statistics.stdev(values) / math.sqrt(args.replications)
            allowed = 1.5 * math.hypot(half, row["half_width"] or 0.0) + 1e-9
            mean = statistics.fmean(values)
            compared += 1
            agreed += abs(mean - row["mean"]) <= allowed
            if abs(mean - row["mean"]) > allowed:
                wrong += 1
                print(f"  {key[0]} {key[1]}: {row['mean']:.6f} ± {row['half_width']:.6f}, Ciw {mean:.6f} ± {half:.6f}")
        ratio = seconds / args.replications / (ours["seconds"] / args.replications)
        print(
            f"{net['name']}: {agreed} of {compared} agree; {ours['seconds']:.3f} s ({ours['adapter']}, {ours['mapping']}), "
            f"Ciw {seconds:.2f} s on one core: {ratio:.0f} times"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
