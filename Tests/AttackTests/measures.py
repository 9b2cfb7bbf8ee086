"""The resources of the daemon and its broker: memory, descriptors, threads."""

import glob
import os

MiB = 1 << 20


def of_process(pid):
    """Counts only anonymous memory, because the pages of program files are loaded and dropped at any time."""
    with open(f"/proc/{pid}/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    return {"memory": int(fields["RssAnon"].split()[0]) * 1024, "threads": int(fields["Threads"]),
            "descriptors": len(os.listdir(f"/proc/{pid}/fd"))}


class Measures:
    """Looks for the broker at each measurement, because its supervisor may have started another one."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.start = self.last = None
        self.peak = {}
        self.brokers = set()

    def broker(self):
        # The kernel lists a child at the thread that started it.
        for children in glob.glob(f"/proc/{self.daemon}/task/*/children"):
            try:
                with open(children) as file:
                    for child in file.read().split():
                        with open(f"/proc/{child}/comm") as name:
                            if name.read().strip() == "mosquitto":
                                return int(child)
            except OSError:
                pass
        return None

    def take(self):
        values = {f"daemon {name}": value for name, value in of_process(self.daemon).items()}
        broker = self.broker()
        if broker:
            self.brokers.add(broker)
            try:
                values.update({f"broker {name}": value for name, value in of_process(broker).items()})
            except OSError:
                pass
        self.start = self.start or values
        self.last = values
        for name, value in values.items():
            self.peak[name] = max(value, self.peak.get(name, 0))
        return values

    def over(self, name, room):
        """Whether the value is now more than `room` above its value at the start."""
        return self.last.get(name, 0) > self.start.get(name, 0) + room

    def table(self):
        lines = ["  %-20s %10s %10s %10s" % ("", "start", "peak", "at rest")]
        for name in self.start:
            unit = (MiB, "%.1f MiB") if name.endswith("memory") else (1, "%d")
            lines.append("  %-20s " % name + " ".join(
                "%10s" % (unit[1] % (values.get(name, 0) / unit[0])) for values in (self.start, self.peak, self.last)))
        if len(self.brokers) > 1:
            lines.append(f"  the broker was started again {len(self.brokers) - 1} times")
        return "\n".join(lines)
