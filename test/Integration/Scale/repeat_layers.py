#!/usr/bin/env python3
"""Writes a model of many layers: the body of a one-layer model, again and again.

The first argument is the hidden state, which each layer takes from the one before; arguments that
do not look like weights (the others of an integer type) serve all layers, and so does what is
computed from them and from constants alone, as in exported models. With --own-tables each layer
computes that anew. Weights become arguments of each layer.
"""

import argparse
import re

VALUE = re.compile(r"%[A-Za-z0-9_$.-]+")


def split_ops(lines):
    """The ops of a function's body, each as its lines."""
    ops, depth = [], 0
    for line in lines:
        if depth == 0:
            ops.append([])
        ops[-1].append(line)
        code = re.sub(r'"[^"]*"', "", line)
        depth += code.count("{") - code.count("}")
        # A block label is within the op that opened the region.
    return ops


def get_results(op):
    """The names of an op's results, as written before the equals sign."""
    head = re.match(r"\s*(%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+)*)\s*=", op[0])
    return [name.split(":")[0].strip() for name in head.group(1).split(",")] if head else []


def get_uses(op, results):
    """The values from outside that an op uses."""
    text = "\n".join(op)
    defined = set(results)
    for match in re.finditer(r"\^bb\d+\(([^)]*)\)", text):
        defined |= set(VALUE.findall(match.group(1)))
    for line in op[1:]:
        defined |= set(get_results([line]))
    return {name.split("#")[0] for name in VALUE.findall(text)} - defined


def rename(op, names):
    return [
        VALUE.sub(lambda m: names.get(m.group(0), m.group(0)), line) for line in op
    ]


def in_layer(name, layer):
    return f"%v{name[1:]}_l{layer}"


def repeat(text, layers, own_tables):
    head, signature, rest = re.split(r"(func\.func @main\([^{]*?\{)\n", text, maxsplit=1)
    body, tail = rest.split("    return ", 1)
    value, result_type = re.match(r"(%\S+) : (.*)", tail).groups()
    tail = tail.split("\n", 1)[1]
    parameters = re.findall(r"(%\w+): (tensor<[^>]*>)", signature.split("->")[0])
    hidden, weights, shared = parameters[0][0], [], []
    for name, kind in parameters[1:]:
        (shared if re.search(r"xi\d+>$", kind) else weights).append((name, kind))

    known = {name for name, _ in shared}
    once, each = [], []
    for op in split_ops(body.rstrip("\n").split("\n")):
        results = get_results(op)
        uses = get_uses(op, results)
        is_once = not uses if own_tables else uses <= known
        (once if is_once else each).append((op, results))
        if is_once:
            known |= set(results)

    lines, arguments, state = [], [parameters[0], *shared], hidden
    for op, _ in once:
        lines += op
    for layer in range(layers):
        names = {hidden: state}
        for name, kind in weights:
            names[name] = in_layer(name, layer)
            arguments.append((names[name], kind))
        for op, results in each:
            names |= {name: in_layer(name, layer) for name in results}
            lines += rename(op, names)
        state = names[value]
    listed = ", ".join(f"{name}: {kind}" for name, kind in arguments)
    return (
        f"{head}func.func @main({listed}) -> {result_type} {{\n"
        + "\n".join(lines)
        + f"\n    return {state} : {result_type}\n"
        + tail
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--layers", type=int, required=True)
    parser.add_argument("--own-tables", action="store_true")
    args = parser.parse_args()
    with open(args.model, encoding="utf-8") as file:
        print(repeat(file.read(), args.layers, args.own_tables), end="")


if __name__ == "__main__":
    main()
