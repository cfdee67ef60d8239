"""A policy drives a scoop through sand, and observes the sand where the engine keeps it, without a copy.

    python learning.py cuda:0          sees the memory of the GPU with PyTorch
    python learning.py cpu             the same on the CPU
    python learning.py cpu --numpy     with NumPy in place of PyTorch
"""

import argparse
import importlib
import importlib.util
from pathlib import Path

import numpy as np
import seixo as sx

parser = argparse.ArgumentParser()
parser.add_argument("device", help="cpu, cuda or cuda:N")
parser.add_argument("--numpy", action="store_true", help="NumPy in place of PyTorch, for the CPU")
parser.add_argument("--moves", type=int, default=1000, help="how many times the policy acts")
chosen = parser.parse_args()
if chosen.numpy and chosen.device != "cpu":
    parser.error(f"NumPy does not see the memory of {chosen.device}; leave out --numpy and install PyTorch, or give the device cpu")
if not chosen.numpy and importlib.util.find_spec("torch") is None:
    parser.error("PyTorch is missing; `pip install torch` installs it, and `cpu --numpy` runs without it")
xp = np if chosen.numpy else importlib.import_module("torch")


def encode(x, wrench):
    """Mean of the positions, x of the farthest grain, and the load on the scoop: numbers of its own, as no view of `x` may last until the next step."""
    wrench = xp.asarray(wrench)
    # The load comes from the CPU; the positions may be on a GPU, with fewer bits.
    return xp.concatenate([x.mean(0), x[:, 0].max()[None], wrench if chosen.numpy else wrench.to(x)])


def policy(obs):
    """Pushes slowly where the sand resists. A network that learns would stand here."""
    return [0.15 * float(xp.exp(-xp.abs(obs[4]) / 2.0)), 0.0, 0.0]


sim = sx.Simulation(sx.Scene.load(Path(__file__).with_name("scoop.toml")), device=chosen.device)
scoop = sim.body["scoop"]
start = sim.group["sand"].center
obs = xp.zeros(10)
for _ in range(chosen.moves):
    scoop.velocity = policy(obs)
    sim.step(20)
    with sim.hold() as now:
        obs = encode(xp.from_dlpack(now.grains.position), scoop.wrench)
    if scoop.position[0] > 0.1:
        break
print(f"{sim.device}: the scoop is at {scoop.position[0]:.3f} m after {sim.time:.3f} s")
print(f"the sand moved by {sim.group['sand'].center[0] - start[0]:.4f} m; the load is {np.abs(scoop.wrench[0]):.3f} N")
