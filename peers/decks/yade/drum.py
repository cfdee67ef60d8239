# yade -n -x -j THREADS drum.py START.csv STEPS EVERY
# A drum about y: radius 20 mm, 15 mm long between fixed plates, E 2 MPa; 4 rad/s.
import math
import os
import sys

# Yade does not look for modules beside its script.
sys.path.insert(0, os.path.dirname(sys.argv[0]))
import grains_in

start, steps, every = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
RADIUS, RATE, FACES = 20e-3, 4.0, 48

material = FrictMat(density=2500, young=2e6, poisson=0.3, frictionAngle=math.atan(0.5))
O.materials.append(material)
ids = O.bodies.append(grains_in.read(start, material))

# Flat faces that lie half inside, half outside of the round mantle.
turn = 2 * math.pi / FACES
corner = RADIUS / math.sqrt(math.sin(turn) / turn)
mantle = []
for face in range(FACES):
    (ax, az), (bx, bz) = ((corner * math.cos(k * turn), corner * math.sin(k * turn)) for k in (face, face + 1))
    a, b, c, d = (ax, -1e-3, az), (bx, -1e-3, bz), (bx, 16e-3, bz), (ax, 16e-3, az)
    mantle += O.bodies.append([facet((a, b, c), material=material), facet((a, c, d), material=material)])
O.bodies.append([wall(0.0, axis=1, sense=1, material=material), wall(15e-3, axis=1, sense=-1, material=material)])


def look():
    places = [O.bodies[index].state.pos for index in ids]
    print("CENTER %d %.9g %.9g" % (O.iter, sum(p[0] for p in places) / len(ids), sum(p[2] for p in places) / len(ids)), flush=True)


O.engines = [
    ForceResetter(),
    InsertionSortCollider([Bo1_Sphere_Aabb(), Bo1_Facet_Aabb(), Bo1_Wall_Aabb()], verletDist=0.1e-3),
    InteractionLoop(
        [Ig2_Sphere_Sphere_ScGeom(), Ig2_Facet_Sphere_ScGeom(), Ig2_Wall_Sphere_ScGeom()],
        [Ip2_FrictMat_FrictMat_MindlinPhys(en=0.5, es=0.5)],
        [Law2_ScGeom_MindlinPhys_Mindlin()],
    ),
    NewtonIntegrator(damping=0, gravity=(0, 0, -9.81)),
    RotationEngine(ids=mantle, angularVelocity=RATE, rotationAxis=(0, 1, 0), rotateAroundZero=True, zeroPoint=(0, 0, 0)),
    PyRunner(command="look()", iterPeriod=every),
]
O.dt = 1e-5
look()
O.run(steps, True)
