/** config.json and the weights file of the built-in models agree; every contradiction is named with tensor and shapes. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { gpt2Config } from './hf-config';
import { openSafetensors, tensorBytes, type Safetensors } from './safetensors';
import { writeSafetensors, type TensorToWrite } from './safetensors-writer';
import { matchWeights, readWeights, type ExpectedTensor } from './weights';

const read = (path: string): Uint8Array => readFileSync(new URL(`../../public/models/${path}`, import.meta.url));
const text = (path: string): string => new TextDecoder().decode(read(path));
const CONFIG = JSON.parse(text('gpt2-nano/config.json')) as Record<string, unknown>;
const NANO = openSafetensors(read('gpt2-nano/model.safetensors'));
const named = (name: string, message: RegExp): Error => expect.objectContaining({ name, message: expect.stringMatching(message) as string }) as Error;

/** GPT-2's parameters, written out once more here: [in, out] matrices, as the checkpoint stores them. */
function expectedOf(layers: number, width: number, vocabulary: number, positions: number): ExpectedTensor[] {
  const pair = (name: string, ...shape: number[]): ExpectedTensor[] => [{ name: `${name}.weight`, shape }, { name: `${name}.bias`, shape: shape.slice(-1) }];
  return [
    { name: 'wte.weight', shape: [vocabulary, width] }, { name: 'wpe.weight', shape: [positions, width] },
    ...Array.from({ length: layers }, (_, i) => [
      ...pair(`h.${i}.ln_1`, width), ...pair(`h.${i}.attn.c_attn`, width, 3 * width), ...pair(`h.${i}.attn.c_proj`, width, width),
      ...pair(`h.${i}.ln_2`, width), ...pair(`h.${i}.mlp.c_fc`, width, 4 * width), ...pair(`h.${i}.mlp.c_proj`, 4 * width, width),
    ]).flat(),
    ...pair('ln_f', width),
  ];
}
const EXPECTED = expectedOf(2, 64, 1024, 64);

/** The nano weights with a change, written and opened again. */
function changed(change: (tensors: TensorToWrite[]) => TensorToWrite[]): Safetensors {
  const tensors = [...NANO.tensors.values()].map(({ name, dtype, shape }) => ({ name, dtype, shape, data: tensorBytes(NANO, name) }));
  return openSafetensors(writeSafetensors(change(tensors)));
}
const zeros = (name: string, shape: number[]): TensorToWrite => ({ name, dtype: 'BF16', shape, data: new Uint16Array(shape.reduce((a, b) => a * b, 1)) });

test.each([['gpt2-nano', 2, 64, 64], ['gpt2-mini', 6, 128, 128]])('%s: config.json gives its sizes', (model, layers, width, positions) => {
  expect(gpt2Config(text(`${model}/config.json`), model)).toEqual({ model, layers, width, heads: 4, positions, vocabulary: 1024, eps: 1e-5, activation: 'gelu_new', tied: true });
});

test.each([
  ['another architecture', { model_type: 'llama' }, 'E-FILE-08', /expected model_type gpt2, got "llama"/],
  ['erf GELU', { activation_function: 'gelu' }, 'E-FILE-08', /activation_function: expected gelu_new, got "gelu"/],
  ['an untied head', { tie_word_embeddings: false }, 'E-FILE-08', /tie_word_embeddings: expected true, got false/],
  ['inverse layer scaling', { scale_attn_by_inverse_layer_idx: true }, 'E-FILE-08', /scale_attn_by_inverse_layer_idx/],
  ['another inner width', { n_inner: 100 }, 'E-FILE-08', /n_inner: expected 256/],
  ['heads that do not divide', { n_head: 5 }, 'E-FILE-07', /multiple of n_head 5, got 64/],
  ['no layers', { n_layer: 0 }, 'E-FILE-07', /n_layer: expected a whole number from 1, got 0/],
  ['a missing width', { n_embd: undefined }, 'E-FILE-07', /n_embd: expected a whole number from 1, got null/],
  ['a wild epsilon', { layer_norm_epsilon: -1 }, 'E-FILE-07', /layer_norm_epsilon/],
])('%s is refused by name', (_, change, code, message) => {
  expect(() => gpt2Config(JSON.stringify({ ...CONFIG, ...change }), 'm')).toThrow(named(code, message));
});

test('config.json that is no object is refused by name', () => {
  for (const json of ['', '{', '[]', '3', 'null']) expect(() => gpt2Config(json, 'm')).toThrow(named('E-FILE-07', /config\.json is damaged/));
});

test('the built-in weights match their configs, all tensors used', () => {
  expect(matchWeights(EXPECTED, NANO)).toMatchObject({ ignored: [] });
  expect(matchWeights(expectedOf(6, 128, 1024, 128), openSafetensors(read('gpt2-mini/model.safetensors'))).ignored).toEqual([]);
});

test('prefix, attention masks and a stored copy of the tied head change nothing', () => {
  const old = changed((tensors) => [
    ...tensors.map((tensor) => ({ ...tensor, name: `transformer.${tensor.name}` })),
    ...tensors.filter(({ name }) => name === 'wte.weight').map((tensor) => ({ ...tensor, name: 'lm_head.weight' })),
    zeros('transformer.h.0.attn.bias', [1, 1, 64, 64]), zeros('transformer.h.0.attn.masked_bias', []),
  ]);
  expect(readWeights(EXPECTED, old)).toEqual(readWeights(EXPECTED, NANO));
  expect(matchWeights(EXPECTED, old).ignored.length).toBe(3);
});

test('contradictions are named with the tensor and both shapes: E-FILE-03', () => {
  const wider = expectedOf(2, 128, 1024, 64);
  expect(() => matchWeights(wider, NANO)).toThrow(named('E-FILE-03', /^wte\.weight has shape \[1024, 64\]; config\.json implies \[1024, 128\]\./));
  expect(() => matchWeights(expectedOf(3, 64, 1024, 64), NANO)).toThrow(named('E-FILE-03', /expected 40 tensors .* got 28\. Missing: h\.2\.ln_1\.weight \[64\].* and 6 more/));
  expect(() => matchWeights(expectedOf(1, 64, 1024, 64), NANO)).toThrow(named('E-FILE-03', /^h\.1\..* its last layer is h\.0/));
  const untied = changed((tensors) => [...tensors, zeros('lm_head.weight', [1024, 64])]);
  expect(() => matchWeights(EXPECTED, untied)).toThrow(named('E-FILE-03', /values of its own; config\.json implies a head tied to wte\.weight/));
  const turned = changed((tensors) => tensors.map((t) => (t.name === 'h.0.mlp.c_fc.weight' ? { ...t, shape: [256, 64] } : t)));
  expect(() => matchWeights(EXPECTED, turned)).toThrow(expect.objectContaining({ name: 'E-FILE-03', hint: expect.stringContaining('(out, in)') as string }) as Error);
  const lost = changed((tensors) => tensors.filter(({ name }) => name !== 'ln_f.bias'));
  expect(() => matchWeights(EXPECTED, lost)).toThrow(named('E-FILE-03', /Missing: ln_f\.bias \[64\]\./));
});
