"""The table of ratios over commits, docs/evidence/peer-history.csv."""
import csv
import os
import statistics

import codes
import report

TABLE = os.path.join(codes.ROOT, "docs/evidence/peer-history.csv")
COLUMNS = ["date", "commit", "machine", "mode", "case", "cores", "grains", "rounds", "fastest other", "ratio", "lowest", "highest", "Seixo [1/s]", "others"]


def rows(mode, measured):
    """A row for each commit, machine, bed and number of threads; rounds without a commit, or cut short at it, are left out."""
    of_speed = [row for row in measured if row["part"] == "speed" and row.get("commit")]
    done = {(row["commit"], row["done"]) for row in of_speed if "done" in row}
    whole = [row for row in of_speed if "rate" in row and (row["commit"], row["round"]) in done]
    found = []
    for commit, machine in sorted({(row["commit"], row["machine"]) for row in whole}):
        here = [row for row in whole if (row["commit"], row["machine"]) == (commit, machine)]
        for (case, cores), over in sorted(report.ratios(here).items()):
            mine = [row for row in here if row["case"] == case and row["cores"] == cores]
            own = [row for row in mine if row["peer"] == "Seixo"]
            each = [ratio for ratio, _ in over]
            found.append([
                max(row["date"] for row in own), commit, machine, mode, case, cores, own[-1]["grains"], len(over),
                " and ".join(sorted({fastest for _, fastest in over})), "%.3f" % statistics.median(each), "%.3f" % min(each), "%.3f" % max(each),
                "%.0f" % statistics.median(row["rate"] for row in own), "%.2f" % max(row["others"] for row in mine),
            ])
    return [[str(cell).replace(",", ";") for cell in row] for row in found]


def record(mode, measured, path=TABLE):
    """Adds the rows that the table lacks, and returns their number; a command that is called again adds nothing twice."""
    known = []
    if os.path.exists(path):
        with open(path, newline="") as file:
            known = list(csv.reader(file))
    new = [row for row in rows(mode, measured) if row not in known]
    with open(path, "a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows(new if known else [COLUMNS] + new)
    return len(new)
