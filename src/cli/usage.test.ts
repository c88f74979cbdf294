/** Help, version, wrong usage (exit code 2) and --sites patterns; nothing here needs a device. */
import { expect, it } from 'vitest';
import { version } from '../../package.json';
import { coarseOrder } from '../graph/coarse-order';
import { RECIPE_NAMES } from '../graph/policy';
import { OPTION_NAMES } from '../graph/recipes';
import { ALLOCATE } from './allocate';
import { chooseSites } from './choose-sites';
import { call } from './cli-fixture';
import { COMPARE } from './compare';
import { Devices } from './devices';
import { EXPORT } from './export';
import { builtIn } from './golden';
import { GRADIENT } from './gradient';
import { HOW_MUCH } from './how-much';
import { readRecipe, RECIPE_WORDS } from './policy-file';
import { PROBE } from './probe';
import { QUANTIZE } from './quantize';
import { VERIFY } from './verify';

const devices = new Devices();

it.each([['--help'], ['-h']])('%s names every command on stdout', async (flag) => {
  const { code, stdout, stderr } = await call([flag], devices);
  expect([code, stderr]).toEqual([0, '']);
  for (const name of ['gradient', 'probe', 'allocate', 'how-much', 'verify', 'compare', 'export', 'quantize']) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  expect(stdout).toMatch(/0 done, 1 a named error, 2 wrong usage/);
});

it.each([GRADIENT, PROBE, ALLOCATE, HOW_MUCH, VERIFY, COMPARE, EXPORT, QUANTIZE])('$name --help names each of its flags', async (spec) => {
  const { code, stdout, stderr } = await call([spec.name, '--help'], devices);
  expect([code, stderr]).toEqual([0, '']);
  for (const { name } of spec.flags) expect(stdout).toContain(`\n  --${name}`);
  expect(Math.max(...stdout.split('\n').slice(4).map((line) => line.length))).toBeLessThanOrEqual(150);
});

it('--version is one line on stdout', async () => {
  expect(await call(['--version'], devices)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

const PLAN = ['allocate', '--model', 'm', '--probe', 'r', '--out', 'p'];
const HOME = ['export', '--model', 'm', '--plan', 'p', '--out', 'f', '--to'];
const QUANTIZE_ALL = ['quantize', '--scheme', 'nvfp4', '--in', 'a', '--out', 'b'];
it.each<[string, string[], RegExp]>([
  ['no command', [], /expected a command \(gradient, probe, allocate, how-much, verify, compare, export, quantize\), got none/],
  ['an unknown command', ['train'], /got "train"/],
  ['an unknown flag', [...QUANTIZE_ALL, '--fast'], /quantize: expected a flag of this command, got "--fast"/],
  ['a flag of another command', [...QUANTIZE_ALL, '--model', 'x'], /got "--model"/],
  ['a stray word', [...QUANTIZE_ALL, 'x'], /got "x"/],
  ['a single dash', [...QUANTIZE_ALL, '-tiles'], /got "-tiles"/],
  ['a missing flag', ['quantize', '--scheme', 'nvfp4', '--in', 'a'], /quantize: expected --out, got none/],
  ['a repeated flag', [...QUANTIZE_ALL, '--out', 'c'], /--out: expected once, got it twice/],
  ['no value at the end', ['quantize', '--in'], /--in: expected a value \(A.safetensors\), got none/],
  ['a flag for a value', ['quantize', '--in', '--out', 'b'], /--in: expected a value \(A.safetensors\), got "--out"/],
  ['an empty value', ['quantize', '--in='], /--in: expected a value/],
  ['a switch with a value', [...QUANTIZE_ALL, '--tiles=yes'], /--tiles: expected no value/],
  ['tiles of a scheme without', ['quantize', '--scheme', 'mxfp8', '--in', 'a', '--out', 'b', '--tiles'], /--tiles: expected a scheme with tiles, got mxfp8/],
  ['tiles with 1D weights', [...QUANTIZE_ALL, '--tiles', '--options', '{"weights1d":true}'], /--tiles: expected a scheme with tiles/],
  ['tiles of another role', [...QUANTIZE_ALL, '--tiles', '--role', 'dy'], /--tiles: expected weights \(--role w\), got --role dy/],
  ['a role that is none', [...QUANTIZE_ALL, '--role', 'y'], /--role: expected x, w, dy, got "y"/],
  ['Hadamard of weights', [...QUANTIZE_ALL, '--rht', '--tiles'], /--rht: expected x or dy of nvfp4, got w of nvfp4/],
  ['Hadamard of another scheme', ['quantize', '--scheme', 'fp8', '--in', 'a', '--out', 'b', '--rht'], /--rht: expected x or dy of nvfp4, got x of fp8/],
  ['stochastic rounding of activations', [...QUANTIZE_ALL, '--sr', '1,2,3,0', '--role', 'x'], /--sr: expected dy of nvfp4, got x of nvfp4/],
  ['three numbers for four', [...QUANTIZE_ALL, '--sr', '1,2,3'], /--sr: expected 4 whole numbers from 0 to 4294967295 by commas, got "1,2,3"/],
  ['no budget', PLAN, /--budget: expected either --budget or --target-deg, got none/],
  ['a budget and a target', [...PLAN, '--budget', '0.2', '--target-deg', '5'], /--budget: expected either .*, got both/],
  ['no number', [...PLAN, '--target-deg', '-5'], /--target-deg: expected a number from 0 to 90, got "-5"/],
  ['a cost that is none', [...PLAN, '--budget', '1', '--cost', 'money'], /--cost: expected gemm, cache, bits, time, got "money"/],
  ['ratios of another cost', [...PLAN, '--budget', '1', '--ratios', '{}'], /--ratios: expected --cost time beside it, got none/],
  ['ratios and times', [...PLAN, '--budget', '1', '--cost', 'time', '--ratios', '{}', '--times', 't'], /--times: expected ratios or measured times, got both/],
  ['an unknown target', [...HOME, 'onnx'], /--to: expected allocation, te-debug, .*, got "onnx"/],
  ['names of a table', [...HOME, 'csv', '--names', 'te'], /--names: expected a target with layer names, got --to csv/],
  ['unknown names', [...HOME, 'te-debug', '--names', 'jax'], /--names: expected hf-gpt2, te, .*, got "jax"/],
  ['a root without a number', [...HOME, 'te-debug', '--root', 'layers'], /--root: expected a text with \{layer\} .*, got "layers"/],
  ['a number too large', [...QUANTIZE_ALL, '--sr', '4294967296,0,0,0'], /--sr: expected 4 whole numbers/],
])('%s is wrong usage', async (_what, argv, message) => {
  const { code, stdout, stderr } = await call(argv, devices);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^E-CLI-01: .*\nSee npm run --silent cli -- .*--help\n$/);
  expect(stderr).toMatch(message);
});

it('--sites: exact ids, patterns, several, in the order of measuring; those of the recipe', () => {
  const { graph } = builtIn('nano');
  const order = coarseOrder(graph, 'nvfp4');
  const choose = (patterns: string): string[] => chooseSites(graph, 'nvfp4', patterns);
  expect(choose('*')).toEqual(order);
  expect(choose('h.0.*:fprop')).toEqual(order.filter((id) => id.startsWith('h.0.') && id.endsWith(':fprop')));
  expect(choose('h.?.mlp.c_fc:wgrad, h.0.attn.c_proj:dgrad')).toEqual(['h.1.mlp.c_fc:wgrad', 'h.0.attn.c_proj:dgrad', 'h.0.mlp.c_fc:wgrad']);
  // A dot is a dot, and nothing else of a pattern is special.
  for (const pattern of ['hx0x*', 'h.[01].*', 'h.0.mlp.c_fc', '(', '', '*:out']) expect(() => choose(pattern)).toThrow(expect.objectContaining({ name: 'E-PLAN-02' }));
  for (const other of ['lm_head:fprop', 'lm_head:out', 'h.0.ln_1:out']) expect(() => choose(other)).toThrow(expect.objectContaining({ name: 'E-PLAN-05' }));

  const groups = coarseOrder(graph, 'fp8-out');
  expect(chooseSites(graph, 'fp8-out', '*')).toEqual(groups);
  expect(groups).toHaveLength(10 * graph.layers + 3);
  expect(chooseSites(graph, 'fp8-out', '*.ln_?:out').sort()).toEqual(['h.0.ln_1:out', 'h.0.ln_2:out', 'h.1.ln_1:out', 'h.1.ln_2:out']);
  expect(chooseSites(graph, 'fp8-out', 'lm_head:out,wte:out').sort()).toEqual(['lm_head:out', 'wte:out']);
  expect(() => chooseSites(graph, 'fp8-out', 'h.0.mlp.c_fc:fprop')).toThrow(expect.objectContaining({ name: 'E-PLAN-05' }));
  expect(() => chooseSites(graph, 'fp8-out', '*:fprop')).toThrow(/under fp8-out, got "\*:fprop"/);
});

it('--recipe and --options: every recipe, presets with their switches, options on top', () => {
  for (const name of RECIPE_NAMES) expect(readRecipe(name, undefined)).toEqual({ recipe: name, options: {} });
  expect(readRecipe('nvfp4-te', undefined)).toEqual({ recipe: 'nvfp4', options: { rht: true, sr: true } });
  expect(readRecipe('nvfp4-te', '{"rht": false, "seed": 7}')).toEqual({ recipe: 'nvfp4', options: { sr: true, seed: 7 } });
  // What has no meaning here changes nothing, so it names the same run.
  expect(readRecipe('nvfp4', '{"seed": 7, "sr": false, "floor": false}')).toEqual({ recipe: 'nvfp4', options: {} });
  expect(readRecipe('fp8-out', '{"out": "mx", "pow2": true}')).toEqual({ recipe: 'fp8-out', options: { out: 'mx' } });
  // Help names each recipe and every switch.
  const help = [...PROBE.flags.map((flag) => flag.help), ...PROBE.details].join(' ');
  for (const word of [...RECIPE_WORDS, ...OPTION_NAMES]) expect(help).toContain(word);
});
