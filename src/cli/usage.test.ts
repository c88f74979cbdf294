/** Help, version, wrong usage (exit code 2) and --sites patterns; nothing here needs a device. */
import { expect, it } from 'vitest';
import { version } from '../../package.json';
import { coarseOrder } from '../graph/coarse-order';
import { chooseSites } from './choose-sites';
import { call } from './cli-fixture';
import { Devices } from './devices';
import { builtIn } from './golden';
import { GRADIENT } from './gradient';
import { PROBE } from './probe';
import { QUANTIZE } from './quantize';

const devices = new Devices();

it.each([['--help'], ['-h']])('%s names every command on stdout', async (flag) => {
  const { code, stdout, stderr } = await call([flag], devices);
  expect([code, stderr]).toEqual([0, '']);
  for (const name of ['gradient', 'probe', 'quantize']) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  expect(stdout).toMatch(/0 done, 1 a named error, 2 wrong usage/);
});

it.each([GRADIENT, PROBE, QUANTIZE])('$name --help names each of its flags', async (spec) => {
  const { code, stdout, stderr } = await call([spec.name, '--help'], devices);
  expect([code, stderr]).toEqual([0, '']);
  for (const { name } of spec.flags) expect(stdout).toContain(`\n  --${name}`);
  expect(Math.max(...stdout.split('\n').slice(4).map((line) => line.length))).toBeLessThanOrEqual(150);
});

it('--version is one line on stdout', async () => {
  expect(await call(['--version'], devices)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

const QUANTIZE_ALL = ['quantize', '--scheme', 'nvfp4', '--in', 'a', '--out', 'b'];
it.each<[string, string[], RegExp]>([
  ['no command', [], /expected a command \(gradient, probe, quantize\), got none/],
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
])('%s is wrong usage', async (_what, argv, message) => {
  const { code, stdout, stderr } = await call(argv, devices);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^E-CLI-01: .*\nSee npm run --silent cli -- .*--help\n$/);
  expect(stderr).toMatch(message);
});

it('--sites: exact ids, patterns, several, in the order of measuring', () => {
  const { graph } = builtIn('nano');
  const order = coarseOrder(graph);
  expect(chooseSites(graph, '*')).toEqual(order);
  expect(chooseSites(graph, 'h.0.*:fprop')).toEqual(order.filter((id) => id.startsWith('h.0.') && id.endsWith(':fprop')));
  expect(chooseSites(graph, 'h.?.mlp.c_fc:wgrad, h.0.attn.c_proj:dgrad')).toEqual(['h.1.mlp.c_fc:wgrad', 'h.0.attn.c_proj:dgrad', 'h.0.mlp.c_fc:wgrad']);
  // A dot is a dot, and nothing else of a pattern is special.
  for (const pattern of ['hx0x*', 'h.[01].*', 'h.0.mlp.c_fc', '(', '']) expect(() => chooseSites(graph, pattern)).toThrow(expect.objectContaining({ name: 'E-PLAN-02' }));
  expect(() => chooseSites(graph, 'lm_head:fprop')).toThrow(expect.objectContaining({ name: 'E-PLAN-05' }));
});
