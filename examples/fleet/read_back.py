#!/usr/bin/env python3
"""Reads tables back with pyarrow and DuckDB, and compares them with each other and with the reports.

    read_back.py TABLES [COMMAND]

TABLES have no partitions. Of every column of every table both readers must find the same number of
values and nulls, and the same sum; counts and sums must be those of `nettrace info --json` and `nettrace report --json`.
"""
import collections
import json
import math
import pathlib
import subprocess
import sys

import duckdb
import pyarrow.compute as compute
import pyarrow.parquet as parquet


def run(command, *words):
    ran = subprocess.run([command, *words], capture_output=True, text=True)
    return json.loads(ran.stdout)


def total(column):
    kind = str(column.type)
    if kind.startswith(("timestamp", "string", "large_string")):
        return None
    if kind == "bool":
        return compute.sum(column).as_py() or 0
    # Ids and addresses are hashes and pointers: their sum does not fit, so their halves are summed up.
    if kind in ("int64", "uint64"):
        return sum(value for value in column.to_pylist() if value is not None)
    return compute.sum(column).as_py() or 0


def compare_readers(tables, wrong):
    columns = 0
    for path in sorted(tables.rglob("*.parquet")):
        read = parquet.read_table(path)
        name = path.relative_to(tables)
        if read.num_rows == 0:
            continue
        asked = []
        for column in read.column_names:
            kind = str(read.schema.field(column).type)
            if kind.startswith("timestamp") or kind == "string":
                of_sum = "null"
            elif kind == "bool":
                of_sum = f'sum(cast("{column}" as int))'
            elif kind == "double":
                of_sum = f'sum("{column}")'
            else:
                of_sum = f'sum(cast("{column}" as hugeint))'
            asked += [f'count("{column}")', of_sum]
        found = duckdb.sql(f"select count(*), {', '.join(asked)} from '{path}'").fetchall()[0]
        if found[0] != read.num_rows:
            wrong.append(f"{name}: {read.num_rows} rows, DuckDB has {found[0]}")
        for at, column in enumerate(read.column_names):
            columns += 1
            values = read.column(column)
            there, of_sum = found[1 + 2 * at], found[2 + 2 * at]
            if there != len(values) - values.null_count:
                wrong.append(f"{name}: {column} has {values.null_count} nulls, DuckDB has {found[0] - there}")
            own = total(values)
            if own is not None and not math.isclose(float(own), float(of_sum or 0), rel_tol=1e-9, abs_tol=1e-9):
                wrong.append(f"{name}: the sum of {column} is {own}, of DuckDB {of_sum}")
    return columns


def rows_of(path):
    """Reads rows without timestamps: Python has none of nanoseconds."""
    read = parquet.read_table(path)
    return read.select([field.name for field in read.schema if not str(field.type).startswith("timestamp")]).to_pylist()


def of_trace(tables, table, trace_id):
    files = list((tables / table).glob("*.parquet"))
    rows = []
    for path in files:
        if path.stem == trace_id:
            rows = rows_of(path)
    return rows


def compare_reports(tables, command, wrong):
    traces = 0
    for path in sorted((tables / "inputs").glob("*.parquet")):
        row = rows_of(path)[0]
        if row["status"] == "failed":
            continue
        traces += 1
        file, name = row["path"], path.stem
        info = run(command, "info", "--json", file)
        expected, found = {}, {}

        def same(what, table, report):
            found[what], expected[what] = table, report

        for key in ("complete", "events", "events_with_stack", "payload_bytes", "lost", "lost_threads", "threads", "types",
                    "stacks", "damage_count", "damage_bytes", "restarts", "process_id", "command_line", "os", "writer",
                    "duration_ns", "pointer_size", "processors", "ticks_per_second", "end_offset", "losses_known"):
            same(key, row[key], info[key])
        same("events", parquet.read_metadata(tables / "events" / f"{name}.parquet").num_rows if info["events"] else 0,
             info["events"])
        threads = of_trace(tables, "threads", name)
        same("events of threads", sum(thread["events"] for thread in threads), info["events"])
        gcs = of_trace(tables, "gcs", name)
        report = run(command, "report", "gc", "--json", file)["collections"]
        same("collections", len(gcs), len(report))
        for key in ("duration_ns", "pause_ns", "heap_before_bytes", "heap_after_bytes", "promoted_bytes", "mark_ns"):
            same(f"gcs.{key}", [gc[key] for gc in gcs], [gc.get(key) for gc in report])
        samples = [sample for sample in of_trace(tables, "samples", name) if sample["kind"] == "cpu"]
        report = run(command, "report", "topN", "--json", file)
        running = [sample for sample in samples if sample["state"] != "waiting"]
        waiting = [sample for sample in samples if sample["state"] == "waiting"]
        same("samples", len(running), report["samples"])
        same("samples.weight_ns", sum(sample["weight_ns"] for sample in running), report["total_ns"])
        same("waiting", len(waiting), report["waiting_samples"])
        same("waiting.weight_ns", sum(sample["weight_ns"] for sample in waiting), report["waiting_ns"])
        report = run(command, "report", "exceptions", "--json", file)
        thrown = collections.Counter(row["type"] for row in of_trace(tables, "exceptions", name))
        same("exceptions", dict(thrown), {row["type"]: row["count"] for row in report["types"]})
        report = run(command, "report", "jit", "--json", file)
        compiled = of_trace(tables, "jit", name)
        same("jit", len(compiled), report["totals"]["methods"])
        same("jit.duration_ns", sum(row["duration_ns"] or 0 for row in compiled), report["totals"]["duration_ns"])
        allocations = of_trace(tables, "allocations", name)
        for source in run(command, "report", "alloc", "--json", file)["sources"]:
            kind = "sample" if source["source"] == "AllocationSampled" else "tick"
            rows = [row for row in allocations if row["kind"] == kind]
            same(f"allocations.{kind}", len(rows), source["events"])
            # The report rounds the sum, the table each row so that the sum stays right.
            for column, total in (("weight_bytes", source["bytes"]), ("objects", source.get("objects"))):
                total_of_rows = sum(row[column] for row in rows)
                if kind == "sample" or column == "weight_bytes":
                    same(f"allocations.{kind}.{column}", abs(total_of_rows - total) <= 1, True)
        waits = of_trace(tables, "contentions", name)
        waits = [row for row in waits if not row["is_open"]]
        report = run(command, "report", "contention", "--json", file)["waits"]
        same("contentions", len(waits), report["count"])
        same("contentions.duration_ns", sum(row["duration_ns"] for row in waits), report["total_ns"])
        activities = of_trace(tables, "activities", name)
        report = run(command, "report", "activities", "--json", file)
        whole = [row for row in activities if row["ends"] in ("known", "loss_between")]
        same("activities", len(whole), report["stopped"])
        report = run(command, "report", "counters", "--json", file)
        values = [point["value"] for series in report["series"] for point in series["points"]]
        same("counters", [row["value"] for row in of_trace(tables, "counters", name)], values)
        report = run(command, "report", "logs", "--json", file)
        same("logs", len(of_trace(tables, "logs", name)), report["count"])
        for what, value in found.items():
            if value != expected[what]:
                wrong.append(f"{file}: {what}: {str(value)[:200]}, the report has {str(expected[what])[:200]}")
    return traces


def main():
    tables, command = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "nettrace"
    wrong = []
    columns = compare_readers(tables, wrong)
    traces = compare_reports(tables, command, wrong)
    print("\n".join(wrong[:50]))
    print(f"{columns} columns of files read by pyarrow and DuckDB, {traces} traces compared with reports: {len(wrong)} differences")
    sys.exit(1 if wrong or traces == 0 else 0)


if __name__ == "__main__":
    main()
