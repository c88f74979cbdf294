/**
 * Inputs that are wrong: each refused by its stable name with exit code 1, before a device is opened and without a trace
 * of an output (ux.md 6.8).
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { writeSafetensors } from '../data/safetensors-writer';
import { PASS_SCHEMES } from '../graph/policy';
import { call, NANO, NoDevices, Scratch } from './cli-fixture';
import { RECIPE_WORDS } from './policy-file';

const devices = new NoDevices();
const scratch = new Scratch();
afterAll(() => scratch.dispose());

const config = readFileSync(`${NANO}/config.json`, 'utf8');
const weights = new Uint8Array(readFileSync(`${NANO}/model.safetensors`));
let count = 0;
/** A model folder of these files. */
function folder(files: Record<string, unknown>): string {
  const name = `model-${count++}`;
  mkdirSync(scratch.path(name));
  for (const [file, content] of Object.entries(files)) scratch.write(`${name}/${file}`, content);
  return scratch.path(name);
}
const withConfig = (change: Record<string, unknown>): string => folder({ 'config.json': { ...JSON.parse(config), ...change }, 'model.safetensors': weights });
const withWeights = (bytes: Uint8Array | string): string => folder({ 'config.json': config, 'model.safetensors': bytes });

const ROW = [1, 2, 3, 4, 5];
const tokens = (content: unknown): string => scratch.write(`tokens-${count++}.json`, content);
const policy = (content: unknown): string => scratch.write(`policy-${count++}.json`, content);
const T = tokens({ tokens: [ROW] });
const P = policy({ reference: 'bf16', passes: {} });
const OUT = scratch.path('out');
const SITE = 'h.0.mlp.c_fc:fprop';

interface Given {
  readonly model?: string;
  readonly tokens?: string;
  readonly policy?: string;
  readonly out?: string;
}
const gradient = (given: Given): string[] => ['gradient', '--model', given.model ?? NANO, '--tokens', given.tokens ?? T, '--policy', given.policy ?? P, '--out', given.out ?? OUT];
const probe = (given: Given, ...more: string[]): string[] => ['probe', '--model', given.model ?? NANO, '--tokens', given.tokens ?? T, '--out', given.out ?? OUT, '--recipe', 'nvfp4', ...more];
const quantize = (input: string, scheme = 'nvfp4', out = OUT): string[] => ['quantize', '--scheme', scheme, '--in', input, '--out', out];
const seeded = Uint8Array.from({ length: 4096 }, (_, i) => (Math.imul(i + 7, 2654435761) >>> 13) & 255);
const integers = scratch.write('integers.safetensors', writeSafetensors([{ name: 'ids', dtype: 'I32', shape: [4], data: new Int32Array(4) }]));

const FAULTS: [what: string, argv: string[], code: string, message: RegExp][] = [
  ['no model folder', gradient({ model: scratch.path('none') }), 'E-FILE-09', /none: expected a folder .*, got no such folder/],
  ['a file for a folder', gradient({ model: T }), 'E-FILE-09', /got a file/],
  ['no config', gradient({ model: folder({ 'model.safetensors': weights }) }), 'E-FILE-09', /config\.json: expected a file, got no such file/],
  ['no weights', gradient({ model: folder({ 'config.json': config }) }), 'E-FILE-09', /model\.safetensors: expected a file/],
  ['shards', gradient({ model: folder({ 'config.json': config, 'model.safetensors.index.json': {} }) }), 'E-FILE-02', /index of shards/],
  ['only a pickle', gradient({ model: folder({ 'config.json': config, 'pytorch_model.bin': 'x' }) }), 'E-FILE-01', /pytorch_model\.bin is a PyTorch pickle/],
  ['truncated weights', gradient({ model: withWeights(weights.subarray(0, weights.length - 100)) }), 'E-FILE-07', /is damaged: .*cut off/],
  ['weights cut in the header', gradient({ model: withWeights(weights.subarray(0, 900)) }), 'E-FILE-07', /cut off/],
  ['garbage weights', gradient({ model: withWeights(seeded) }), 'E-FILE-07', /is damaged/],
  ['empty weights', gradient({ model: withWeights('') }), 'E-FILE-07', /got 0 bytes/],
  ['a Git LFS pointer', gradient({ model: withWeights('version https://git-lfs.github.com/spec/v1\n') }), 'E-FILE-04', /Git LFS/],
  ['a config of another width', probe({ model: withConfig({ n_embd: 128 }) }), 'E-FILE-03', /has shape \[1024, 64\]; config\.json implies \[1024, 128\]/],
  ['a config of fewer layers', gradient({ model: withConfig({ n_layer: 1 }) }), 'E-FILE-03', /last layer is h\.0/],
  ['a config of more layers', gradient({ model: withConfig({ n_layer: 3 }) }), 'E-FILE-03', /Missing: h\.2\./],
  ['a config of another activation', gradient({ model: withConfig({ activation_function: 'relu' }) }), 'E-FILE-08', /expected gelu_new, got "relu"/],
  ['a config that is no JSON', gradient({ model: folder({ 'config.json': '{', 'model.safetensors': weights }) }), 'E-FILE-07', /config\.json is damaged/],
  ['no token file', gradient({ tokens: scratch.path('none.json') }), 'E-FILE-09', /none\.json: expected a file/],
  ['a token outside the vocabulary', gradient({ tokens: tokens({ tokens: [[1, 1024]] }) }), 'E-DATA-02', /Token 1024 is outside the vocabulary of 1024/],
  ['the same in a later batch', probe({ tokens: tokens({ batches: [[ROW], [[1, 2, 3, 4, -1]]] }) }), 'E-DATA-02', /Token -1/],
  ['half a token', gradient({ tokens: tokens({ tokens: [[1, 2.5]] }) }), 'E-DATA-02', /Token 2\.5/],
  ['no rows', gradient({ tokens: tokens({ tokens: [] }) }), 'E-DATA-03', /expected rows of ids, got none/],
  ['no batches', probe({ tokens: tokens({ batches: [] }) }), 'E-DATA-03', /at least one batch, got none/],
  ['a row without a target', gradient({ tokens: tokens({ tokens: [[1]] }) }), 'E-DATA-03', /at least 2 ids/],
  ['rows of two lengths', gradient({ tokens: tokens({ tokens: [ROW, [1, 2]] }) }), 'E-DATA-03', /row 1: expected 5 ids/],
  ['batches of two shapes', probe({ tokens: tokens({ batches: [[ROW], [ROW, ROW]] }) }), 'E-DATA-03', /batch 1: expected 1 rows of 5 ids as in batch 0, got 2 of 5/],
  ['several batches for one gradient', gradient({ tokens: tokens({ batches: [[ROW], [ROW]] }) }), 'E-DATA-03', /expected one batch, got 2/],
  ['a text for tokens', gradient({ tokens: tokens('call me') }), 'E-DATA-03', /expected JSON/],
  ['too many positions', gradient({ tokens: tokens({ tokens: [new Array(66).fill(1)] }) }), 'E-DATA-04', /at most 64 positions .*, got 65/],
  ['an unknown site', gradient({ policy: policy({ reference: 'bf16', passes: { 'h.9.mlp.c_fc:fprop': 'nvfp4' } }) }), 'E-PLAN-02', /"h\.9\.mlp\.c_fc:fprop"/],
  ['an unknown scheme', gradient({ policy: policy({ reference: 'bf16', passes: { [SITE]: 'fp3' } }) }), 'E-PLAN-03', /got "fp3"/],
  ['passes under fp32', gradient({ policy: policy({ reference: 'fp32', passes: { [SITE]: 'nvfp4' } }) }), 'E-PLAN-04', /nothing low under reference "fp32", got 1/],
  ['no reference', gradient({ policy: policy({ passes: {} }) }), 'E-PLAN-04', /got nothing/],
  ['a pass of the head', gradient({ policy: policy({ reference: 'bf16', passes: { 'lm_head:fprop': 'nvfp4' } }) }), 'E-PLAN-05', /lm_head:fprop/],
  ['an unknown switch', gradient({ policy: policy({ reference: 'bf16', options: { hadamard: true } }) }), 'E-PLAN-06', /switches this build can measure, got hadamard = true/],
  ['a switch that is no flag', gradient({ policy: policy({ reference: 'bf16', options: { rht: 1 } }) }), 'E-PLAN-06', /expected rht to be true\|false, got 1/],
  ['a seed that is no integer', gradient({ policy: policy({ reference: 'bf16', options: { sr: true, seed: -1 } }) }), 'E-PLAN-06', /expected seed to be 0 to 4294967295, got -1/],
  ['a scaling that is none', gradient({ policy: policy({ reference: 'bf16', outs: ['wte'], options: { out: 'row' } }) }), 'E-PLAN-06', /expected out to be "tensor"\|"block"\|"mx", got "row"/],
  ['an unknown op group', gradient({ policy: policy({ reference: 'bf16', outs: ['h.9.ln_1'] }) }), 'E-PLAN-02', /policy outs: expected an op group of gpt2-nano, got "h\.9\.ln_1"/],
  ['a site for an op group', gradient({ policy: policy({ reference: 'bf16', outs: ['wte:out'] }) }), 'E-PLAN-02', /got "wte:out"/],
  ['the loss for an op group', gradient({ policy: policy({ reference: 'bf16', outs: ['loss'] }) }), 'E-PLAN-02', /got "loss"/],
  ['an op group among passes', gradient({ policy: policy({ reference: 'bf16', passes: { 'wte:out': 'fp8' } }) }), 'E-PLAN-02', /expected a GEMM pass in passes, got wte:out/],
  ['the recipe of op groups for a pass', gradient({ policy: policy({ reference: 'bf16', passes: { [SITE]: 'fp8-out' } }) }), 'E-PLAN-03', /got "fp8-out"/],
  ['outs that are no list', gradient({ policy: policy({ reference: 'bf16', outs: { wte: 'fp8' } }) }), 'E-PLAN-07', /expected outs to be a list of node ids/],
  ['op groups under fp32', gradient({ policy: policy({ reference: 'fp32', outs: ['wte'] }) }), 'E-PLAN-04', /nothing low under reference "fp32", got 1/],
  ['an unknown key', gradient({ policy: policy({ reference: 'bf16', pases: {} }) }), 'E-PLAN-07', /got "pases"/],
  ['a policy that is no JSON', gradient({ policy: policy('{') }), 'E-PLAN-07', /expected JSON/],
  ['sites that match nothing', probe({}, '--sites', 'h.7.*'), 'E-PLAN-02', /a pattern that matches a site of gpt2-nano under nvfp4, got "h\.7\.\*"/],
  ['one site that does not exist', probe({}, '--sites', `${SITE},h.0.mlp.c_fc:bprop`), 'E-PLAN-02', /"h\.0\.mlp\.c_fc:bprop"/],
  ['an unknown recipe', ['probe', '--model', NANO, '--tokens', T, '--out', OUT, '--recipe', 'no-recipe'], 'E-PLAN-03', new RegExp(`--recipe: expected ${RECIPE_WORDS.join(', ')}, got "no-recipe"`)],
  ['op groups for passes', probe({}, '--sites', 'h.0.ln_1:out'), 'E-PLAN-05', /--sites: expected sites that nvfp4 can lower, got h\.0\.ln_1:out/],
  ['options that are no JSON', probe({}, '--options', 'rht'), 'E-PLAN-06', /--options: expected JSON/],
  ['options that are no object', probe({}, '--options', '[]'), 'E-PLAN-06', /--options: expected an object, got \[\]/],
  ['an unknown option', probe({}, '--options', '{"RHT":true}'), 'E-PLAN-06', /--options: expected switches this build can measure, got RHT = true/],
  ['an option of another recipe', probe({}, '--options', '{"floor":true}'), 'E-PLAN-06', /expected switches of nvfp4 \(weights1d, rht, sr, seed\), got floor = true/],
  ['joint op groups in two forms', probe({}, '--joint', policy({ reference: 'bf16', outs: ['wte'] }), '--joint', policy({ reference: 'bf16', outs: ['wte'], options: { out: 'mx' } })), 'E-PLAN-06', /expected op groups with options \{\}, .* got \{"out":"mx"\}/],
  ['a joint policy under fp32', probe({}, '--joint', policy({ reference: 'fp32' })), 'E-PLAN-04', /expected reference "bf16", got "fp32"/],
  ['a joint policy with an unknown site, the second one', probe({}, '--joint', P, '--joint', policy({ reference: 'bf16', passes: { x: 'nvfp4' } })), 'E-PLAN-02', /policy-\d+\.json: policy: .*got "x"/],
  ['an output folder that is not there', probe({ out: scratch.path('nowhere/r.json') }), 'E-STO-03', /expected a file that can be written, got no folder/],
  ['a folder for an output', gradient({ out: scratch.folder }), 'E-STO-03', /got a folder/],
  ['an output over an input', gradient({ out: `${scratch.folder}/../${scratch.folder.split('/').at(-1)}/${T.split('/').at(-1)}` }), 'E-STO-04', /expected a file of its own, got the input/],
  ['an output over the weights', gradient({ out: `${NANO}/model.safetensors` }), 'E-STO-04', /model\.safetensors/],
  ['an unknown scheme', quantize(`${NANO}/model.safetensors`, 'fp8-out'), 'E-PLAN-03', new RegExp(`--scheme: expected ${PASS_SCHEMES.join(', ')}, got "fp8-out"`)],
  ['a switch of no form', [...quantize(`${NANO}/model.safetensors`), '--options', '{"rht": true}'], 'E-PLAN-06', /expected switches of the stored form, got rht or sr/],
  ['a switch of another scheme', [...quantize(`${NANO}/model.safetensors`), '--options', '{"pow2": true}'], 'E-PLAN-06', /expected switches of nvfp4 .*, got pow2 = true/],
  ['no input', quantize(scratch.path('none.safetensors')), 'E-FILE-09', /no such file/],
  ['a folder for an input', quantize(scratch.folder), 'E-FILE-09', /got a folder/],
  ['garbage for tensors', quantize(scratch.write('garbage.safetensors', seeded)), 'E-FILE-07', /is damaged/],
  ['a web page for tensors', quantize(scratch.write('page.safetensors', '<!doctype html>')), 'E-FILE-08', /is a web page/],
  ['no F32 tensor', quantize(integers), 'E-FILE-08', /expected at least one F32 tensor, got 1 of other types/],
  ['an output over the tensors', quantize(integers, 'nvfp4', integers), 'E-STO-04', /integers\.safetensors/],
];

it.each(FAULTS)('%s', async (_what, argv, code, message) => {
  const before = scratch.names();
  const called = await call(argv, devices);
  expect([called.code, called.stdout], called.stderr).toEqual([1, '']);
  const [first = '', hint = '', ...rest] = called.stderr.split('\n');
  expect(first.split(':')[0], called.stderr).toBe(code);
  expect(first).toMatch(message);
  // What to do, then nothing: no stack.
  expect(hint).not.toBe('');
  expect(rest).toEqual(['']);
  expect(scratch.names()).toEqual(before);
});

it('a fault of our own shows its stack and asks for a report', async () => {
  const { code, stderr } = await call(gradient({}), devices);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^E-BUG-00: Error: a device was opened\n\s+at .*\nThis is a fault of Bendscope; please report it\.\n$/s);
});
