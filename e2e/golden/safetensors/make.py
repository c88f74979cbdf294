"""Files of the Python safetensors library: mixed.safetensors has one tensor of every type, decoded.safetensors the
floating-point ones as F32 (NumPy, PyTorch casts). usage: python3 make.py   (needs torch, safetensors; same bytes every time)
"""
import pathlib

import numpy as np
import torch
from safetensors.torch import save_file

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(11)
halves = np.concatenate([np.arange(0, 65536, 61), np.arange(0, 40), np.arange(0x8000, 0x8020), [0x7C00, 0xFC00, 0x7BFF, 0x3FF, 0x400]]).astype(np.uint16)
halves = halves[~np.isnan(halves.view(np.float16)) & ((halves & 0x7FFF) <= 0x7F80)]
wide = np.concatenate([rng.standard_normal(60), [0.0, -0.0, 1 + 2**-24, 1 + 3 * 2**-24, 1e300, -1e-300, 2**-149 * 0.75]])
tensors = {
    "half": torch.from_numpy(halves.view(np.int16)).view(torch.float16),
    "brain": torch.from_numpy(halves.view(np.int16).copy()).view(torch.bfloat16),
    "single": torch.from_numpy(rng.standard_normal((3, 5)).astype(np.float32)),
    "double": torch.from_numpy(wide),
    "empty": torch.zeros(0, 7),
    "scalar": torch.tensor(2.5),
    "long": torch.arange(4), "int": torch.arange(5, dtype=torch.int32), "short": torch.arange(3, dtype=torch.int16),
    "byte": torch.arange(7, dtype=torch.uint8), "signed": torch.arange(3, dtype=torch.int8), "flag": torch.tensor([True, False, True]),
    "u16": torch.arange(3).to(torch.uint16), "u32": torch.arange(3).to(torch.uint32), "u64": torch.arange(3).to(torch.uint64),
    "e4m3": torch.arange(5).to(torch.float8_e4m3fn), "e5m2": torch.arange(5).to(torch.float8_e5m2),
    "na\"me \u00e9\n": torch.ones(1),
}
save_file(tensors, here / "mixed.safetensors", {"note": "quote \" slash / unicode \u00e9 tab \t"})
save_file({k: tensors[k].float() for k in ("half", "brain", "single", "double", "empty", "scalar")}, here / "decoded.safetensors")
