"""What liggghts.in reads: the packing of [Dosta 2024], with the ball just above it and ASIDE meters from the axis.

    python3 inputs.py dosta2024/Penetration_25KParticles.txt grains.data ASIDE
"""
import sys

packing, out, aside = sys.argv[1], sys.argv[2], float(sys.argv[3])
grains = [line.split() for line in open(packing).read().splitlines()[1:25001]]
with open(out, "w") as data:
    data.write("grains\n\n25001 atoms\n2 atom types\n\n")
    data.write("-0.05 0.05 xlo xhi\n-0.031 0.031 ylo yhi\n-0.0925 0.02 zlo zhi\n\nAtoms\n\n")
    for number, (radius, x, y, z) in enumerate(grains, 1):
        data.write(f"{number} 1 {2 * float(radius)} 2500 {x} {y} {z}\n")
    data.write(f"25001 2 0.02 7200 {aside} 0 -0.045\n")
