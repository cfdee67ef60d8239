"""Runs a command and says what it took, and how busy the machine was with something else meanwhile."""
import os
import subprocess
import threading
import time


class Failed(Exception):
    """A command that came back with an error; the text says which, and its last lines."""


def busy():
    """Seconds that all cores together were busy since the machine started."""
    ticks = [int(word) for word in open("/proc/stat").readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def watch_peak(pid, peak, is_over):
    """Most memory that the process itself ever held, looked at every 20 ms: what wait4 tells has the parent's before exec in it."""
    while not is_over.is_set():
        try:
            for line in open("/proc/%d/status" % pid):
                if line.startswith("VmHWM"):
                    peak[0] = max(peak[0], 1024 * int(line.split()[1]))
        except OSError:
            return
        is_over.wait(0.02)


def run(command, folder, log, environment=None, watches_memory=False):
    """Runs `command` in `folder` with everything that it says in `log`; seconds, CPU seconds, other load in cores, peak bytes."""
    path = os.path.join(folder, log)
    whole = dict(os.environ, **(environment or {}))
    before, clock = busy(), time.time()
    with open(path, "w") as file:
        process = subprocess.Popen(command, cwd=folder, env=whole, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
        peak, is_over = [0], threading.Event()
        watcher = threading.Thread(target=watch_peak, args=(process.pid, peak, is_over))
        if watches_memory:
            watcher.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        is_over.set()
        if watches_memory:
            watcher.join()
    wall, cpu = time.time() - clock, usage.ru_utime + usage.ru_stime
    if process.returncode:
        last = "".join(open(path, errors="replace").readlines()[-15:])
        raise Failed("%s\ncame back with %d; its last lines, of %s:\n%s" % (" ".join(command), process.returncode, path, last))
    return {"wall": wall, "cpu": cpu, "others": max(0.0, (busy() - before - cpu) / wall), "peak": peak[0]}
