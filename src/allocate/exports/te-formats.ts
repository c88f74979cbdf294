/**
 * TransformerEngine's formats, for its own exports and Megatron's: the recipe object, the quantizer of one tensor, the
 * environment that Megatron leaves as the only way to set switches, Megatron's keys and flags. A row is needed only for a
 * format TransformerEngine has. Sources: formats.md 6.2 and 6.3; TransformerEngine `common/recipe/__init__.py`,
 * `pytorch/custom_recipes/quantizer_factories.py`. Multiples: `is_quantizable` of each quantizer, `assert_dim_for_fp8_exec`,
 * `docs/features/low_precision_training`; the Hadamard transform takes 16 (`hadamard_transform.cu`), the NVFP4 GEMM 32 along
 * the sum (NVIDIA/TransformerEngine#2956: multiples of 16 alone fail).
 */
import { assert } from '../../base/errors';
import type { PassScheme, PolicyOptions } from '../../graph/policy';
import type { LibraryFormat } from './layer-target';
import { pythonBool } from './patterns';

export interface TeFormat extends LibraryFormat {
  /** Constructor call, of transformer_engine.common.recipe. */
  recipe(options: PolicyOptions): string;
  /** Class of transformer_engine.pytorch, and a call in which `weight`, `grad` (which tensor) and `column` (its column copy is read) are defined. */
  readonly quantizer: string;
  quantize(options: PolicyOptions): string;
  /** Environment variables that set the recipe's switches. */
  environment(options: PolicyOptions): readonly string[];
  /** Keys of a training_recipe of Megatron's precision file. */
  megatron(options: PolicyOptions): Readonly<Record<string, string>>;
  /** Megatron's flags that train everything in it. */
  flags(options: PolicyOptions): string;
}

const FLOOR = 'MX scales are rounded up, and the plan was measured with them rounded down (floor)';

export const TE_FORMATS: Readonly<Partial<Record<PassScheme, TeFormat>>> = {
  nvfp4: {
    multiple: 16, inner: 32,
    recipe: ({ rht, sr, weights1d }) => `NVFP4BlockScaling(disable_rht=${pythonBool(!rht)}, disable_stochastic_rounding=${pythonBool(!sr)}, disable_2d_quantization=${pythonBool(weights1d)})`,
    quantizer: 'NVFP4Quantizer',
    quantize: ({ rht, sr, weights1d }) => {
      const mixed = rht === true ? 'column and not weight' : 'False';
      return `NVFP4Quantizer(with_rht=${mixed}, with_post_rht_amax=${mixed}, with_2d_quantization=${weights1d === true ? 'False' : 'weight'}, stochastic_rounding=${sr === true ? 'grad' : 'False'})`;
    },
    environment: ({ rht, sr, weights1d }) => [
      ...(rht === true ? [] : ['NVTE_NVFP4_DISABLE_RHT=1']),
      ...(sr === true ? [] : ['NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING=1']),
      ...(weights1d === true ? ['NVTE_NVFP4_DISABLE_2D_QUANTIZATION=1'] : []),
    ],
    megatron: () => ({ fp4_quantization_recipe: 'nvfp4' }),
    flags: () => '--fp4-format e2m1 --fp4-recipe nvfp4',
  },
  mxfp8: {
    multiple: 32,
    differs: ({ floor }) => (floor === true ? FLOOR : null),
    recipe: ({ e5m2Grad }) => `MXFP8BlockScaling(fp8_format=${e5m2Grad === true ? 'Format.HYBRID' : 'Format.E4M3'})`,
    quantizer: 'MXFP8Quantizer',
    quantize: ({ e5m2Grad }) => `MXFP8Quantizer(fp8_dtype=${e5m2Grad === true ? 'DType.kFloat8E5M2 if grad else DType.kFloat8E4M3' : 'DType.kFloat8E4M3'})`,
    environment: () => [],
    megatron: ({ e5m2Grad }) => ({ fp8_quantization_recipe: 'mxfp8', fp8_format: e5m2Grad === true ? 'hybrid' : 'e4m3' }),
    flags: ({ e5m2Grad }) => `--fp8-format ${e5m2Grad === true ? 'hybrid' : 'e4m3'} --fp8-recipe mxfp8`,
  },
  'fp8-block': {
    multiple: 128,
    recipe: () => 'Float8BlockScaling(fp8_format=Format.E4M3)',
    quantizer: 'Float8BlockQuantizer',
    quantize: () => 'Float8BlockQuantizer(fp8_dtype=DType.kFloat8E4M3, rowwise=True, columnwise=True, force_pow_2_scales=True, block_scaling_dim=2 if weight else 1)',
    environment: () => [],
    megatron: () => ({ fp8_quantization_recipe: 'blockwise', fp8_format: 'e4m3' }),
    flags: () => '--fp8-format e4m3 --fp8-recipe blockwise',
  },
  fp8: {
    multiple: 16,
    recipe: ({ pow2 }) => `Float8CurrentScaling(fp8_format=Format.HYBRID, use_power_2_scales=${pythonBool(pow2)})`,
    quantizer: 'Float8CurrentScalingQuantizer',
    quantize: ({ pow2 }) => `Float8CurrentScalingQuantizer(fp8_dtype=DType.kFloat8E5M2 if grad else DType.kFloat8E4M3, device=torch.device("cuda"), force_pow_2_scales=${pythonBool(pow2)})`,
    environment: ({ pow2 }) => (pow2 === true ? ['NVTE_FP8_CURRENT_SCALING_POWER_2_SCALES=1'] : []),
    megatron: () => ({ fp8_quantization_recipe: 'tensorwise', fp8_format: 'hybrid' }),
    flags: () => '--fp8-format hybrid --fp8-recipe tensorwise',
  },
};

/** What the tokens of a step must be a multiple of: weight gradients sum over them. */
export function tokensMultiple({ multiple, inner = multiple }: TeFormat): number {
  return Math.max(multiple, inner);
}

/** The row of a format that TE_FORMATS is known to hold, because a plan was rounded to its formats. */
export function teFormat(scheme: PassScheme): TeFormat {
  const row = TE_FORMATS[scheme];
  assert(row, `TE_FORMATS has no row ${scheme}`);
  return row;
}
