"""Grains from a table: a line each of place, velocity and angular velocity, below a line of names."""
from yade import utils


def read(path, material):
    grains = []
    for line in open(path):
        if line[0] == "x":
            continue
        numbers = [float(word) for word in line.split(",")]
        grain = utils.sphere(numbers[:3], 0.5e-3, material=material)
        grain.state.vel, grain.state.angVel = numbers[3:6], numbers[6:9]
        grains.append(grain)
    return grains
