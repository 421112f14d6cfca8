"""Reads what `nettrace events` wrote with Python's own readers, which share no code with the writer.

read.py texts NDJSON CSV EXPECTED   the payloads are those of EXPECTED, a JSON array of objects of texts
read.py same NDJSON CSV             both tell the same of all events
"""

import csv
import json
import sys


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key comes twice: {keys}"
    return dict(pairs)


def not_json(constant):
    raise AssertionError(f"{constant} is not JSON")


def parsed(text):
    return json.loads(text, object_pairs_hook=no_duplicates, parse_constant=not_json)


def lines(path):
    with open(path, encoding="utf-8", errors="strict", newline="\n") as file:
        return [parsed(line) for line in file]


def rows(path):
    csv.field_size_limit(1 << 27)
    with open(path, encoding="utf-8", errors="strict", newline="") as file:
        reader = csv.reader(file, strict=True)
        head = next(reader)
        assert len(head) == len(set(head)), f"a column comes twice: {head}"
        found = []
        for row in reader:
            assert len(row) == len(head), f"{len(row)} cells, not {len(head)}: {row}"
            found.append(dict(zip(head, row)))
        return found


def texts(ndjson, table, expected):
    with open(expected, encoding="utf-8") as file:
        expected = json.load(file)
    assert [line["payload"] for line in lines(ndjson)] == expected
    names = list(expected[0])
    found = [{name: row[name] for name in names} for row in rows(table)]
    assert found == expected, f"{found} is not {expected}"
    return len(expected)


def same(ndjson, table):
    events, table = lines(ndjson), rows(table)
    assert len(events) == len(table), f"{len(events)} lines, {len(table)} rows"
    for event, row in zip(events, table):
        for key in ["ts_ns", "tid", "id", "version", "level", "provider", "event"]:
            assert str(event[key]) == row[key], f"{key}: {event} {row}"
        for key in ["pid", "activity", "related", "payload_rest"]:
            assert str(event.get(key, "")) == row[key], f"{key}: {event} {row}"
        for key in ["labels", "payload_faults"]:
            assert event.get(key) == (parsed(row[key]) if row[key] else None), f"{key}: {event} {row}"
        assert event["payload"] == parsed(row["payload"]), f"{event} {row}"
    return len(events)


print({"texts": texts, "same": same}[sys.argv[1]](*sys.argv[2:]))
