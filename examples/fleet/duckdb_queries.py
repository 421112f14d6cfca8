#!/usr/bin/env python3
"""Runs the queries with DuckDB, and prints their rows as JSON.

    duckdb_queries.py TABLES

The same by hand, in TABLES:  duckdb -c "create view samples as from read_parquet('samples/**/*.parquet',
hive_partitioning = true); …" -f queries/hottest_methods.sql
"""
import json
import pathlib
import sys

import duckdb


def queries():
    return sorted((pathlib.Path(__file__).parent / "queries").glob("*.sql"))


def answers(tables):
    engine = duckdb.connect()
    for table in sorted(pathlib.Path(tables).iterdir()):
        if table.is_dir() and not table.name.startswith("_"):
            # A host may be called 1.0, and is no number.
            engine.execute(
                f"create view \"{table.name}\" as from read_parquet('{table}/**/*.parquet', "
                "hive_partitioning = true, hive_types_autocast = false)"
            )
    found = {}
    for query in queries():
        rows = engine.execute(query.read_text())
        names = [column[0] for column in rows.description]
        found[query.stem] = [dict(zip(names, row)) for row in rows.fetchall()]
    return found


if __name__ == "__main__":
    print(json.dumps(answers(sys.argv[1]), indent=1))
