#!/usr/bin/env python3
"""What a final state holds, counted in one way for all codes: contents.py FILE SIDE_X SIDE_Y

FILE is a LAMMPS or LIGGGHTS dump, lines `x y z vx vy vz`, or a frame of Seixo (.vtp). The box stands on z = 0. Prints one JSON object:
grains, grains touched by a grain, walls touched by a grain, mean overlap of touching grains over their diameter, height of the center of
mass [m], translational kinetic energy of a grain [J].
"""
import base64
import json
import math
import re
import struct
import sys
import zlib

DIAMETER = 1e-3
MASS = 2500.0 * math.pi / 6 * DIAMETER**3


def field(text, name):
    """One array of a frame: base64 of a table of lengths, then base64 of blocks that are compressed alone."""
    kind, body = re.search(r'type="(\w+)"[^>]*Name="%s"[^>]*>([^<]*)<' % name, text).groups()
    body = body.strip()
    blocks = struct.unpack("<Q", base64.b64decode(body[:12])[:8])[0]
    size = 8 * (3 + blocks)
    text_of_table = 4 * math.ceil(size / 3)
    table = struct.unpack("<%dQ" % (3 + blocks), base64.b64decode(body[:text_of_table])[:size])
    packed, at, raw = base64.b64decode(body[text_of_table:]), 0, b""
    for length in table[3:]:
        raw += zlib.decompress(packed[at : at + length])
        at += length
    form = {"Float64": "d", "Float32": "f"}[kind]
    return struct.unpack("<%d%s" % (len(raw) // struct.calcsize(form), form), raw)


def read(path):
    """Positions and velocities."""
    if path.endswith(".vtp"):
        text = open(path).read()
        places, velocities = field(text, "position"), field(text, "velocity")
        triples = lambda flat: [flat[k : k + 3] for k in range(0, len(flat), 3)]
        return triples(places), triples(velocities)
    rows = []
    for line in open(path):
        words = line.split()
        if line.startswith("ITEM: ATOMS"):
            rows = []
        elif len(words) >= 6 and not line.startswith("ITEM"):
            rows.append([float(word) for word in words[:6]])
    return [row[:3] for row in rows], [row[3:] for row in rows]


def main():
    path, sides = sys.argv[1], [float(word) for word in sys.argv[2:4]]
    places, velocities = read(path)
    cells = {}
    for index, place in enumerate(places):
        cells.setdefault(tuple(int(x // DIAMETER) for x in place), []).append(index)
    pairs, depth = 0, 0.0
    half = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1) if (i, j, k) > (0, 0, 0)]
    for (i, j, k), members in cells.items():
        others = [b for di, dj, dk in half for b in cells.get((i + di, j + dj, k + dk), ())]
        for at, a in enumerate(members):
            for b in members[at + 1 :] + others:
                overlap = DIAMETER - math.dist(places[a], places[b])
                if overlap > 0:
                    pairs, depth = pairs + 1, depth + overlap
    radius = DIAMETER / 2
    walls = sum((x < radius) + (x > sides[0] - radius) + (y < radius) + (y > sides[1] - radius) + (z < radius) for x, y, z in places)
    count = len(places)
    told = {
        "grains": count,
        "touching": 2 * pairs / count,
        "walls": walls / count,
        "overlap": depth / max(1, pairs) / DIAMETER,
        "height": sum(place[2] for place in places) / count,
        "kinetic": 0.5 * MASS * sum(v * v for velocity in velocities for v in velocity) / count,
    }
    print(json.dumps(told))


main()
