"""Yade: a steel ball, in free fall since it left z = 60 mm at -5 m/s, hits 25,000 grains. The box is made of the published triangles.

    yade -n -x yade.py FOLDER_OF_DOSTA2024 TABLE
"""
import math
import sys

data, table = sys.argv[1], sys.argv[2]
START, GRAVITY, STEP, UNTIL = -0.045, 9.81, 1e-6, 0.031

steel = O.materials.append(FrictMat(young=210e9, poisson=0.2, density=7200, frictionAngle=math.atan(0.2)))
m1 = O.materials.append(FrictMat(young=1e9, poisson=0.2, density=2500, frictionAngle=math.atan(0.3)))
for line in open(data + "/Penetration_walls.txt").readlines()[1:]:
    corner = [float(word) for word in line.split()]
    if len(corner) == 9:
        O.bodies.append(facet([corner[0:3], corner[3:6], corner[6:9]], material=steel))
for line in open(data + "/Penetration_25KParticles.txt").readlines()[1:25001]:
    radius, x, y, z = [float(word) for word in line.split()]
    O.bodies.append(sphere((x, y, z), radius, material=m1))
fast = math.sqrt(25 + 2 * GRAVITY * (0.06 - START))
fallen = (fast - 5) / GRAVITY
ball = O.bodies[O.bodies.append(sphere((0, 0, START), 0.01, material=steel))]
ball.state.vel = (0, 0, -fast)

# Of the friction of two materials Yade takes the smaller: 0.2 between grains and steel. Restitution: steel 0, grains 1.
restitution = MatchMaker(matches=((1, 1, 0.5), (0, 1, 0.4), (0, 0, 0.4)))
O.dt, O.dynDt = STEP, False
O.engines = [
    ForceResetter(),
    InsertionSortCollider([Bo1_Sphere_Aabb(), Bo1_Facet_Aabb()], verletDist=2e-4),
    InteractionLoop(
        [Ig2_Sphere_Sphere_ScGeom(), Ig2_Facet_Sphere_ScGeom(hertzian=True)],
        [Ip2_FrictMat_FrictMat_MindlinPhys(en=restitution)],
        [Law2_ScGeom_MindlinPhys_Mindlin()],
    ),
    NewtonIntegrator(damping=0, gravity=(0, 0, -GRAVITY)),
]
with open(table, "w") as out:
    out.write("time [s], height of the ball [m], velocity [m/s]\n")
    while fallen + O.time < UNTIL:
        O.run(200, True)
        out.write("%.6e, %.6e, %.6e\n" % (fallen + O.time, ball.state.pos[2], ball.state.vel[2]))
        out.flush()
