#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns a SciPy CSR matrix (.npz) into an edge list as SNAP has it: "FROM TO" on each line.

  csr_to_edges.py GRAPH.npz OUT.txt
"""

import array
import ast
import sys
import zipfile


def read_array(archive, name):
    """A one-dimensional array of integers of an .npz file, as array.array."""
    data = archive.read(name + ".npy")
    if data[:6] != b"\x93NUMPY":
        raise ValueError(f"{name} is no array")
    size, start = (int.from_bytes(data[8:10], "little"), 10) if data[6] == 1 else \
        (int.from_bytes(data[8:12], "little"), 12)
    header = ast.literal_eval(data[start:start + size].decode("latin1"))
    code = {"<i4": "i", "<i8": "q"}.get(header["descr"])
    if code is None or len(header["shape"]) != 1:
        raise ValueError(f"{name} is {header['descr']} {header['shape']}, not a list of integers")
    values = array.array(code)
    values.frombytes(data[start + size:])
    if sys.byteorder != "little":
        values.byteswap()
    return values


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    source, target = arguments
    try:
        with zipfile.ZipFile(source) as archive:
            begin = read_array(archive, "indptr")
            to = read_array(archive, "indices")
        with open(target, "w", encoding="ascii") as out:
            out.write(f"# {len(begin) - 1} vertices, {len(to)} edges\n")
            for v, (first, end) in enumerate(zip(begin, begin[1:])):
                out.write("".join(f"{v} {t}\n" for t in to[first:end]))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        print(f"csr_to_edges.py: {source}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
