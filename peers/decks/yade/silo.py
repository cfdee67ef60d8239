# yade -n -x -j THREADS silo.py START.csv STEPS EVERY
# A silo of 24 x 12 mm with a flat bottom and a slot of 8 mm from wall to wall, E 2 MPa. Its grains rest on a floor that is gone at step 0.
import math
import os
import sys

# Yade does not look for modules beside its script.
sys.path.insert(0, os.path.dirname(sys.argv[0]))
import grains_in

start, steps, every = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

material = FrictMat(density=2500, young=2e6, poisson=0.3, frictionAngle=math.atan(0.5))
O.materials.append(material)
inside = set(O.bodies.append(grains_in.read(start, material)))
# Boxes: middle, half of the lengths.
for middle in (1.5e-3, 22.5e-3):
    O.bodies.append(box((middle, 6e-3, -0.5e-3), (6.5e-3, 11e-3, 0.5e-3), fixed=True, material=material))
for axis, side in ((0, 24e-3), (1, 12e-3)):
    O.bodies.append([wall(0.0, axis=axis, sense=1, material=material), wall(side, axis=axis, sense=-1, material=material)])


def look():
    for index in [index for index in inside if O.bodies[index].state.pos[2] < -10e-3]:
        inside.remove(index)
        O.bodies.erase(index)
    print("INSIDE %d %d" % (O.iter, sum(O.bodies[index].state.pos[2] > -2e-3 for index in inside)), flush=True)


O.engines = [
    ForceResetter(),
    InsertionSortCollider([Bo1_Sphere_Aabb(), Bo1_Box_Aabb(), Bo1_Wall_Aabb()], verletDist=0.1e-3),
    InteractionLoop(
        [Ig2_Sphere_Sphere_ScGeom(), Ig2_Box_Sphere_ScGeom(), Ig2_Wall_Sphere_ScGeom()],
        [Ip2_FrictMat_FrictMat_MindlinPhys(en=0.5, es=0.5)],
        [Law2_ScGeom_MindlinPhys_Mindlin()],
    ),
    NewtonIntegrator(damping=0, gravity=(0, 0, -9.81)),
    PyRunner(command="look()", iterPeriod=every),
]
O.dt = 1e-5
look()
O.run(steps, True)
