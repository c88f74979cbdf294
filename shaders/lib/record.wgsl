// The tensor record, 8 u32 words that every kernel of a quantizer shares: filled by `amax`, completed by `tensor_scale`.
const TENSOR_AMAX: u32 = 0u;                   // FP32 bits of max |x|
const TENSOR_NON_FINITE: u32 = 1u;             // how many elements are Inf or NaN
const TENSOR_ENCODE: u32 = 2u;                 // FP32 scale before the cast: of the tensor, or NVFP4's S_enc; else 1
const TENSOR_DECODE: u32 = 3u;                 // fl(1 / encode): scale_inv, or S_dec; else 1
const TENSOR_ENCODE_SIXTH: u32 = 4u;           // fl(S_enc * fl(1/6)) of NVFP4
