#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns a PNG of 8 bits a channel, not interlaced, into the binary PPM that image_fit reads.

  png_to_ppm.py IN.png OUT.ppm

Transparent pixels are laid on white."""

import struct
import sys
import zlib

CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by colour type: grey, RGB, grey and alpha, RGBA


def read_png(data):
    """Width, height, channels, and the bytes of the rows."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("is no PNG")
    at, header, packed = 8, None, b""
    while at + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", data[at + 8:at + 21])
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    if header is None:
        raise ValueError("has no header")
    width, height, depth, color, _, _, interlaced = header
    if depth != 8 or color not in CHANNELS or interlaced:
        raise ValueError("is not of a kind that is known here")
    return width, height, CHANNELS[color], zlib.decompress(packed)


def unfilter(width, height, channels, packed):
    """The rows without PNG's filters."""
    stride = width * channels
    if len(packed) != height * (stride + 1):
        raise ValueError("has been cut off")
    above = bytearray(stride)
    rows = []
    for y in range(height):
        start = y * (stride + 1)
        kind, row = packed[start], bytearray(packed[start + 1:start + 1 + stride])
        if kind > 4:
            raise ValueError("has a filter that does not exist")
        for x in range(stride if kind else 0):
            left = row[x - channels] if x >= channels else 0
            up = above[x]
            corner = above[x - channels] if x >= channels else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = up
            elif kind == 3:
                guess = (left + up) // 2
            else:
                guess = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            row[x] = (row[x] + guess) & 255
        rows.append(row)
        above = row
    return rows


def to_rgb(row, channels):
    has_alpha = channels in (2, 4)
    colors = channels - has_alpha
    out = bytearray()
    for at in range(0, len(row), channels):
        alpha = row[at + colors] if has_alpha else 255
        for c in range(3):
            out.append((row[at + c % colors] * alpha + 255 * (255 - alpha) + 127) // 255)
    return bytes(out)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    source, target = arguments
    try:
        with open(source, "rb") as file:
            width, height, channels, packed = read_png(file.read())
        rows = unfilter(width, height, channels, packed)
        with open(target, "wb") as out:
            out.write(f"P6\n{width} {height}\n255\n".encode("ascii"))
            for row in rows:
                out.write(to_rgb(row, channels))
    except (OSError, ValueError, zlib.error, struct.error) as error:
        print(f"png_to_ppm.py: {source}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
