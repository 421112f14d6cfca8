#!/usr/bin/env python3
"""Asks tables of traces with Polars which exceptions were thrown most.

    nettrace export parquet *.nettrace -o TABLES
    examples/polars/exceptions.py TABLES
"""
import sys

import polars


def main(tables: str) -> None:
    exceptions = polars.scan_parquet(f"{tables}/exceptions/**/*.parquet")
    thrown = exceptions.group_by("type").len("thrown").sort("thrown", "type", descending=[True, False])
    with polars.Config(fmt_str_lengths=80):
        print(thrown.head(10).collect())


if __name__ == "__main__":
    main(*sys.argv[1:])
