"""Attention in other libraries, in the form that each of them is fastest in.

A peer's build(case, arrays) gives a call and what returns its output [H, S, D]
after it, in f32; None if the library has no such operation. Cases are those of
cases.py, arrays theirs as they lie in memory. A peer needs its Python package.
"""

import importlib.util

import numpy as np

from cases import from_bf16


def is_plain(case):
    """Rotations of halves and causality apart, nothing but attention."""
    return not (case.mask or case.window or case.softcap or case.sink or case.lse or case.interleaved or case.partial
                or case.dtype == "f16")


def as_f32(case, array):
    return from_bf16(array) if case.dtype == "bf16" and array.dtype == np.uint16 else array


def whole_tables(arrays):
    """[1, 1, S, D]: each entry for both halves, as models have it."""
    return [np.concatenate([arrays[n], arrays[n]], -1)[None, None] for n in ("cos", "sin")]


class PyTorch:
    name, package = "PyTorch", "torch"

    def build(self, case, arrays):
        import torch
        torch.set_num_threads(1)
        dtype = torch.bfloat16 if case.dtype == "bf16" else torch.float32
        tensor = lambda x: torch.from_numpy(np.ascontiguousarray(as_f32(case, x))).to(dtype)
        q, k, v = (tensor(arrays[n]) for n in "qkv")
        cos, sin = map(tensor, whole_tables(arrays))
        rotated = lambda x: torch.cat((-x[..., case.channels // 2:], x[..., :case.channels // 2]), -1)
        turn = lambda x, sign=1: x * cos[:, :, :x.shape[2]] + rotated(x) * sign * sin[:, :, :x.shape[2]]
        state = {}

        def attend(q, k, v):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=case.causal, enable_gqa=case.heads != case.groups)

        def call():
            with torch.inference_mode():
                if case.op == "attn":
                    state["o"] = attend(q, k, v)
                elif case.op == "rope_attn":
                    state["o"] = attend(turn(q), turn(k), v)
                else:
                    state["o"] = turn(attend(turn(q), turn(k), turn(v)), -1)

        return call, lambda: state["o"][0].float().numpy()


class OpenVINO:
    name, package = "OpenVINO", "openvino"

    def build(self, case, arrays):
        import openvino
        import openvino.opset13 as op
        parameters, feed = [], []
        constant = lambda values: op.constant(np.asarray(values, np.int64))

        def parameter(array):
            feed.append(np.ascontiguousarray(as_f32(case, array), np.float32))
            parameters.append(op.parameter(array.shape, np.float32))
            return parameters[-1]

        def turn(x, cos, sin):
            half = case.channels // 2
            first = op.slice(x, constant([0]), constant([half]), constant([1]), constant([3]))
            second = op.slice(x, constant([half]), constant([2 ** 62]), constant([1]), constant([3]))
            return op.add(op.multiply(x, cos), op.multiply(op.concat([op.negative(second), first], -1), sin))

        def repeat(x):
            """Each key-value head for all of its query heads."""
            shape = constant([1, case.groups, case.heads // case.groups, 1, 1])
            wide = op.broadcast(op.unsqueeze(x, constant(2)), shape, broadcast_spec="BIDIRECTIONAL")
            return op.reshape(wide, constant([0, case.heads, -1, case.channels]), True)

        q, k, v = (parameter(arrays[n]) for n in "qkv")
        if case.turns:
            cos, sin = map(parameter, whole_tables(arrays))
            q, k = turn(q, cos, sin), turn(k, cos, sin)
        if case.op == "roper_attn":
            v = turn(v, cos, sin)
        if case.heads != case.groups:
            k, v = repeat(k), repeat(v)
        out = op.scaled_dot_product_attention(q, k, v, causal=case.causal)
        if case.op == "roper_attn":
            out = turn(out, cos, op.negative(sin))
        compiled = openvino.Core().compile_model(openvino.Model([out], parameters), "CPU", {
            "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "ENABLE_CPU_PINNING": False,
            "INFERENCE_PRECISION_HINT": case.dtype, "PERFORMANCE_HINT": "LATENCY"})
        request = compiled.create_infer_request()
        for i, array in enumerate(feed):
            request.set_input_tensor(i, openvino.Tensor(array, shared_memory=True))
        # The request does not keep its inputs alive.
        call = lambda keep=feed: request.infer()
        return call, lambda: request.get_output_tensor(0).data[0].astype(np.float32)


class ONNXRuntime:
    """GroupQueryAttention if causal, else MultiHeadAttention."""
    name, package = "ONNX Runtime", "onnxruntime"

    def build(self, case, arrays):
        if case.dtype != "f32" or case.op == "roper_attn" or case.rows != case.keys:
            return None
        if not case.causal and (case.turns or case.heads != case.groups):
            return None
        import onnx
        import onnxruntime
        helper, floats, ints = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT32
        feed = {n: np.ascontiguousarray(arrays[n][0].transpose(1, 0, 2).reshape(1, case.rows, -1)) for n in "qkv"}
        attributes, names, results = dict(num_heads=case.heads), ["q", "k", "v"], ["o"]
        if case.causal:
            kind, attributes["kv_num_heads"] = "GroupQueryAttention", case.groups
            feed.update(last=np.array([case.keys - 1], np.int32), total=np.array([case.keys], np.int32))
            names, results = names + ["", "", "last", "total"], ["o", "pk", "pv"]
            if case.turns:
                feed.update(cos=arrays["cos"], sin=arrays["sin"])
                names, attributes["do_rotary"] = names + ["cos", "sin"], 1
        else:
            kind = "MultiHeadAttention"
        types = {name: ints if array.dtype == np.int32 else floats for name, array in feed.items()}
        inputs = [helper.make_tensor_value_info(n, types[n], list(a.shape)) for n, a in feed.items()]
        outputs = [helper.make_tensor_value_info(n, floats, None) for n in results]
        node = helper.make_node(kind, names, results, domain="com.microsoft", **attributes)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(helper.make_graph([node], "g", inputs, outputs), opset_imports=opsets)
        model.ir_version = 10
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = 1, 1, 3
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        values = {n: onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(a)) for n, a in feed.items()}
        for name, value in values.items():
            binding.bind_ortvalue_input(name, value)
        for name in results:
            binding.bind_output(name, "cpu")
        back = lambda o: o[0].reshape(case.rows, case.heads, case.channels).transpose(1, 0, 2)
        return (lambda: session.run_with_iobinding(binding)), lambda: back(binding.get_outputs()[0].numpy())


PEERS = [PyTorch(), OpenVINO(), ONNXRuntime()]


def find_peers():
    return [peer for peer in PEERS if importlib.util.find_spec(peer.package)]
