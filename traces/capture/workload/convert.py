#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns NumPy archives into the text forms that the workloads read.

  convert.py edges GRAPH.npz OUT.txt    SciPy CSR matrix (indptr, indices) -> edge list as SNAP has it
  convert.py obj MESH.npz OUT.obj       nvdiffrast's envphong (triangles, positions x y z w) -> Wavefront OBJ
"""

import array
import ast
import sys
import zipfile

CODES = {"<i2": "h", "<i4": "i", "<i8": "q", "<f4": "f", "<f8": "d"}


def read_array(archive, name):
    """An array of an .npz file: its numbers in a row, and its shape."""
    data = archive.read(name + ".npy")
    if data[:6] != b"\x93NUMPY":
        raise ValueError(f"{name} is no array")
    width = 2 if data[6] == 1 else 4
    start = 8 + width
    size = int.from_bytes(data[8:start], "little")
    header = ast.literal_eval(data[start:start + size].decode("latin1"))
    if header["descr"] not in CODES or header["fortran_order"]:
        raise ValueError(f"{name} is of kind {header['descr']}, which is not known here")
    values = array.array(CODES[header["descr"]])
    values.frombytes(data[start + size:])
    if sys.byteorder != "little":
        values.byteswap()
    return values, header["shape"]


def edges(archive, out):
    begin, _ = read_array(archive, "indptr")
    to, _ = read_array(archive, "indices")
    out.write(f"# {len(begin) - 1} vertices, {len(to)} edges\n")
    for v, (first, end) in enumerate(zip(begin, begin[1:])):
        out.write("".join(f"{v} {t}\n" for t in to[first:end]))


def obj(archive, out):
    corners, shape = read_array(archive, "arr_0")
    positions, of = read_array(archive, "arr_1")
    if shape[1] != 3:
        raise ValueError("arr_0 does not hold triangles")
    for at in range(0, len(positions), of[1]):
        out.write("v {:.9g} {:.9g} {:.9g}\n".format(*positions[at:at + 3]))
    for at in range(0, len(corners), 3):
        out.write("f {} {} {}\n".format(*(c + 1 for c in corners[at:at + 3])))


def main(arguments):
    kinds = {"edges": edges, "obj": obj}
    if len(arguments) != 3 or arguments[0] not in kinds:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    kind, source, target = arguments
    try:
        with zipfile.ZipFile(source) as archive, open(target, "w", encoding="ascii") as out:
            kinds[kind](archive, out)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        print(f"convert.py: {source}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
