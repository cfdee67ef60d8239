"""What outlet.in reads: the grains of Seixo's bed at rest, and the floor as a ring of triangles.

    seixo run validation/beverloo/scene.toml --out bed.out
    python3 inputs.py bed.out/fields/grains_NNNNNN.vtp DIAMETER_OF_THE_OUTLET bed.data ring.stl
"""
import base64
import math
import re
import struct
import sys
import zlib

DENSITY, SIDE, SECTORS = 2500.0, 0.041, 96


def array(text, name):
    """Numbers of a compressed binary array of a VTK file."""
    found = re.search(rf'<DataArray type="(\w+)"[^>]*Name="{name}"[^>]*format="binary"[^>]*>([^<]+)<', text)
    kind, data = found.group(1), re.sub(r"\s", "", found.group(2))
    count = struct.unpack("<Q", base64.b64decode(data[:12])[:8])[0]
    head = 4 * ((8 * (3 + count) + 2) // 3)
    sizes = struct.unpack(f"<{count}Q", base64.b64decode(data[:head])[24 : 24 + 8 * count])
    packed, at, plain = base64.b64decode(data[head:]), 0, b""
    for size in sizes:
        plain += zlib.decompress(packed[at : at + size])
        at += size
    letter = {"Float64": "d", "Float32": "f"}[kind]
    return struct.unpack(f"<{len(plain) // struct.calcsize(letter)}{letter}", plain)


def edge(angle):
    """Where a ray from the middle leaves the square of the floor."""
    x, y = math.cos(angle), math.sin(angle)
    reach = SIDE / max(abs(x), abs(y))
    return reach * x, reach * y


frame, diameter, grains, ring = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4]
text = open(frame).read()
radius, place = array(text, "radius"), array(text, "position")
with open(grains, "w") as out:
    out.write(f"grains\n\n{len(radius)} atoms\n1 atom types\n\n-0.0401 0.0401 xlo xhi\n-0.0401 0.0401 ylo yhi\n-0.03 0.2 zlo zhi\n\nAtoms\n\n")
    for k, r in enumerate(radius):
        x, y, z = place[3 * k : 3 * k + 3]
        out.write(f"{k + 1} 1 {2 * r} {DENSITY} {x} {y} {z}\n")
with open(ring, "w") as out:
    out.write("solid ring\n")
    for k in range(SECTORS):
        rays = []
        for angle in (2 * math.pi * k / SECTORS, 2 * math.pi * (k + 1) / SECTORS):
            inner, outer = (0.5 * diameter * math.cos(angle), 0.5 * diameter * math.sin(angle)), edge(angle)
            rays.append([tuple((1 - w) * a + w * b for a, b in zip(inner, outer)) for w in (0.0, 0.5, 1.0)])
        for n in range(2):
            for corners in ((rays[0][n], rays[0][n + 1], rays[1][n + 1]), (rays[0][n], rays[1][n + 1], rays[1][n])):
                vertices = "".join(f"vertex {x:.9g} {y:.9g} 0\n" for x, y in corners)
                out.write(f"facet normal 0 0 1\nouter loop\n{vertices}endloop\nendfacet\n")
    out.write("endsolid ring\n")
