#!/usr/bin/env python3
"""Makes the traces of a fleet from a few traces: other hosts, builds and times.

    make_traces.py TRACES FOLDER [COUNT]

TRACES is a folder of .nettrace.gz files of version 4 or 5. Each trace is written for several hosts, in
FOLDER/HOST/BUILD/NAME.nettrace.gz, with another start in its header, so that no two have equal content.
"""
import gzip
import pathlib
import struct
import sys
from datetime import datetime, timedelta

HOSTS = ["web-1", "web-2", "web-3", "batch-1"]
BUILDS = ["1.4.0", "1.5.0"]
START = datetime(2026, 11, 20, 8, 0, 0)


def varied(data, number):
    """Returns the trace with another start: the first 16 bytes of its header are a SYSTEMTIME."""
    at = data.index(b"\x05\x00\x00\x00Trace\x06") + 10
    start = START + timedelta(hours=7 * number, milliseconds=number)
    time = struct.pack(
        "<8H", start.year, start.month, start.isoweekday() % 7, start.day,
        start.hour, start.minute, start.second, start.microsecond // 1000,
    )
    return data[:at] + time + data[at + 16:]


def main():
    traces, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 64
    sources = []
    for path in sorted(traces.rglob("*.nettrace.gz")):
        data = gzip.decompress(path.read_bytes())
        if b"\x05\x00\x00\x00Trace\x06" in data[:100] and len(data) < 20_000_000:
            sources.append((path, data))
    for number in range(count):
        path, data = sources[number % len(sources)]
        # What is recorded differs from build to build, so that there is something to find.
        build = BUILDS[(number % len(sources)) % 2]
        host = HOSTS[(number // len(sources) + number) % len(HOSTS)]
        place = folder / host / build
        place.mkdir(parents=True, exist_ok=True)
        name = f"{path.parent.name}-{path.name.removesuffix('.nettrace.gz')}-{number:03}.nettrace.gz"
        (place / name).write_bytes(gzip.compress(varied(data, number), 6, mtime=0))
    print(f"{count} traces of {len(sources)} in {folder}")


if __name__ == "__main__":
    main()
