"""What silo.in reads: the published triangles, and a loose packing of grains above the cone.

    python3 inputs.py dosta2024/Silo_walls__large_orifice_.txt silo.stl COUNT DENSITY grains.data
"""
import math
import random
import sys

triangles, stl, count, density, data = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
SPACING, JITTER, RADIUS, BOTTOM = 4.5e-3, 2e-4, 0.0955, 0.022

with open(stl, "w") as out:
    out.write("solid silo\n")
    for line in open(triangles).read().splitlines()[1:]:
        corner = [float(word) for word in line.split()]
        if len(corner) == 9:
            vertices = "".join("vertex %.9g %.9g %.9g\n" % tuple(corner[k : k + 3]) for k in (0, 3, 6))
            out.write(f"facet normal 0 0 1\nouter loop\n{vertices}endloop\nendfacet\n")
    out.write("endsolid silo\n")

random.seed(7)
grains, layer = [], 0
while len(grains) < count:
    for i in range(-24, 25):
        for j in range(-24, 25):
            if math.hypot(i, j) * SPACING < RADIUS and len(grains) < count:
                place = (i * SPACING, j * SPACING, BOTTOM + layer * SPACING)
                grains.append([x + random.uniform(-JITTER, JITTER) for x in place])
    layer += 1
with open(data, "w") as out:
    out.write(f"grains\n\n{count} atoms\n2 atom types\n\n")
    out.write("-0.11 0.11 xlo xhi\n-0.11 0.11 ylo yhi\n-0.08 0.35 zlo zhi\n\nAtoms\n\n")
    for number, (x, y, z) in enumerate(grains, 1):
        out.write(f"{number} 1 0.004 {density} {x:.9g} {y:.9g} {z:.9g}\n")
