#!/usr/bin/env python3
"""Answers the fleet's questions without tables: a loop over `nettrace report --json`.

    plain_loop.py TRACES [COMMAND]
"""
import collections
import json
import pathlib
import subprocess
import sys


def run(command, *words):
    ran = subprocess.run([command, *words], capture_output=True, text=True)
    return json.loads(ran.stdout) if ran.stdout else None


def quantile(values, at):
    place = (len(values) - 1) * at
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def answers(traces, command):
    methods = collections.defaultdict(lambda: [0, 0])
    of_builds = collections.defaultdict(lambda: collections.defaultdict(int))
    pauses = collections.defaultdict(list)
    thrown = collections.Counter()
    counters = collections.defaultdict(list)
    losses = []
    for path in sorted(pathlib.Path(traces).rglob("*.nettrace*")):
        path = path.resolve()
        host, build = path.parent.parent.name, path.parent.name
        info = run(command, "info", "--json", str(path))
        top = run(command, "report", "topN", "--json", "-n", "1000000", str(path))
        gc = run(command, "report", "gc", "--json", str(path))
        exceptions = run(command, "report", "exceptions", "--json", str(path))
        values = run(command, "report", "counters", "--json", str(path))
        for method in top["methods"]:
            # A method has a row, its native calls have one, and its waits for locks have one.
            name, _, waits = method["name"].partition(" → ")
            # Addresses without a name, frames of the recording, and waits are left out.
            is_named = "addresses" not in method and "guessed" not in method and name != "(recording)"
            if method["self_samples"] > 0 and is_named and waits in ("", "native call"):
                row = methods[name]
                row[0] += method["self_samples"]
                row[1] += method["self_ns"]
                of_builds[build][name] += method["self_ns"]
        for collection in gc["collections"]:
            pauses[info["writer"], collection["generation"]].append(collection["pause_ns"])
        for row in exceptions["types"]:
            thrown[host, info["start_utc"][:10], row["type"]] += row["count"]
        for series in values["series"]:
            points = [point["value"] for point in series["points"] if point["value"] is not None]
            counters[series["provider"], series["name"]] += points
        is_damaged = not info["complete"] or info["damage_count"] > 0
        if info["lost"] > 0 or is_damaged:
            losses.append({
                "path": str(path), "status": "damaged" if is_damaged else "ok", "lost": info["lost"],
                "lost_threads": info["lost_threads"], "damage_count": info["damage_count"],
            })
    old, new = of_builds["1.4.0"], of_builds["1.5.0"]
    old_ns, new_ns = sum(old.values()), sum(new.values())
    changes = [
        {"method": name, "old_percent": 100 * old[name] / old_ns, "new_percent": 100 * new[name] / new_ns}
        for name in set(old) | set(new)
    ]
    changes.sort(key=lambda row: (-abs(row["new_percent"] - row["old_percent"]), row["method"]))
    hottest = [{"method": name, "samples": row[0], "self_ns": row[1]} for name, row in methods.items()]
    hottest.sort(key=lambda row: (-row["self_ns"], row["method"]))
    return {
        "hottest_methods": hottest[:50],
        "slowest_collections": sorted((
            {"version": version, "generation": generation, "collections": len(of),
             "longest_pause_ns": max(of), "pause_ns": sum(of)}
            for (version, generation), of in pauses.items()
        ), key=lambda row: (-row["longest_pause_ns"], row["version"], row["generation"])),
        "exceptions_by_host_and_day": sorted((
            {"host": host, "day": day, "type": name, "thrown": count}
            for (host, day, name), count in thrown.items()
        ), key=lambda row: (row["host"], row["day"], -row["thrown"], row["type"])),
        "counter_percentiles": [
            {"provider": provider, "name": name, "values_there": len(of), "median": quantile(sorted(of), 0.5),
             "p95": quantile(sorted(of), 0.95), "largest": max(of)}
            for (provider, name), of in sorted(counters.items()) if of
        ],
        "traces_with_losses": losses,
        "diff_of_builds": changes[:50],
    }


if __name__ == "__main__":
    print(json.dumps(answers(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "nettrace"), indent=1))
