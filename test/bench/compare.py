"""Times compiled attention beside the libraries that are installed.

    compare.py [CASE...] [--rounds N] [--json FILE] [--plot FILE.png]

Cases are those of cases.py. Of PyTorch, OpenVINO and ONNX Runtime (pip packages
torch, openvino, onnxruntime with onnx) those that are installed take part, on
one thread each. Every result is checked against f64 first. In every round all
of them run in turn, on the clock of the wall, each as often as ours (which is
several times, if that is short); what is printed is how many times longer a
library takes, best over best of at least 7 rounds, and the share of
the machine's limit (see attention.py) that compiled attention has. Cases of bf16
are compiled with relaxed-bf16, for libraries round as much. --plot needs
matplotlib.
"""

import argparse
import importlib.util
import json
import platform
import sys
import tempfile
import time

from attention import make_kernel
from cases import Case, Data
from harness import Limits
from peers import find_peers, is_plain

DEFAULT = """
attn:f32:full:S2048:D64 rope_attn:f32:causal:S512:D64 rope_attn:f32:causal:S2048:D64
rope_attn:f32:causal:S2048:D128 rope_attn:f32:causal:H32:K8:S512:D64 roper_attn:f32:causal:S2048:D64
attn:f32:full:S1:N16384:D128 attn:bf16:full:dots:S2048:D64 rope_attn:bf16:causal:dots:S2048:D64
""".split()

# On the error over the largest output: libraries round what they rotate.
TOLERANCE = {"f32": 1e-4, "bf16": 0.05}


class Runner:
    """Someone who computes a case, and the seconds of each call."""

    def __init__(self, name, call):
        self.name, self.call, self.seconds = name, call, []

    def time(self):
        start = time.perf_counter()
        self.call()
        return time.perf_counter() - start

    @property
    def best(self):
        return min(self.seconds)


def build_peers(case):
    runners = []
    for peer in find_peers() if is_plain(case) else []:
        data = Data(case)
        built = peer.build(case, data.arrays)
        if not built:
            continue
        call, get = built
        call()
        data.result = get().astype(float)
        error = data.error()
        if not error <= TOLERANCE[case.dtype]:
            sys.exit(f"{case.text}: {peer.name} is off by {error:.1e} of the largest output")
        runners.append(Runner(peer.name, call))
    return runners


def compare(text, folder, number, rounds, limits):
    """A line of results for a case."""
    kernel, case = make_kernel(text, folder, number), Case(text)
    if not kernel.error <= kernel.bound:
        sys.exit(f"{text}: error {kernel.error:.1e} of the largest result is over {kernel.bound:.1e}")
    limit, runners = limits.get(kernel), [Runner("rope", kernel.call), *build_peers(case)]
    for _ in range(max(rounds, 7)):
        limit.sample()
        calls = None
        for runner in runners:
            turn = limit.take_turn(runner.time, calls)
            runner.seconds += turn
            calls = len(turn)
    ours = runners[0].best
    return {"case": text, "ms": ours * 1e3, "limit": kernel.limit, "share": kernel.work / ours / limit.best,
            "error": float(kernel.error), "compile_s": kernel.compile_seconds,
            "ratios": {r.name: r.best / ours for r in runners[1:]}}


def read_processor():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.processor()


def print_table(lines, names):
    print(f"{'case':44} {'ms':>9} {'share':>6} " + " ".join(f"{n:>13}" for n in names))
    for line in lines:
        ratios = (f"{line['ratios'][n]:12.2f}x" if n in line["ratios"] else f"{'-':>13}" for n in names)
        print(f"{line['case']:44} {line['ms']:9.2f} {line['share']:6.3f} " + " ".join(ratios))


def plot(lines, names, path):
    """Bars of how many times longer each library takes."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(10, 0.6 * len(lines) + 1.5), layout="constrained")
    height = 0.8 / max(len(names), 1)
    for i, name in enumerate(names):
        rows = [(j, line["ratios"][name]) for j, line in enumerate(lines) if name in line["ratios"]]
        bars = axes.barh([j + i * height for j, _ in rows], [r for _, r in rows], height, label=name)
        axes.bar_label(bars, fmt="%.1f", padding=2, fontsize=8)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks([j + 0.4 - height / 2 for j in range(len(lines))], [line["case"] for line in lines], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(f"time over that of rope, one thread of {read_processor()}")
    axes.legend()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=DEFAULT)
    parser.add_argument("--rounds", type=int, default=11, help="turns of each case (at least 7)")
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--plot", help="write a chart to this file")
    args = parser.parse_args()
    if args.plot and not importlib.util.find_spec("matplotlib"):
        sys.exit("--plot needs matplotlib (pip install matplotlib)")
    with tempfile.TemporaryDirectory() as folder:
        limits = Limits(folder)
        lines = [compare(text, folder, i, args.rounds, limits) for i, text in enumerate(args.cases)]
    names = [peer.name for peer in find_peers()]
    if not names:
        print("none of the libraries is installed: there is nothing to compare with")
    print_table(lines, names)
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"processor": read_processor(), "date": time.strftime("%Y-%m-%d"), "cases": lines}, file, indent=1)
    if args.plot:
        plot(lines, names, args.plot)


if __name__ == "__main__":
    main()
