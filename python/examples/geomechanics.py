"""Triaxial test of sand: a function holds the stress across the sample by the velocities of two walls. Writes the file yield.checkpoint."""

from pathlib import Path

import numpy as np
import seixo as sx

gain, target = 4e-6, 100e3  # m/s per Pa, Pa
sim = sx.Simulation(sx.Scene.load(Path(__file__).with_name("triaxial.toml")), precision="f64")


@sim.every("50 us")
def hold(sim: sx.Simulation) -> None:
    stress = sim.stress(region="core").contact
    sim.wall["right"].velocity = [gain * (stress[0, 0] - target), 0, 0]
    sim.wall["back"].velocity = [0, gain * (stress[1, 1] - target), 0]


sim.run(until="time > 2 s or probe.sample.strain_zz > 0.08")
across, _, along = np.diag(sim.stress(region="core").contact)
print(f"friction angle {np.degrees(np.arcsin((along - across) / (along + across))):.1f} deg at a stress across of {across / 1e3:.1f} kPa")
c = sim.contacts()
fabric = np.einsum("ni,nj->ij", c.normal, c.normal) / len(c)
print(f"share of contacts along x, y, z: {fabric[0, 0]:.3f}, {fabric[1, 1]:.3f}, {fabric[2, 2]:.3f}")
sim.checkpoint("yield.checkpoint")
twin = sx.resume("yield.checkpoint")
print("the twin has equal bits:", sim.digest() == twin.digest())
