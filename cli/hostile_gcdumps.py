"""Files of the format .gcdump that are made to be dear or to break a reader: counts beyond the file, cycles, depth, wide and long names."""

import gzip
import os
import struct

LARGE = 200_000


def text(value):
    return b"\xff\xff\xff\xff" if value is None else struct.pack("<i", len(value)) + value.encode("ascii")


def kind(name, version, minimum):
    return b"\4\4\1" + struct.pack("<ii", version, minimum) + text(name) + b"\6"


def number(value):
    length = next(n for n in range(1, 6) if -(1 << 7 * n - 1) <= value < 1 << 7 * n - 1 or n == 5)
    return bytes((value >> 7 * at) & 0x7F | (0x80 if at else 0) for at in reversed(range(length)))


def record(of, children, bytes_each=None, index=0):
    size = b"" if bytes_each is None else number(bytes_each)
    return number(of << 1 | (bytes_each is not None)) + size + number(len(children)) + b"".join(number(it - index) for it in children)


def container(graph, heap=b"\1"):
    """The file around a graph; `heap` is the object of the heap's segments."""
    out = text("!FastSerialization.1") + kind("GCHeapDump", 10, 8) + kind("Graphs.MemoryGraph", 1, 0) + graph
    out += b"\1" + struct.pack("<ff", 1, 1) + b"\1" + heap
    out += text(None) + bytes(8) + text(None) + text(None) + bytes(24) + b"\x0c\0\0\0\0\1"
    stop = len(out)
    out += b"\x0d" + text("made") + b"\6\6"
    return out + struct.pack("<IIII", 1, stop, len(out), len(out) + 8)


def graph(types, records, *, root=0, offsets=None, counts=(None, None, None, None), total=0, groups=2):
    """The graph; `counts` stand in for those of types, nodes, bytes and addresses. The first `groups` nodes are no objects."""
    blob, starts = bytearray(b"\0\0"), []
    for one in records:
        starts.append(len(blob))
        blob += one
    starts = starts if offsets is None else offsets
    real = (len(types), len(starts), len(blob), len(starts))
    shown = [there if count is None else count for count, there in zip(counts, real)]
    out = struct.pack("<qii", total, root, shown[0]) + b"".join(text(name) + struct.pack("<i", size) + text(module) for name, size, module in types)
    out += struct.pack(f"<i{len(starts)}I", shown[1], *starts) + struct.pack("<i", shown[2]) + bytes(blob)
    addresses = [0 if at < groups else 0x7F0000000000 + 64 * at for at in range(len(starts))]
    return out + struct.pack(f"<i{len(starts)}Q", shown[3], *addresses) + b"\x08\1\6"


def named(*names, size=24):
    roots = [("UNDEFINED", 0, None), ("[.NET Roots]", 0, None), ("[static vars]", 0, None)]
    return roots + [(name, size, "/app/Made.dll") for name in names]


def rooted(nodes):
    """The records of a root that holds the first of the nodes, which begin with number 2, and of these."""
    return [record(1, [1]), record(2, [2], index=1), *nodes]


def files():
    """Name and content of each file."""
    small = rooted([record(3, [3], index=2), record(3, [2], index=3)])
    for place, what in enumerate(("types", "nodes", "bytes", "addresses")):
        for value in (0x7FFFFFFF, -1, -0x80000000):
            counts = [None] * 4
            counts[place] = value
            yield f"counts-{what}-{value}", container(graph(named("A"), small, counts=counts))
    for root in (-1, 99, 0x7FFFFFFF):
        yield f"root-{root}", container(graph(named("A"), small, root=root))
    yield "child-outside", container(graph(named("A"), rooted([record(3, [0x7FFFFFFF, -5], index=2)])))
    yield "type-outside", container(graph(named("A"), rooted([record(0x3FFFFFF, [])])))
    yield "offset-outside", container(graph(named("A"), small, offsets=[2, 4, 0x7FFFFFFF, 6]))
    yield "number-of-six-bytes", container(graph(named("A"), rooted([b"\x86\x80\x80\x80\x80\0\0"])))
    yield "total-negative", container(graph(named("A"), small, total=-1))
    chain = [record(3, [at + 1] if at < LARGE else [], index=at) for at in range(2, LARGE + 1)]
    yield "chain", container(graph(named("A"), rooted(chain)))
    yield "chain-of-types", container(graph(named(*(f"T{at}" for at in range(LARGE - 1))), rooted(
        [record(at + 1, [at + 1] if at < LARGE else [], index=at) for at in range(2, LARGE + 1)])))
    yield "itself", container(graph(named("A"), rooted([record(3, [2] * LARGE, index=2)])))
    wide = record(3, list(range(2, LARGE)), index=2)
    yield "one-record-for-all-nodes", container(graph(named("A"), rooted([wide]), offsets=[2, 5] + [9] * LARGE))
    yield "largest-objects", container(graph(named("A"), rooted([record(3, [at + 1], 0x7FFFFFFF, at) for at in range(2, LARGE)])))
    statics = [record(3 + at, [2 + LARGE // 10], index=2 + at) for at in range(LARGE // 10)]
    names = [f"[static var Made.S.f{at}]" for at in range(LARGE // 10)]
    yield "static-variables", container(graph(
        named(*names, "A", size=0), [record(1, [1]), record(2, list(range(2, 2 + LARGE // 10)), index=1), *statics, record(3 + LARGE // 10, [])],
        groups=2 + LARGE // 10))
    for what, name in (("nested", "A<" * LARGE + ">" * LARGE), ("arrays", "A" + "[]" * LARGE), ("brackets", "[" * LARGE), ("long", "A" * 10 * LARGE),
                       ("generic", "A<" + "B," * LARGE + ">"), ("sizes", "A" + " (Bytes > 1K)" * (LARGE // 10)), ("dots", "." * LARGE)):
        yield f"name-{what}", container(graph(named(name), small))
    yield "names-long", container(graph(named(*("N" * 10_000 + str(at) for at in range(500))), rooted(
        [record(3 + at, [3 + at] if at < 499 else [], index=2 + at) for at in range(500)])))
    segments = kind("DotNetHeapInfo", 0, 0) + bytes(8) + struct.pack("<i", 1)
    whole = graph(named("A"), small)
    yield "segments-in-segments", container(whole, segments * 50_000)
    yield "segments-counted", container(whole, kind("DotNetHeapInfo", 0, 0) + bytes(8) + struct.pack("<i", 0x7FFFFFFF) + b"\6")
    yield "type-of-itself", text("!FastSerialization.1") + b"\4\2" + struct.pack("<I", 24)
    yield "type-never-seen", text("!FastSerialization.1") + b"\4\2" + struct.pack("<I", 4096) + bytes(64)
    file = container(whole)
    for part in range(1, 8):
        yield f"cut-{part}", file[: len(file) * part // 8]


def write(folder):
    """Writes the files, and returns their paths."""
    made = {name: content for name, content in files()}
    paths = []
    for name, content in made.items():
        paths.append(os.path.join(folder, f"{name}.gcdump"))
        with open(paths[-1], "wb") as out:
            out.write(content)
    # A heap that unpacks to more than the address space.
    paths.append(os.path.join(folder, "packed.gcdump.gz"))
    with gzip.open(paths[-1], "wb", 1) as out:
        out.write(made["counts-bytes-2147483647"])
        for _ in range(1100):
            out.write(bytes(1 << 20))
    return paths
