"""Prints rope IR of one operation and case, for benchmarks that bring their own data.

    kernel_ir.py OP DTYPE MASK H K S N D > kernel.mlir

OP is attn, rope_attn, roper_attn, decode (attention of one query), rope (one
rotation) or linear (linear attention of elu + 1, rotated, with a normaliser);
DTYPE f32 or bf16; MASK full or causal; then query heads, key-value heads,
queries, keys and channels. The function @kernel takes memrefs: those of cases.py
for attention, linear or not; x [1, H, S, D], cos and sin [S, D/2] in f32 and
out for rope. A whole layer is made by build_layer.py.
"""

import sys

from cases import Case, arguments, kernel_of, kernel_text, memref, table_text


def rope_text(dtype, heads, rows, channels):
    x, plane = memref(1, heads, rows, channels, dtype), memref(rows, channels // 2, "f32")
    table = memref(rows, 2, channels // 2, "f32")
    return f"""func.func @kernel(%x: {x}, %cos: {plane}, %sin: {plane}, %out: {x}) {{
  %t = memref.alloc() : {table}
  rope.assemble ins(%cos, %sin : {plane}, {plane}) outs(%t : {table})
  rope.rotate <half along [2]> ins(%x, %t : {x}, {table}) outs(%out : {x})
  return
}}
"""


def linear_text(case):
    lines, query_table, key_table = table_text(case)
    types = dict(arguments(case))
    rotary = "<half along [2]>"
    lines.append(f"rope.linear_attention ins(%q, %k, %v : {types['q']}, {types['k']}, {types['v']}) "
                 f"rotate_query(%tq : {query_table}) {rotary} rotate_key(%tk : {key_table}) {rotary} "
                 f"outs(%out : {types['out']}) feature_map elu_plus_one {'causal ' if case.causal else ''}"
                 "normalizer_eps 1.0e-6")
    return kernel_of(case, lines)


def main():
    if len(sys.argv) != 9:
        sys.exit(__doc__)
    op, dtype, mask = sys.argv[1:4]
    heads, groups, rows, keys, channels = map(int, sys.argv[4:])
    if op == "rope":
        print(rope_text(dtype, heads, rows, channels), end="")
    else:
        write = linear_text if op == "linear" else kernel_text
        op = {"decode": "attn", "linear": "rope_attn"}.get(op, op)
        print(write(Case(f"{op}:{dtype}:{mask}:H{heads}:K{groups}:S{rows}:N{keys}:D{channels}")), end="")


if __name__ == "__main__":
    main()
