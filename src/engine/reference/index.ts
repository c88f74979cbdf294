/** REFERENCE_OPS: the float64 reference of every op; a missing row fails to compile. */
import type { OpName } from '../../graph/types';
import { add } from './add';
import { attention } from './attention';
import { crossEntropy } from './cross-entropy';
import { embed } from './embed';
import { gelu } from './gelu';
import { layernorm } from './layernorm';
import { linear } from './linear';
import type { ReferenceOp } from './op';

export type { NodeAttributes, ReferenceCall, ReferenceGradients, ReferenceOp, Rounding } from './op';

export const REFERENCE_OPS: Readonly<Record<OpName, ReferenceOp>> = {
  embed, layernorm, linear, attention, gelu, add, cross_entropy: crossEntropy,
};
