/** Every op's device implementation; a missing row fails to compile. */
import type { OpName } from '../../graph/types';
import { add } from './add';
import { attention } from './attention';
import { crossEntropy } from './cross-entropy';
import { embed } from './embed';
import { gelu } from './gelu';
import { layernorm } from './layernorm';
import { linear } from './linear';
import type { OpImplementation } from './op';

export const OPS: Readonly<Record<OpName, OpImplementation>> = {
  embed, layernorm, linear, attention, gelu, add, cross_entropy: crossEntropy,
};
