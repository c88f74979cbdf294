/**
 * The kernel table against the .wgsl files' own binding lines, and every kernel through the device's compiler: with its
 * defaults, and with every set of constants that the programs of both reference policies, of all low passes in every scheme
 * and of low op groups use.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtIn } from '../cli/golden';
import { sharedGpu } from '../gpu/device-fixture';
import type { Gpu } from '../gpu/gpu';
import { linkShader } from '../gpu/shaders';
import { paintableSites } from '../graph/sites';
import { OUT_SCALINGS, OUT_SCHEME, PASS_SCHEMES, type PassScheme, type Policy, type PolicyOptions } from '../graph/policy';
import { compileProgram } from './compile';
import { Executor } from './executor';
import { KERNELS } from './kernels';
import { isClear, type Dispatch } from './program';
import { Values } from './values';

const KERNEL_FOLDER = new URL('../../shaders/kernels/', import.meta.url);
const files = readdirSync(KERNEL_FOLDER).filter((name) => name.endsWith('.wgsl')).map((name) => name.slice(0, -'.wgsl'.length)).sort();

interface DeclaredBinding { group: number; binding: number; space: string; name: string }
/** `@group(0) @binding(2) var<storage, read_write> y: array<u32>;` -> its parts. */
function bindingsOf(text: string): DeclaredBinding[] {
  return [...text.matchAll(/^@group\((\d+)\)\s*@binding\((\d+)\)\s*var<([^>]*)>\s*(\w+)\s*:/gm)]
    .map(([, group, binding, space = '', name = '']) => ({ group: Number(group), binding: Number(binding), space: space.replace(/\s/g, ''), name }));
}

describe('the table', () => {
  it('has one row for every file and one file for every row', () => {
    expect(Object.keys(KERNELS).sort()).toEqual(files);
    for (const [name, row] of Object.entries(KERNELS)) expect(row.name).toBe(name);
  });

  it.each(files)('%s: bindings as declared, at most 8, Params first', (name) => {
    const own = readFileSync(new URL(`${name}.wgsl`, KERNEL_FOLDER), 'utf8');
    const declared = bindingsOf(own);
    expect(declared.length, 'every @binding is on one line of its own').toBe(own.match(/@binding\(/g)?.length);
    expect(bindingsOf(linkShader(name)).length, 'libraries declare no bindings').toBe(declared.length);
    expect(declared.map((b) => [b.group, b.binding])).toEqual(declared.map((_, i) => [0, i]));
    expect(declared.length).toBeLessThanOrEqual(8);
    expect(declared[0]).toMatchObject({ space: 'uniform', name: 'params' });
    const access = declared.slice(1).map(({ space }) => (space === 'storage,read' ? 'read' : space === 'storage,read_write' ? 'write' : space));
    expect(Object.entries(KERNELS).find(([row]) => row === name)?.[1].bindings).toEqual(access);
  });

  it.each(files)('%s: one entry point, its size an override, a bounds check, no workgroup memory', (name) => {
    const code = linkShader(name).replace(/\/\/.*$/gm, '');
    expect(code.match(/@compute/g)?.length).toBe(1);
    expect(code).toMatch(/@compute @workgroup_size\(WG\)\s*fn main\(/);
    expect(code).toMatch(/override WG: u32 = 64u;/);
    expect(code).toMatch(/\{ return; \}/);
    expect(code).not.toMatch(/var<workgroup>|workgroupBarrier|subgroup|enable f16|\bexp2?\(|\btanh\(|\bpow\(|\blog2?\(/);
  });
});

describe('the device compiles', () => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await sharedGpu();
  });
  afterAll(() => expect(gpu.liveBuffers).toBe(0));

  it('every row with its defaults', async () => {
    const pipelines = await Promise.all(Object.values(KERNELS).map((row) => gpu.pipeline(row)));
    expect(pipelines.length).toBe(files.length);
  });

  it('every variant that a program uses', async () => {
    const { graph } = builtIn('nano');
    const shape = { sequences: 2, tokens: 8 };
    const lowPasses = (scheme: PassScheme, options: PolicyOptions): Policy => ({
      reference: 'bf16', options, passes: Object.fromEntries(paintableSites(graph, scheme).map((site) => [site.id, scheme])),
    });
    const lowOuts = (options: PolicyOptions): Policy => ({ reference: 'bf16', options, passes: {}, outs: paintableSites(graph, OUT_SCHEME).map((site) => site.node) });
    const policies: Policy[] = [
      { reference: 'fp32', passes: {}, options: {} },
      { reference: 'bf16', passes: {}, options: {} },
      ...PASS_SCHEMES.map((scheme) => lowPasses(scheme, {})),
      lowPasses('nvfp4', { weights1d: true }), lowPasses('nvfp4', { rht: true, sr: true }), lowPasses('mxfp8', { e5m2Grad: true }),
      ...OUT_SCALINGS.map((out) => lowOuts({ out })),
    ];
    const dispatches = policies.flatMap((policy) => compileProgram(new Values(graph, policy), policy, shape).steps)
      .flatMap((step) => step.commands).filter((command): command is Dispatch => !isClear(command));
    const variants = new Set(dispatches.map((d) => Executor.pipelineKey(d)));
    const executor = new Executor(gpu);
    let compiled = 0;
    await executor.compile(dispatches, (_done, total) => {
      compiled = total;
    });
    executor.dispose();
    expect(compiled).toBe(variants.size);
    console.log(`${files.length} kernels, ${variants.size} variants compiled`);
  });
});
