/** `gradient` end to end on gpt2-nano: the PyTorch golden's gradients and joint angles, the same bytes twice, the memory that op groups save. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { version } from '../../package.json';
import { hashTokens } from '../data/hash';
import { tensorFloats, type Safetensors } from '../data/safetensors';
import { writeSafetensors } from '../data/safetensors-writer';
import { paintableSites } from '../graph/sites';
import { angleBetween, call, expectDone, NANO, openedFile, Scratch, SharedDevices } from './cli-fixture';
import { builtIn, readJson, readTensors } from './golden';

const devices = new SharedDevices();
const scratch = new Scratch();
afterAll(() => {
  devices.dispose();
  scratch.dispose();
});

const { graph, batches } = builtIn('nano');
const names = graph.params.map(({ name }) => name);
const flat = (file: Safetensors, prefix = ''): Float32Array => Float32Array.from(names.flatMap((name) => [...tensorFloats(file, prefix + name)]));
const write = (name: string, content: unknown): string => scratch.write(name, content);
const full = write('full.json', { tokens: batches[0] });
const BF16 = write('bf16.json', { reference: 'bf16' });

/** -> the file, and what was said. */
async function gradientSaying(name: string, policy: string, tokens = full, model = NANO): Promise<{ file: Safetensors; stderr: string }> {
  const out = scratch.path(`${name}.safetensors`);
  const { stderr } = expectDone(await call(['gradient', '--model', model, '--tokens', tokens, '--policy', policy, '--out', out], devices));
  expect(stderr).toContain(out);
  return { file: openedFile(out), stderr };
}
const gradient = async (...given: Parameters<typeof gradientSaying>): Promise<Safetensors> => (await gradientSaying(...given)).file;

describe('gradient', () => {
  it.each([['bf16', BF16, 0.35], ['fp32', write('fp32.json', { reference: 'fp32' }), 0.001]] as const)('%s: the golden\'s gradient, names, shapes and loss', async (reference, policy, limitDeg) => {
    const found = await gradient(reference, policy);
    const golden = readTensors(`e2e/golden/nano/gradient-${reference}.safetensors`);
    expect([...found.tensors.keys()].sort()).toEqual([...golden.tensors.keys()].sort());
    for (const { name, shape } of graph.params) expect(found.tensors.get(name)).toMatchObject({ dtype: 'F32', shape });
    const turned = angleBetween(flat(found), Float32Array.from(names.flatMap((name) => [...(golden.tensors.get(name) ?? [])])));
    expect(turned).toBeLessThanOrEqual(limitDeg);
    const loss = found.metadata.get('loss') ?? '';
    expect(Math.abs(Number(loss) - Number(golden.metadata.get('loss')))).toBeLessThan(1e-5);
    expect(loss).toBe(String(Number(loss)));
    expect(found.metadata.get('tokensSha256')).toBe(await hashTokens([batches[0] ?? []]));
    expect(found.metadata.get('version')).toBe(version);
    expect(found.metadata.get('device')).not.toBe('');
    console.log(`gradient ${reference}: ${turned.toExponential(2)} deg from the golden`);
  });

  /** All sites of a recipe whose part is one of these. */
  const low = (recipe: 'nvfp4' | 'mxfp8' | 'fp8-out', parts: readonly string[]): string[] => paintableSites(graph, recipe).filter(({ pass }) => parts.includes(pass)).map(({ id }) => id);
  const passes = (scheme: 'nvfp4' | 'mxfp8', parts: readonly string[]): Record<string, string> => Object.fromEntries(low(scheme, parts).map((id) => [id, scheme]));
  const EVERY = ['fprop', 'dgrad', 'wgrad'];
  it.each<[string, object]>([
    ['nvfp4:fprop', { passes: passes('nvfp4', ['fprop']), options: { rht: false, sr: false, seed: 1 } }],
    ['nvfp4-1d:fprop', { passes: passes('nvfp4', ['fprop']), options: { weights1d: true } }],
    ['nvfp4-rht:wgrad', { passes: passes('nvfp4', ['wgrad']), options: { rht: true } }],
    ['mxfp8:fprop+dgrad+wgrad', { passes: passes('mxfp8', EVERY) }],
    ['fp8-out:all', { outs: low('fp8-out', ['out']).map((id) => id.replace(':out', '')) }],
  ])('%s turns it as the PyTorch reference says', async (key, policy) => {
    const reference = flat(openedFile(scratch.path('bf16.safetensors')));
    const turned = angleBetween(flat(await gradient('low', write('low.json', { reference: 'bf16', ...policy }))), reference);
    const golden = readJson<{ joint: Record<string, { angle_deg: number }[][]> }>('e2e/golden/nano/angles.json').joint[key]?.[0]?.[0]?.angle_deg ?? NaN;
    console.log(`gradient, ${key}: ${turned.toFixed(4)} deg, golden ${golden}`);
    expect(Math.abs(turned / golden - 1)).toBeLessThan(0.02);
  });

  it('schemes mixed with op groups and every switch: canonical policy in the metadata, another seed other bits, the same seed the same', async () => {
    const tokens = write('small.json', { tokens: (batches[0] ?? []).slice(0, 2).map((row) => row.slice(0, 20)) });
    const mixed = (seed: number): object => ({
      reference: 'bf16', outs: ['lm_head', 'h.0.ln_1'], options: { rht: true, sr: true, weights1d: true, seed, floor: true },
      passes: { 'h.0.attn.c_attn:wgrad': 'nvfp4', 'h.1.mlp.c_fc:dgrad': 'nvfp4', 'h.0.mlp.c_fc:fprop': 'mxfp4', 'h.1.attn.c_proj:fprop': 'fp8', 'h.1.mlp.c_proj:wgrad': 'fp8-block' },
    });
    const [one, again, two] = [await gradient('seed1', write('m1.json', mixed(1)), tokens), await gradient('seed1b', write('m1.json', mixed(1)), tokens), await gradient('seed2', write('m2.json', mixed(2)), tokens)];
    expect(Buffer.compare(Buffer.from(one.bytes), Buffer.from(again.bytes))).toBe(0);
    expect(flat(two)).not.toEqual(flat(one));
    expect(JSON.parse(one.metadata.get('policy') ?? '')).toMatchObject({ outs: ['h.0.ln_1', 'lm_head'], options: { floor: true, rht: true, seed: 1, sr: true, weights1d: true } });
  });

  it('says the memory predicted and allocated; op groups in FP8 halve what is kept of them', async () => {
    const said = async (name: string, policy: string): Promise<string> => {
      const { stderr } = await gradientSaying(name, policy);
      const [, predicted = '', allocated = ''] = /^ {2}all +([\d.]+ \S+) +([\d.]+ \S+)$/m.exec(stderr) ?? [];
      expect(Math.abs(parseFloat(predicted) / parseFloat(allocated) - 1), stderr).toBeLessThan(0.05);
      return stderr;
    };
    const high = await said('high', BF16);
    const groups = await said('groups', write('outs.json', { reference: 'bf16', outs: low('fp8-out', ['out']).map((id) => id.replace(':out', '')) }));
    expect(high).not.toContain('in BF16');
    expect(high).toMatch(/^ {2}activations BF16 +\S+ \S+ +\S+ \S+$/m);
    expect(groups).toMatch(/^ {2}activations E4M3 +\S+ \S+ +\S+ \S+$/m);
    const [, share = 'none'] = /^activations kept for backward: .*, in BF16 .* \(([\d.]+) %\)$/m.exec(groups) ?? [];
    // The rest is FP32 statistics of rows.
    expect(Number(share)).toBeGreaterThan(49);
    expect(Number(share)).toBeLessThan(55);
  });

  it('twice: identical bytes; an F32 checkpoint with `transformer.` names: the same numbers under those names', async () => {
    const tokens = write('one.json', { tokens: (batches[0] ?? []).slice(0, 2).map((row) => row.slice(0, 17)) });
    const source = openedFile(`${NANO}/model.safetensors`);
    mkdirSync(scratch.path('prefixed'));
    writeFileSync(scratch.path('prefixed/config.json'), readFileSync(`${NANO}/config.json`));
    writeFileSync(scratch.path('prefixed/model.safetensors'), writeSafetensors([...source.tensors.values()].map(({ name, shape }) => ({ name: `transformer.${name}`, dtype: 'F32', shape, data: tensorFloats(source, name) }))));
    const a = await gradient('a', BF16, tokens);
    const b = await gradient('b', BF16, tokens);
    expect(Buffer.compare(Buffer.from(a.bytes), Buffer.from(b.bytes))).toBe(0);
    const prefixed = await gradient('c', BF16, tokens, scratch.path('prefixed'));
    expect([...prefixed.tensors.keys()].sort()).toEqual(names.map((name) => `transformer.${name}`).sort());
    expect(flat(prefixed, 'transformer.')).toEqual(flat(a));
    expect(prefixed.metadata.get('loss')).toBe(a.metadata.get('loss'));
    expect(prefixed.metadata.get('modelSha256')).not.toBe(a.metadata.get('modelSha256'));
  });
});
