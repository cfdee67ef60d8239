#!/usr/bin/env python3
"""Start states in the file formats of all codes. Run by peers/run as a process of its own, so that the one that measures stays small.

  inputs.py loose NAME N SIDE_X SIDE_Y   loose packing in a box open to the top; SIDE 0: as long as a square of 30 layers needs
  inputs.py drum NAME N                  grains in a drum of radius 20 mm about y, 15 mm long, as on a lattice
  inputs.py from NAME OLD DUMP MARGIN    the grains of a LAMMPS dump in the box of OLD, with so much more room at the sides, m: what
                                         LIGGGHTS reads of walls must be inside
  inputs.py copies NAME OLD DUMP NX NY SPEED  so many copies of the bed OLD side by side, with random velocities up to SPEED, m/s
  inputs.py plates FILE                  the bottom of the silo, STL
  inputs.py mantle FILE                  the mantle of the drum in 96 flat faces, STL

Writes NAME.data for LAMMPS and LIGGGHTS, NAME.csv for Seixo and YADE, NAME.box with the two corners and the number of grains.
"""
import math
import random
import sys

DIAMETER = 1e-3
DENSITY = 2500.0
LAYERS = 30


def write(name, grains, low, high):
    with open(name + ".csv", "w") as file:
        file.write("x[m],y[m],z[m],vx[m/s],vy[m/s],vz[m/s],wx[rad/s],wy[rad/s],wz[rad/s]\n")
        for grain in grains:
            file.write(",".join("%.12g" % number for number in grain) + "\n")
    with open(name + ".data", "w") as file:
        file.write("grains\n\n%d atoms\n1 atom types\n\n" % len(grains))
        for axis in range(3):
            file.write("%.12g %.12g %slo %shi\n" % (low[axis], high[axis], "xyz"[axis], "xyz"[axis]))
        file.write("\nAtoms\n\n")
        for index, grain in enumerate(grains):
            file.write("%d 1 %g %g %.12g %.12g %.12g\n" % (index + 1, DIAMETER, DENSITY, *grain[:3]))
        file.write("\nVelocities\n\n")
        for index, grain in enumerate(grains):
            file.write("%d %.12g %.12g %.12g %.12g %.12g %.12g\n" % (index + 1, *grain[3:]))
    with open(name + ".box", "w") as file:
        file.write("%.12g %.12g %.12g %.12g %.12g %.12g %d\n" % (*low, *high, len(grains)))


def loose(name, count, side_x, side_y):
    """Share of space 0.30: a jittered lattice, whose spheres cannot overlap, with small random velocities."""
    dice = random.Random(1)
    spacing = DIAMETER * (math.pi / 6 / 0.30) ** (1 / 3)
    square = math.ceil(math.sqrt(count / LAYERS))
    rows = [int(side / spacing) if side else square for side in (side_x, side_y)]
    sides = [side or square * spacing for side in (side_x, side_y)]
    grains = []
    for index in range(count):
        cell = (index % rows[0], index // rows[0] % rows[1], index // (rows[0] * rows[1]))
        pitch = (sides[0] / rows[0], sides[1] / rows[1], spacing)
        place = [(k + 0.5) * p + dice.uniform(-0.1, 0.1) * DIAMETER for k, p in zip(cell, pitch)]
        grains.append(place + [dice.uniform(-0.05, 0.05) for _ in range(3)] + [0.0] * 3)
    top = (count // (rows[0] * rows[1]) + 6) * spacing
    # Room below for grains that leave a silo.
    write(name, grains, (0.0, 0.0, -0.01 if side_x else 0.0), (*sides, top))


def drum(name, count):
    dice = random.Random(1)
    radius, length, spacing = 20e-3, 15e-3, 1.1 * DIAMETER
    along, reach = int(length / spacing), int(radius / spacing)
    columns = [(i * spacing, k * spacing) for k in range(-reach, reach + 1) for i in range(-reach, reach + 1)]
    columns = [(x, z) for x, z in columns if math.hypot(x, z) < radius - 0.7 * DIAMETER]
    places = [(x, (j + 0.5) * length / along, z) for x, z in columns for j in range(along)][:count]
    assert len(places) == count, "the drum holds %d" % len(places)
    grains = [[number + dice.uniform(-0.04, 0.04) * DIAMETER for number in place] + [0.0] * 6 for place in places]
    wide = 1.02 * radius
    write(name, grains, (-wide, -DIAMETER, -wide), (wide, length + DIAMETER, wide))


def of_dump(old, dump):
    """The grains of a dump, and the corners of the box that OLD has."""
    lines = iter(open(dump))
    while not next(lines).startswith("ITEM: ATOMS"):
        pass
    box = [float(word) for word in open(old + ".box").read().split()]
    return [[float(word) for word in line.split()] for line in lines], box[:3], box[3:6]


def copies(name, old, dump, along_x, along_y, speed):
    dice = random.Random(2)
    bed, low, high = of_dump(old, dump)
    grains = []
    for i in range(along_x):
        for j in range(along_y):
            for x, y, z, *_ in bed:
                velocity = [dice.uniform(-speed, speed) for _ in range(3)]
                grains.append([x + i * (high[0] - low[0]), y + j * (high[1] - low[1]), z] + velocity + [0.0] * 3)
    high = (low[0] + along_x * (high[0] - low[0]), low[1] + along_y * (high[1] - low[1]), high[2])
    write(name, grains, low, high)


def stl(path, triangles):
    with open(path, "w") as file:
        file.write("solid walls\n")
        for a, b, c in triangles:
            u, v = ([q - p for p, q in zip(a, other)] for other in (b, c))
            normal = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
            size = math.hypot(*normal)
            file.write("facet normal %g %g %g\nouter loop\n" % tuple(n / size for n in normal))
            for point in (a, b, c):
                file.write("vertex %.9g %.9g %.9g\n" % point)
            file.write("endloop\nendfacet\n")
        file.write("endsolid walls\n")


def plates():
    """Two slabs, x from -5 to 8 mm and from 16 to 29 mm, their tops at z = 0; in m."""
    corners = ((0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4), (2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6), (1, 3, 5), (3, 7, 5))
    for left, right in ((-5e-3, 8e-3), (16e-3, 29e-3)):
        points = [(x, y, z) for z in (-1e-3, 0.0) for y in (-5e-3, 17e-3) for x in (left, right)]
        yield from ([points[k] for k in corner] for corner in corners)


def mantle(faces=96, rings=8):
    """Faces half inside, half outside of the round one, cut into pieces that are not too long; in m."""
    turn = 2 * math.pi / faces
    corner = 20e-3 / math.sqrt(math.sin(turn) / turn)
    at = lambda face, ring: (corner * math.sin(turn * (face % faces)), -0.5e-3 + 16e-3 * ring / rings, corner * math.cos(turn * (face % faces)))
    for face in range(faces):
        for ring in range(rings):
            a, b, c, d = at(face, ring), at(face + 1, ring), at(face + 1, ring + 1), at(face, ring + 1)
            yield a, b, c
            yield a, c, d


def main():
    what, name, *rest = sys.argv[1:]
    if what == "loose":
        loose(name, int(rest[0]), float(rest[1]), float(rest[2]))
    elif what == "drum":
        drum(name, int(rest[0]))
    elif what == "from":
        margin = float(rest[2])
        grains, low, high = of_dump(rest[0], rest[1])
        write(name, grains, (low[0] - margin, low[1] - margin, low[2]), (high[0] + margin, high[1] + margin, high[2]))
    elif what == "copies":
        copies(name, rest[0], rest[1], int(rest[2]), int(rest[3]), float(rest[4]))
    else:
        stl(name, {"plates": plates, "mantle": mantle}[what]())


main()
