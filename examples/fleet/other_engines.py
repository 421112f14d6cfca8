#!/usr/bin/env python3
"""Reads tables with Polars or ClickHouse (chdb, which is ClickHouse in a library), and compares them with pyarrow.

    other_engines.py ENGINE TABLES

ENGINE is polars or chdb. Of every column of every file the engine must find as many rows and nulls as pyarrow, and the same
sum: of numbers the sum itself, of times that of their nanoseconds, of texts that of their bytes.
"""
import json
import math
import pathlib
import sys

import pyarrow
import pyarrow.compute as compute
import pyarrow.parquet as parquet


def of_pyarrow(path):
    """Returns the kind, the nulls and the sum of each column."""
    read = parquet.read_table(path)
    facts = {}
    for field in read.schema:
        values, kind = read.column(field.name), str(field.type)
        if kind.startswith("timestamp"):
            kind, whole = "time", values.cast(pyarrow.int64())
        elif kind == "string":
            kind, whole = "text", compute.binary_length(values)
        elif kind == "bool":
            kind, whole = "flag", values.cast(pyarrow.int32())
        elif kind == "double":
            facts[field.name] = ("real", values.null_count, compute.sum(values).as_py() or 0.0)
            continue
        else:
            kind, whole = "whole", values
        facts[field.name] = (kind, values.null_count, exact_sum(whole))
    return read.num_rows, facts


def exact_sum(values):
    """Sums up a column. Ids and addresses are hashes and pointers: their sum does not fit, but the sums of their halves do."""
    if values.type in (pyarrow.int64(), pyarrow.uint64()):
        bits = pyarrow.scalar(32, values.type)
        mask = pyarrow.scalar(0xFFFF_FFFF, values.type)
        high = compute.sum(compute.shift_right(values, bits)).as_py() or 0
        low = compute.sum(compute.bit_wise_and(values, mask)).as_py() or 0
        return (high << 32) + low
    return compute.sum(values).as_py() or 0


def of_polars(path, kinds):
    import polars

    read = polars.read_parquet(path)
    asked = []
    for at, (name, kind) in enumerate(kinds.items()):
        column = polars.col(name)
        whole = {
            "time": column.dt.epoch("ns"),
            "text": column.str.len_bytes(),
            "flag": column.cast(polars.Int32),
        }.get(kind, column)
        total = column.sum() if kind == "real" else whole.cast(polars.Int128).sum()
        asked += [column.null_count().alias(f"n{at}"), total.alias(f"s{at}")]
    found = read.select(asked).row(0)
    return read.height, {name: found[2 * at : 2 * at + 2] for at, name in enumerate(kinds)}


def of_chdb(path, kinds):
    import chdb

    asked = ["count()"]
    for name, kind in kinds.items():
        column = f"`{name}`"
        whole = {
            "time": f"toUnixTimestamp64Nano({column})",
            "text": f"length({column})",
            "flag": f"toUInt8({column})",
        }.get(kind, column)
        total = f"sum({column})" if kind == "real" else f"toString(sum(toInt256({whole})))"
        asked += [f"countIf({column} is null)", total]
    answer = chdb.query(f"select {', '.join(asked)} from file('{path}', 'Parquet')", "JSONCompact")
    found = json.loads(str(answer))["data"][0]
    facts = {}
    for at, (name, kind) in enumerate(kinds.items()):
        nulls, total = found[1 + 2 * at], found[2 + 2 * at]
        facts[name] = (int(nulls), (float if kind == "real" else int)(total or 0))
    return int(found[0]), facts


def main():
    engine, tables = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    ask = {"polars": of_polars, "chdb": of_chdb}[engine]
    wrong, columns, seen = [], 0, set()
    for path in sorted(tables.rglob("*.parquet")):
        rows, own = of_pyarrow(path)
        found_rows, found = ask(path, {name: kind for name, (kind, _, _) in own.items()})
        name = path.relative_to(tables)
        seen.add(name.parts[0])
        if found_rows != rows:
            wrong.append(f"{name}: {rows} rows, {engine} has {found_rows}")
        for column, (kind, nulls, total) in own.items():
            columns += 1
            found_nulls, found_total = found[column]
            if found_nulls != nulls:
                wrong.append(f"{name}: {column} has {nulls} nulls, of {engine} {found_nulls}")
            found_total = found_total or 0
            same = math.isclose(total, found_total, rel_tol=1e-9, abs_tol=1e-9) if kind == "real" else total == found_total
            if not same:
                wrong.append(f"{name}: the sum of {column} is {total}, of {engine} {found_total}")
    print("\n".join(wrong[:50]))
    print(f"{columns} columns of {len(seen)} tables read by pyarrow and {engine}: {len(wrong)} differences")
    sys.exit(1 if wrong or not columns else 0)


if __name__ == "__main__":
    main()
