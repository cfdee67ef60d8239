"""What users write, for checkers of types in strict mode: names, arguments and results of the package. It is not run."""

import numpy as np
import seixo as sx


def edit() -> sx.Scene:
    scene = sx.Scene.load("silo.toml")
    scene.interaction["corn-steel"].friction = 0.25
    scene.wall["cone"].mesh, scene.wall["cone"].scale = "cone45.stl", "1 mm"
    print(scene.check())
    return scene


def run(scene: sx.Scene) -> None:
    finished = scene.run("out/base", device="auto")
    finished.probe["outlet"].to_pandas().plot("time", "mass_flow")
    sweep = sx.sweep(scene, {"interaction.corn-corn.friction": [0.2, 0.3, 0.4], "run.seed": range(3)}, out="out/sweep")
    table = sweep.run().to_pandas()
    print(table.groupby("interaction.corn-corn.friction")["outlet.mass_flow"].agg(["mean", "std"]))


def look() -> None:
    results = sx.open("out/base")
    print(results.ledger, results.probe["outlet"].to_polars())
    for frame in results.frames:
        print(frame.time, frame.grains.position, frame.fluid, frame.bonds, frame.contacts)


def step(scene: sx.Scene) -> None:
    sim = sx.Simulation(scene, precision="f64")

    @sim.every("0.1 ms")
    def hold(sim: sx.Simulation) -> None:
        stress = sim.stress(region="core")
        if stress is not None:
            sim.wall["lid"].velocity = [0, 0, 1e-7 * (stress.contact[2, 2] - 100e3)]

    # The type of a parameter without one is known, too.
    sim.every("1 ms", lambda sim: print(sim.time))
    sim.run(until="time > 2 s or probe.core.strain_zz > 0.15")
    contacts = sim.contacts()
    print(np.einsum("ni,nj->ij", contacts.normal, contacts.normal) / len(contacts))
    sim.cancel(hold)
    sim.checkpoint("yield.checkpoint")
    print(sim.digest() == sx.Simulation.resume("yield.checkpoint").digest())
    sim.external_force[:] = np.zeros((len(sim), 3))
    sim.external_force[sim.grains.id[0]] = [0, 0, 1]
    sim.body["scoop"].velocity = np.zeros(3)
    with sim.hold() as now:
        print(np.asarray(now.grains.position).mean(axis=0), np.from_dlpack(now.grains.velocity))
    sim.remove(sim.grains.position[:, 2] < 0)
