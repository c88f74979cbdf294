/**
 * Programs as data: a step names exactly the values its dispatches bind, slots are unique and in one order, and what a
 * change can reach (engine.md 6.1) follows from that alone. No device.
 */
import { describe, expect, it } from 'vitest';
import { OUT_SCHEME, PASS_SCHEMES, REFERENCE_POLICY, type Policy } from '../graph/policy';
import { formatSiteId, paintableSites } from '../graph/sites';
import { PASSES } from '../graph/types';
import { compileProgram } from './compile';
import { KERNELS } from './kernels';
import { planMemory } from './memory';
import { assertTransient } from './packed-cache';
import { isClear, type Binding, type Program } from './program';
import { graph, SHAPE } from './run-fixture';
import { Values, type CacheForm } from './values';
import { variantSteps } from './variant-steps';

const OUTS = paintableSites(graph, OUT_SCHEME).map(({ node }) => node);
const LINEARS = graph.nodes.filter((node) => node.op === 'linear');
const everyPass = Object.fromEntries(paintableSites(graph, 'nvfp4').map(({ id }, i) => [id, PASS_SCHEMES[i % PASS_SCHEMES.length] ?? 'nvfp4']));

const program = (policy: Policy, cache?: CacheForm): Program => compileProgram(new Values(graph, policy, cache), policy, SHAPE);
const low = (outs: readonly string[], more: Partial<Policy> = {}): Policy => ({ reference: 'bf16', passes: {}, options: {}, outs, ...more });
const slots = ({ steps }: Program): string[] => steps.map((step) => step.slot);
const REFERENCE = program(REFERENCE_POLICY);

const POLICIES: [string, Policy, CacheForm][] = [
  ['bf16', REFERENCE_POLICY, 'packed'],
  ['fp32', { ...REFERENCE_POLICY, reference: 'fp32' }, 'packed'],
  ['every pass low, all schemes', low([], { passes: everyPass, options: { rht: true, sr: true } }), 'packed'],
  ['every output low', low(OUTS), 'packed'],
  ['every output low, kept unpacked', low(OUTS), 'unpacked'],
  ['every other output low', low(OUTS.filter((_, i) => i % 2 === 0)), 'packed'],
  ['every output low, blocks', low(OUTS, { options: { out: 'block' } }), 'packed'],
  ['everything low', low(OUTS, { passes: everyPass, options: { out: 'mx' } }), 'packed'],
];

describe.each(POLICIES)('a step of %s', (_name, policy, cache) => {
  const { steps } = program(policy, cache);
  const { places, buffers } = planMemory(graph, SHAPE, { plan: policy, cache });

  it('names every value its dispatches bind, and no other', () => {
    for (const step of steps) {
      const [read, written] = [new Set<string>(), new Set<string>()];
      const note = (binding: Binding, access: 'read' | 'write' | undefined): void => {
        if (!('value' in binding)) return;
        if (access === 'write') written.add(binding.value);
        else if (!written.has(binding.value)) read.add(binding.value);
      };
      for (const command of step.commands) {
        if (isClear(command)) note(command.clear, 'write');
        else command.bindings.forEach((binding, i) => note(binding, KERNELS[command.kernel].bindings[i]));
      }
      expect([...written].sort(), step.slot).toEqual([...step.writes].sort());
      expect([...read].sort(), step.slot).toEqual([...step.reads].sort());
    }
  });

  it('has a slot of its own', () => {
    expect(new Set(steps.map(({ slot }) => slot)).size).toBe(steps.length);
  });

  it('reads nothing that a later step writes', () => {
    steps.forEach((step, i) => {
      for (const later of steps.slice(i + 1)) expect(later.writes.filter((key) => step.reads.includes(key)), `${later.slot} after ${step.slot}`).toEqual([]);
    });
  });

  it('finds a buffer for everything it binds, never one for reading and writing in a dispatch', () => {
    const planned = new Set(buffers.map(({ key }) => key));
    for (const { slot, commands } of steps) {
      for (const command of commands) {
        if (isClear(command)) continue;
        const named = command.bindings.map((b) => ('value' in b ? (places.get(b.value) ?? b.value) : b.resource));
        expect(named.filter((name) => !planned.has(name)), `${slot} ${command.kernel}`).toEqual([]);
        const written = named.filter((_, i) => KERNELS[command.kernel].bindings[i] === 'write');
        for (const name of written) expect(named.filter((other) => other === name).length, `${slot} ${command.kernel} ${name}`).toBe(1);
      }
    }
  });

  it('overwrites no gradient that is still read: a quantized one takes the place of what only its own step reads', () => {
    const values = new Values(graph, policy, cache);
    for (const id of policy.outs ?? []) {
      if (values.ownsArriving(id)) expect(steps.filter(({ reads }) => reads.includes(values.arriving(id))).map(({ slot }) => slot)).toEqual([`${id}/out-dy`]);
    }
  });
});

describe('slots', () => {
  it('are the same in every policy, those of low op groups apart', () => {
    for (const [name, policy, cache] of POLICIES) expect(slots(program(policy, cache)).filter((slot) => !/\/out(-dy)?$/.test(slot)), name).toEqual(slots(REFERENCE));
  });

  it('of an op group: its output as soon as it is written, its gradient as soon as it has arrived', () => {
    const found = slots(program(low(['h.0.res_1', 'h.1.mlp.c_proj', 'lm_head'])));
    for (const node of ['h.0.res_1', 'h.1.mlp.c_proj', 'lm_head']) expect(found[found.indexOf(`${node}/fprop`) + 1]).toBe(`${node}/out`);
    expect(found[found.indexOf('h.0.res_1/dy') + 1]).toBe('h.0.res_1/out-dy');
    expect(found[found.indexOf('h.1.mlp.c_proj/dgrad') - 1]).toBe('h.1.mlp.c_proj/out-dy');
  });
});

describe('what a low output can reach', () => {
  const reached = (outs: readonly string[], more: Partial<Policy> = {}): string[] => variantSteps(program(low(outs, more)), REFERENCE, false).steps.map(({ slot }) => slot);

  it('of a linear: its own forward pass, because its weight changes; of another op nothing before the output', () => {
    for (const { id, op } of graph.nodes.filter((node) => node.op !== 'cross_entropy')) {
      const own = `${id}/fprop`;
      expect(reached([id]).slice(0, 2), id).toEqual(op === 'linear' ? [own, `${id}/out`] : [`${id}/out`, slots(REFERENCE)[slots(REFERENCE).indexOf(own) + 1]]);
      const before = slots(REFERENCE).slice(0, slots(REFERENCE).indexOf(own));
      expect(reached([id]).filter((slot) => before.includes(slot)), id).toEqual([]);
    }
  });

  it('of a linear whose forward pass is low already: that pass, for its own sake', () => {
    const passes = { 'h.0.mlp.c_fc:fprop': 'fp8' } as const;
    expect(reached(['h.0.mlp.c_fc'], { passes })[0]).toBe('h.0.mlp.c_fc/fprop');
  });

  it('everything behind it, the whole backward pass', () => {
    const backward = slots(REFERENCE).slice(slots(REFERENCE).indexOf('loss/bprop'));
    expect(reached(['wte']).filter((slot) => backward.includes(slot))).toEqual(backward);
  });

  it('nothing where no op group and no pass is low', () => {
    expect(reached([])).toEqual([]);
  });
});

describe('the weight of a low op group', () => {
  it('is quantized in the passes that run high, and only there', () => {
    for (const node of LINEARS) {
      const passes = node.layer === null ? {} : { [formatSiteId(node.id, 'dgrad')]: 'nvfp4' as const };
      const { steps } = program(low([node.id], { passes }));
      const reads = PASSES.filter((pass) => steps.find(({ slot }) => slot === `${node.id}/${pass}`)?.commands.some((c) => !isClear(c) && c.bindings.some((b) => 'resource' in b && b.resource === 'scratch:p')));
      expect(reads, node.id).toEqual(node.layer === null ? ['fprop', 'dgrad'] : ['fprop']);
    }
  });
});

describe('the raw output of a low op group', () => {
  it('is read by the next step alone, so that all can share one place', () => {
    const values = new Values(graph, low(OUTS));
    expect(() => assertTransient(values, program(low(OUTS)))).not.toThrow();
    const steps = [...program(low(OUTS)).steps];
    const out = steps.findIndex(({ slot }) => slot === 'h.0.ln_1/out');
    const [moved] = steps.splice(out, 1);
    expect(() => assertTransient(values, { steps: moved ? [...steps, moved] : steps })).toThrow(/y:h\.0\.ln_1: expected no step but of h\.0\.ln_1 until/);
  });
});
