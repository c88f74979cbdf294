/**
 * Holds a weights file against what config.json implies: every parameter present with its shape, under the checkpoint's
 * names or with a `transformer.` prefix. Old files carry attention masks and a copy of the tied head: tolerated, checked.
 */
import { BendscopeError } from '../base/errors';
import { tensorBytes, tensorFloats, type Safetensors } from './safetensors';

/** The part of the graph's ParamSpec that is needed here. */
export interface ExpectedTensor {
  readonly name: string;
  readonly shape: readonly number[];
}

export interface MatchedWeights {
  /** Parameter name -> tensor name in the file. */
  readonly names: ReadonlyMap<string, string>;
  /** Tensors of the file that no parameter uses. */
  readonly ignored: readonly string[];
}

const PREFIX = 'transformer.';
const TABLE = 'wte.weight';
const HEAD = 'lm_head.weight';
const RIGHT_CONFIG = 'Is this the right config?';
const list = (shape: readonly number[]): string => `[${shape.join(', ')}]`;
const equal = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && a.every((n, i) => n === b[i]);

/** Throws E-FILE-03: a tensor is missing, has another shape, belongs to a layer the config does not have, or the head is not tied. */
export function matchWeights(expected: readonly ExpectedTensor[], source: Safetensors): MatchedWeights {
  const names = new Map<string, string>();
  const missing: string[] = [];
  for (const { name, shape } of expected) {
    const found = [name, PREFIX + name].find((candidate) => source.tensors.has(candidate));
    const info = found === undefined ? undefined : source.tensors.get(found);
    if (found === undefined || info === undefined) {
      missing.push(`${name} ${list(shape)}`);
    } else if (!equal(info.shape, shape)) {
      const turned = shape.length > 1 && equal(info.shape, shape.toReversed());
      throw new BendscopeError('E-FILE-03', `${found} has shape ${list(info.shape)}; config.json implies ${list(shape)}.`, turned ? 'The file stores this matrix as (out, in); GPT-2 checkpoints store (in, out). Save it with the transformers library.' : RIGHT_CONFIG);
    } else {
      names.set(name, found);
    }
  }
  if (missing.length > 0) {
    const shown = missing.slice(0, 6).join(', ') + (missing.length > 6 ? ` and ${missing.length - 6} more` : '');
    throw new BendscopeError('E-FILE-03', `${source.file}: expected ${expected.length} tensors that config.json implies, got ${names.size}. Missing: ${shown}.`, RIGHT_CONFIG);
  }
  const used = new Set(names.values());
  const ignored = [...source.tensors.keys()].filter((name) => !used.has(name));
  refuseOtherLayers(expected, ignored, source);
  refuseOwnHead(names, source);
  return { names, ignored };
}

/** The parameters as FP32 under their own names. Throws what matchWeights throws, and E-FILE-08 for integer weights. */
export function readWeights(expected: readonly ExpectedTensor[], source: Safetensors): Map<string, Float32Array<ArrayBuffer>> {
  const { names } = matchWeights(expected, source);
  return new Map(expected.map(({ name }) => [name, tensorFloats(source, names.get(name) ?? name)]));
}

/** A tensor of layer 7 in a model of 6 layers says that config and weights do not belong together. */
function refuseOtherLayers(expected: readonly ExpectedTensor[], ignored: readonly string[], source: Safetensors): void {
  const layerOf = (name: string): number => Number(/^(?:transformer\.)?h\.(\d+)\./.exec(name)?.[1] ?? -1);
  const last = Math.max(...expected.map(({ name }) => layerOf(name)));
  const beyond = ignored.find((name) => layerOf(name) > last);
  if (beyond === undefined) return;
  const shape = list(source.tensors.get(beyond)?.shape ?? []);
  throw new BendscopeError('E-FILE-03', `${beyond} has shape ${shape}; config.json implies no such tensor: its last layer is h.${last}.`, RIGHT_CONFIG);
}

/** A tied model may store its head; then it must be the token table, or the gradient would be another model's. */
function refuseOwnHead(names: ReadonlyMap<string, string>, source: Safetensors): void {
  const table = names.get(TABLE);
  if (table === undefined || !source.tensors.has(HEAD)) return;
  const [a, b] = [tensorBytes(source, table), tensorBytes(source, HEAD)];
  if (a.length === b.length && a.every((byte, i) => byte === b[i])) return;
  const shape = list(source.tensors.get(HEAD)?.shape ?? []);
  throw new BendscopeError('E-FILE-03', `${HEAD} has shape ${shape} and values of its own; config.json implies a head tied to ${TABLE}.`, RIGHT_CONFIG);
}
