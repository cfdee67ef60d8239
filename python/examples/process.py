"""Another cone for a silo: its mass flow, and a sweep over the friction of the grains. Writes into the folder out."""

from pathlib import Path

import matplotlib
import seixo as sx

matplotlib.use("agg")
s = sx.Scene.load(Path(__file__).with_name("silo.toml"))
s.interaction["corn-steel"].friction = 0.25
s.wall["cone"].mesh, s.wall["cone"].scale = "cone45.stl", "mm"
print(s.check())
run = s.run("out/base", device="auto", overwrite=True)
q = run.probe["outlet"].to_pandas()
q.plot("time", ["mass_flow", "mean_mass_flow"], ylabel="kg/s").figure.savefig("out/outlet.png")
t = sx.sweep(s, {"interaction.corn-corn.friction": [0.1, 0.3, 0.5], "run.seed": range(2)}, out="out/sweep").run()
print(t.to_pandas().groupby("interaction.corn-corn.friction")["outlet.mean_mass_flow"].agg(["mean", "std"]))
