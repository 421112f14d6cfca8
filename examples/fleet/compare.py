#!/usr/bin/env python3
"""Compares answers: every row, every value; numbers with a point to 12 digits.

    compare.py ONE.json OTHER.json …
"""
import json
import math
import sys


def is_same(one, other):
    if isinstance(one, float) or isinstance(other, float):
        return math.isclose(float(one), float(other), rel_tol=1e-12, abs_tol=1e-9)
    return one == other


def main():
    first, *others = [(name, json.load(open(name))) for name in sys.argv[1:]]
    wrong = 0
    for name, answers in others:
        for query, expected in first[1].items():
            rows = answers.get(query, [])
            differences = abs(len(rows) - len(expected))
            for row, of_first in zip(rows, expected):
                if row.keys() != of_first.keys() or not all(is_same(row[key], of_first[key]) for key in row):
                    differences += 1
                    if differences <= 3:
                        print(f"{query}: {name} has {row}, {first[0]} has {of_first}")
            print(f"{query}: {len(rows)} rows of {name}, {differences} differ from {first[0]}")
            wrong += differences
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
