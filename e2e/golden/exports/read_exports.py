"""
Reads exports the way their targets do, with the targets replaced by stubs that keep their rules: Python's re.search, exact
names, fnmatch in order. Standard input: [{"target", "file", "names"}], names a text file with one layer a line. Standard
output: for each, {"layers": {name: [fprop, dgrad, wgrad] or null}} in Bendscope's words, null where nothing names the
layer, or {"error": why}. Python files are compiled first, warnings being errors. Rules: nvidia-dlfw-inspect
config_manager.py, Megatron-LM core/quantization/quant_config.py and core/extensions/transformer_engine.py,
TransformerEngine pytorch/tensor/hybrid_tensor.py, torchao float8/config.py and quantization/quant_api.py,
Model-Optimizer quantization/conversion.py.
"""
import collections
import enum
import fnmatch
import json
import py_compile
import re
import sys
import types
import warnings

warnings.simplefilter("error")
PASSES = ("fprop", "dgrad", "wgrad")


def read_te_debug(path, names):
    import yaml

    with open(path) as file:
        sections = [section for section in yaml.safe_load(file).values() if section["enabled"]]
    assert sections, "no enabled section"
    layers = {}
    for name in names:
        taking = [s for s in sections if re.compile(s["layers"]["layer_name_regex_pattern"]).search(name) is not None]
        assert len(taking) < 2, f"several sections target {name}"
        layers[name] = None
        for section in taking:
            feature = section["transformer_engine"]["DisableQuantizationGEMM"]
            assert set(feature["gemms"]) <= set(PASSES)
            layers[name] = ["bf16" if feature["enabled"] and gemm in feature["gemms"] else "recipe" for gemm in PASSES]
    return layers


def read_megatron(path, names):
    import yaml

    words = {None: "bf16", "nvfp4": "nvfp4", "mxfp8": "mxfp8", "tensorwise": "fp8", "blockwise": "fp8-block"}
    with open(path) as file:
        document = yaml.safe_load(file)
    formats = {}
    for key, config in document["configs"].items():
        assert set(config) == {"transformer_engine_config_type", "training_recipe"}, key
        assert config["transformer_engine_config_type"] == "TEQuantizationParams"
        recipe = config["training_recipe"]
        assert set(recipe) <= {"fp8_quantization_recipe", "fp4_quantization_recipe", "fp8_format"}, key
        assert not {"fp8_quantization_recipe", "fp4_quantization_recipe"} <= set(recipe), key
        assert recipe.get("fp8_format", "e4m3") in ("e4m3", "hybrid"), key
        formats[key] = words[recipe.get("fp8_quantization_recipe", recipe.get("fp4_quantization_recipe"))]
    matchers = [m for m in document["matchers"].values() if m.get("enabled", False)]
    assert all(m["type"] == "glob" for m in matchers)
    layers = {}
    for name in names:
        first = next((m for m in matchers if fnmatch.fnmatch(name, m["pattern"])), None)
        layers[name] = None if first is None else [formats[first["config"]]] * 3
    return layers


class Record:
    """A stub object that remembers how it was made."""

    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs


def module(name, **members):
    made = types.ModuleType(name)
    for key, value in members.items():
        setattr(made, key, value)
    sys.modules[name] = made
    parent, _, child = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], child, made)
    return made


def run(path):
    scope = {"__name__": "exported"}
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), scope)
    return scope


class Linear:
    pass


class Model:
    def __init__(self, names):
        self.names = names

    def named_modules(self):
        return [(name, Linear()) for name in self.names]


def stub_torch():
    nn = types.SimpleNamespace(Linear=Linear)
    module("torch", nn=nn, device=lambda kind: kind, float8_e4m3fn="e4m3", float4_e2m1fn_x2="e2m1")


def read_te_factory(path, names):
    stub_torch()
    kinds = {name: type(name, (Record,), {}) for name in ("NVFP4Quantizer", "MXFP8Quantizer", "Float8BlockQuantizer", "Float8CurrentScalingQuantizer", "IdentityQuantizer")}
    words = dict(zip(kinds, ("nvfp4", "mxfp8", "fp8-block", "fp8", "bf16")))

    class HybridQuantizer:
        def __init__(self, *, rowwise_quantizer, columnwise_quantizer):
            assert rowwise_quantizer is not columnwise_quantizer
            self.row, self.column = rowwise_quantizer, columnwise_quantizer

    module("transformer_engine")
    module("transformer_engine.pytorch", HybridQuantizer=HybridQuantizer, DType=types.SimpleNamespace(kFloat8E4M3="e4m3", kFloat8E5M2="e5m2"), **kinds)
    scope = run(path)
    Role = collections.namedtuple("Role", "module_type tensor_type name")

    def copies(name, tensor):
        made = scope["qfactory"](Role("linear", tensor, name))
        assert made is not scope["qfactory"](Role("linear", tensor, name)), "a quantizer is reused"
        return (made.row, made.column) if isinstance(made, HybridQuantizer) else (made, made)

    assert type(scope["qfactory"](None)).__name__ == "IdentityQuantizer"
    assert type(scope["qfactory"](Role("dpa", "qkv", names[0]))).__name__ == "IdentityQuantizer"
    missing = set(scope["unmatched"]())
    assert missing == set(scope["TABLE"]) != set(), "unmatched() before any layer"
    layers = {}
    for name in names:
        (x_row, x_column), (w_row, w_column), (dy_row, dy_column) = (copies(name, tensor) for tensor in ("input", "weight", "grad_output"))
        pairs = ((x_row, w_row), (dy_row, w_column), (dy_column, x_column))
        for (a, b), gemm in zip(pairs, PASSES):
            assert type(a) is type(b), f"{name} {gemm}: operands of two families"
        formats = [words[type(a).__name__] for a, _ in pairs]
        assert name in scope["TABLE"] or formats == ["bf16"] * 3
        layers[name] = formats if name in scope["TABLE"] else None
        check_quantizers(x_row, x_column, w_row, w_column, dy_row, dy_column)
    assert scope["unmatched"]() == [], "unmatched() after every layer"
    return layers


def check_quantizers(x_row, x_column, w_row, w_column, dy_row, dy_column):
    """No Hadamard transform or stochastic rounding of weights, none of either but where formats.md 2.8 and 2.9 have it."""
    for quantizer in (x_row, x_column, w_row, w_column, dy_row, dy_column):
        k = quantizer.kwargs
        is_weight, is_grad = quantizer in (w_row, w_column), quantizer in (dy_row, dy_column)
        if type(quantizer).__name__ == "NVFP4Quantizer":
            assert k["with_rht"] == k["with_post_rht_amax"] and not (k["with_rht"] and is_weight)
            assert not k["with_2d_quantization"] or is_weight
            assert not k["stochastic_rounding"] or is_grad
        if type(quantizer).__name__ == "Float8BlockQuantizer":
            assert k["block_scaling_dim"] == (2 if is_weight else 1)
        if type(quantizer).__name__ == "Float8CurrentScalingQuantizer":
            assert k["fp8_dtype"] == ("e5m2" if is_grad else "e4m3")


def read_torchao(path, names):
    stub_torch()
    layers = dict.fromkeys(names)

    def word(config):
        if config is None:
            return "bf16"
        if type(config).__name__.startswith("NVFP4"):
            return "nvfp4"
        if type(config).__name__.startswith("MX"):
            assert config.kwargs["activation_dtype"] == config.kwargs["weight_dtype"]
            return {"e4m3": "mxfp8", "e2m1": "mxfp4"}[config.kwargs["weight_dtype"]]
        granularity = config.kwargs["granularity"]
        if isinstance(granularity, tuple):
            assert [g.args for g in granularity] == [([1, 128],), ([128, 128],)]
            return "fp8-block"
        return "fp8"

    def quantize_(model, config, filter_fn):
        assert filter_fn is None
        keys = config.args[0]
        assert "_default" not in keys
        for name, _ in model.named_modules():
            assert f"{name}.weight" not in keys
            exact = name if name in keys else None
            pattern = next((key for key in keys if key.startswith("re:") and re.fullmatch(key[3:], name)), None)
            key = pattern if exact is None else exact
            layers[name] = None if key is None else [word(keys[key])] * 3

    kinds = {name: type(name, (Record,), {}) for name in ("Float8DynamicActivationFloat8WeightConfig", "PerTensor", "PerBlock", "FqnToConfig")}
    module("torchao")
    module("torchao.prototype")
    module("torchao.prototype.mx_formats", ScaleCalculationMode=types.SimpleNamespace(RCEIL="rceil", FLOOR="floor"), **{name: type(name, (Record,), {}) for name in ("NVFP4DynamicActivationNVFP4WeightConfig", "MXDynamicActivationMXWeightConfig")})
    module("torchao.quantization", quantize_=quantize_, **kinds)
    scope = run(path)
    refuses_others(scope)
    scope["apply"](Model(names))
    return layers


def read_torchao_float8(path, names):
    stub_torch()
    layers = dict.fromkeys(names)
    ScalingType = enum.Enum("ScalingType", "DYNAMIC DISABLED")

    class CastConfig:
        def __init__(self, scaling_type):
            self.scaling_type, self.target_dtype = scaling_type, None

    class Float8LinearConfig:
        def __init__(self, **casts):
            assert casts.pop("round_scales_to_power_of_2") in (True, False)
            get = lambda key: casts[f"cast_config_{key}"]
            self.gemms = ((get("input"), get("weight")), (get("grad_output"), get("weight_for_grad_input")), (get("input_for_grad_weight"), get("grad_output_for_grad_weight")))
            for a, b in self.gemms:
                assert a.scaling_type is b.scaling_type, "incompatible operand precision"
            # torchao writes the element type into each of them, and both uses of an operand must agree.
            for first, second, dtype in (("input", "input_for_grad_weight", "e4m3"), ("weight", "weight_for_grad_input", "e4m3"), ("grad_output", "grad_output_for_grad_weight", "e5m2")):
                for cast in (get(first), get(second)):
                    cast.target_dtype = cast.target_dtype or dtype
                assert get(first).target_dtype == get(second).target_dtype

    def convert_to_float8_training(model, *, config, module_filter_fn):
        for name, made in model.named_modules():
            if module_filter_fn(made, name):
                assert layers[name] is None, f"{name} is converted twice"
                layers[name] = ["fp8" if a.scaling_type is ScalingType.DYNAMIC else "bf16" for a, _ in config.gemms]

    module("torchao")
    module("torchao.float8", Float8LinearConfig=Float8LinearConfig, convert_to_float8_training=convert_to_float8_training)
    module("torchao.float8.config", CastConfig=CastConfig, ScalingType=ScalingType)
    scope = run(path)
    refuses_others(scope)
    scope["apply"](Model(names))
    return {name: found or (["bf16"] * 3 if name in scope["LAYERS"] else None) for name, found in layers.items()}


def refuses_others(scope):
    try:
        scope["apply"](Model(["some.other.layer"]))
    except ValueError as error:
        assert "layers are missing" in str(error)
        return
    raise AssertionError("a model without these layers is accepted")


def read_modelopt(path, names):
    words = {((2, 1), 16, (4, 3)): "nvfp4", ((4, 3), 32, (8, 0)): "mxfp8", ((2, 1), 32, (8, 0)): "mxfp4", ((4, 3), None, None): "fp8"}
    quant_cfg = run(path)["QUANT_CFG"]["quant_cfg"]
    state = {f"{name}.{kind}_quantizer": None for name in names for kind in ("weight", "input", "output")}
    touched = set()
    for entry in quant_cfg:
        assert ("cfg" in entry) != ("enable" in entry)
        pattern = entry["quantizer_name"]
        for quantizer in fnmatch.filter(state, pattern) if re.search(r"[*?\[]", pattern) else {pattern} & set(state):
            if pattern != "*":
                assert quantizer not in touched, f"{quantizer} is set twice"
                touched.add(quantizer)
            state[quantizer] = entry.get("cfg")
    layers = {}
    for name in names:
        weight, x, y = (state[f"{name}.{kind}_quantizer"] for kind in ("weight", "input", "output"))
        assert weight == x and y is None
        blocks = (weight or {}).get("block_sizes", {})
        word = "bf16" if weight is None else words[(weight["num_bits"], blocks.get(-1), blocks.get("scale_bits"))]
        layers[name] = [word, "bf16", "bf16"] if f"{name}.weight_quantizer" in touched else None
    return layers


READERS = {"te-debug": read_te_debug, "te-factory": read_te_factory, "megatron": read_megatron, "torchao": read_torchao, "torchao-float8": read_torchao_float8, "modelopt": read_modelopt}


def read(case):
    with open(case["names"]) as file:
        names = file.read().split()
    try:
        if case["file"].endswith(".py"):
            py_compile.compile(case["file"], doraise=True)
        return {"layers": READERS[case["target"]](case["file"], names)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


json.dump([read(case) for case in json.load(sys.stdin)], sys.stdout)
