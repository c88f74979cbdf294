"""First-order (ModelOpt) and SNIP-like scores of every site of gpt2-nano, from the project's PyTorch reference.

usage: PYTHONPATH=REFERENCE python3 make.py MODEL_DIR TOKENS.json > nano.json
REFERENCE is the folder that holds bendref. Formulas: design/formats.md section 7, written down again here: y is the
output of a pass (unrounded, without bias) or of an op group, d = y_low - y, g = dL/dy as it arrives, g* the gradient.
  firstOrder  fprop, out: sum over batches and elements of clamp(g d, -1e10, 1e10)^2
  snip        mean over batches; fprop, out: |g| |d| / (sqrt(n) L); wgrad: |d| / |g*|;
              dgrad: (|d| / |y|) |g_below| / |g*|, g_below: gradient of the parameters that the node's input depends on,
              as autograd says
"""
import json
import math
import pathlib
import sys

import torch
from safetensors.torch import load_file

from bendref import gpt2, operands as Q
from bendref.gpt2 import GPT2, Policy, bf16


def six(x):
    return float(f"{x:.6g}")


def inputs_alive(model, x, y):
    """Node -> its first input, still part of the autograd graph of a reference forward pass."""
    seen, read = {}, gpt2._In

    class Reading:
        @staticmethod
        def apply(tensor, pol, node, port):
            seen.setdefault(node, tensor)
            return read.apply(tensor, pol, node, port)

    gpt2._In = Reading
    try:
        model.loss(x, y)
    finally:
        gpt2._In = read
    return seen


def below(model, x, y):
    """Linear node -> names of the parameters that its input depends on."""
    names, params = list(model.params), list(model.params.values())
    seen = inputs_alive(model, x, y)
    found = {}
    for node in model.linear_nodes():
        parts = torch.autograd.grad(seen[node].sum(), params, retain_graph=True, allow_unused=True)
        found[node] = [name for name, part in zip(names, parts) if part is not None]
    return found


def norm(tensors):
    return math.sqrt(sum((t.double() ** 2).sum().item() for t in tensors))


def passes(model, trace, node, scheme):
    """The three outputs of a linear, low and high, from the reference's inputs."""
    pol, t = Policy(), lambda m: m.t().contiguous()
    a, g = trace[node + "/x0"].flatten(0, -2), trace[node + "/dy"].flatten(0, -2)
    w = bf16(model.params[node + ".weight"].detach())
    return {
        "fprop": (Q.rows(a, scheme, "x") @ Q.weight(w, scheme, pol, 0), a @ w),
        "dgrad": (Q.rows(g, scheme, "dy") @ Q.weight(w, scheme, pol, 1).t(), g @ w.t()),
        "wgrad": (Q.rows(t(a), scheme, "x") @ Q.rows(t(g), scheme, "dy").t(), t(a) @ g),
    }


def batch_scores(model, x, y):
    """{recipe: {site: (firstOrder or None, snip)}} of one batch."""
    trace = {}
    loss, gradient = model.gradient(x, y, Policy(trace=trace))
    whole, reached = norm(gradient.values()), below(model, x, y)

    def forward(low, high, dy):
        d = low - high
        return ((dy.reshape(d.shape) * d).clamp(-1e10, 1e10).double() ** 2).sum().item(), norm([dy]) * norm([d]) / (math.sqrt(d.numel()) * loss)

    linears, outs = {}, {}
    for node in model.linear_nodes():
        outputs = passes(model, trace, node, "nvfp4")
        linears[node + ":fprop"] = forward(*outputs["fprop"], trace[node + "/dy"])
        low, high = outputs["dgrad"]
        linears[node + ":dgrad"] = (None, norm([low - high]) / norm([high]) * norm([gradient[name] for name in reached[node]]) / whole)
        low, high = outputs["wgrad"]
        linears[node + ":wgrad"] = (None, norm([low - high]) / whole)
    for node in model.op_groups():
        out = trace[node + "/y"]
        outs[node + ":out"] = forward(bf16(Q.tensor_fp8(out, "e4m3")), out, trace[node + "/dy"])
    return {"nvfp4": linears, "fp8-out": outs}


def scores(model, batches):
    rows = [batch_scores(model, b[:, :-1], b[:, 1:]) for b in batches]
    pooled = {}
    for recipe, sites in rows[0].items():
        pooled[recipe] = {}
        for site in sites:
            first, snip = zip(*(row[recipe][site] for row in rows))
            pooled[recipe][site] = {"firstOrder": None if None in first else six(sum(first)), "snip": six(sum(snip) / len(snip))}
    return pooled


def main():
    folder, tokens = map(pathlib.Path, sys.argv[1:])
    torch.set_num_threads(1)
    heads = json.load(open(folder / "config.json"))["n_head"]
    params = {k: v.float() for k, v in load_file(folder / "model.safetensors").items()}
    batches = [torch.tensor(b) for b in json.load(open(tokens))["batches"]]
    result = {name: scores(GPT2(params, heads, ideal=ideal), batches) for name, ideal in (("float64", True), ("float32", False))}
    result["below"] = below(GPT2(params, heads), batches[0][:, :-1], batches[0][:, 1:])
    json.dump(result, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
