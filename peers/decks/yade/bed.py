# yade -n -x -j THREADS bed.py START.csv hertz|linear SIDE_X SIDE_Y SKIN WARM TIMED FINAL
# Grains in an open box, Hertz-Mindlin or linear springs, both with history.
import math
import os
import sys
import time

# Yade does not look for modules beside its script.
sys.path.insert(0, os.path.dirname(sys.argv[0]))
import grains_in

start, law, final = sys.argv[1], sys.argv[2], sys.argv[8]
side_x, side_y, skin = (float(word) for word in sys.argv[3:6])
warm, timed = int(sys.argv[6]), int(sys.argv[7])

slope = math.atan(0.5)
if law == "hertz":
    material = FrictMat(density=2500, young=1e7, poisson=0.3, frictionAngle=slope)
    properties = Ip2_FrictMat_FrictMat_MindlinPhys(en=0.5, es=0.5)
    forces = Law2_ScGeom_MindlinPhys_Mindlin()
else:
    # Yade puts the springs and dashpots of both bodies in series: each has twice those of the contact,
    # kn = 400 N/m, kt = 2/7 kn, damping rates 1.0655e4 and 5.695e3 1/s times the effective mass.
    mass = 0.5 * 2500 * math.pi / 6 * 1e-9
    material = ViscElMat(
        density=2500, frictionAngle=slope, kn=800.0, ks=800 * 2 / 7.0, cn=2 * mass * 1.0655e4, cs=2 * mass * 5.695e3
    )
    properties = Ip2_ViscElMat_ViscElMat_ViscElPhys()
    forces = Law2_ScGeom_ViscElPhys_Basic()
O.materials.append(material)

grains = grains_in.read(start, material)
O.bodies.append(grains)
for axis, sides in enumerate(((0.0, side_x), (0.0, side_y), (0.0,))):
    for side, sense in zip(sides, (1, -1)):
        O.bodies.append(wall(side, axis=axis, sense=sense, material=material))

O.engines = [
    ForceResetter(),
    InsertionSortCollider([Bo1_Sphere_Aabb(), Bo1_Wall_Aabb()], verletDist=skin),
    InteractionLoop([Ig2_Sphere_Sphere_ScGeom(), Ig2_Wall_Sphere_ScGeom()], [properties], [forces]),
    NewtonIntegrator(damping=0, gravity=(0, 0, -9.81)),
]
O.dt = 5e-6
O.run(warm, True)
clock = time.time()
O.run(timed, True)
print("TIMED %d steps %.6f s" % (timed, time.time() - clock), flush=True)
with open(final, "w") as file:
    for index in range(len(grains)):
        state = O.bodies[index].state
        file.write("%.12g %.12g %.12g %.12g %.12g %.12g\n" % (*state.pos, *state.vel))
