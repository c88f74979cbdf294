/** Sites of GPT-2 against the keys of the PyTorch reference's angles and the counts that ux.md 3.1 states. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gpt2Graph } from '../models/gpt2';
import { coarseOrder } from './coarse-order';
import { PASS_SCHEMES, RECIPE_NAMES } from './policy';
import { formatSiteId, gridRows, paintableSites, parseSiteId, sites, sitesOfNode } from './sites';

const nano = gpt2Graph({ model: 'gpt2-nano', layers: 2, width: 64, heads: 4, positions: 64, vocabulary: 1024, eps: 1e-5 });
const mini = gpt2Graph({ model: 'gpt2-mini', layers: 6, width: 128, heads: 4, positions: 128, vocabulary: 1024, eps: 1e-5 });
const small = gpt2Graph({ model: 'gpt2', layers: 12, width: 768, heads: 12, positions: 1024, vocabulary: 50257, eps: 1e-5 });

describe('sites', () => {
  it.each([nano, mini])('of $model are those the reference measured, in its order', (graph) => {
    const file = new URL(`../../e2e/golden/${graph.model.slice('gpt2-'.length)}/angles.json`, import.meta.url);
    const golden = JSON.parse(readFileSync(file, 'utf8')) as { sites: Record<string, object> };
    for (const recipe of RECIPE_NAMES) {
      const measured = golden.sites[recipe];
      if (measured) expect(paintableSites(graph, recipe).map((s) => s.id)).toEqual(Object.keys(measured));
    }
    expect(Object.keys(golden.sites)).toEqual(expect.arrayContaining(['nvfp4', 'fp8-out']));
  });

  it('are 144 passes in GPT-2 and three more of the head, which are never painted', () => {
    const passes = sites(small).filter((s) => s.kind === 'pass');
    expect(passes).toHaveLength(147);
    expect(passes.filter((s) => !s.paintable).map((s) => s.id)).toEqual(['lm_head:fprop', 'lm_head:dgrad', 'lm_head:wgrad']);
    for (const recipe of PASS_SCHEMES) expect(paintableSites(small, recipe)).toHaveLength(144);
    expect(new Set(sites(small).map((s) => s.id)).size).toBe(147 + 123);
  });

  it.each([[nano, 23], [mini, 63], [small, 123]] as const)('are the output of every node but the loss', (graph, count) => {
    const outs = paintableSites(graph, 'fp8-out');
    expect(outs).toHaveLength(count);
    expect(outs.map((s) => s.node)).toEqual(graph.nodes.map((n) => n.id).filter((id) => id !== 'loss'));
  });

  it('parse what they format', () => {
    for (const site of sites(nano)) expect(parseSiteId(nano, formatSiteId(site.node, site.pass))).toBe(site);
    expect(sitesOfNode(nano, 'h.1.mlp.c_fc').map((s) => s.pass)).toEqual(['fprop', 'dgrad', 'wgrad', 'out']);
    expect(sitesOfNode(nano, 'h.1.mlp.act').map((s) => s.id)).toEqual(['h.1.mlp.act:out']);
    expect(sitesOfNode(nano, 'loss')).toEqual([]);
  });

  it.each(['', 'h.0.attn.c_attn', 'h.0.attn.c_attn:forward', 'h.2.attn.c_attn:fprop', 'h.0.attn:fprop', 'loss:out', 'wpe:out'])('refuse "%s" by name', (id) => {
    expect(() => parseSiteId(nano, id, 'policy')).toThrow(expect.objectContaining({
      name: 'E-PLAN-02',
      message: `policy: expected a site of gpt2-nano, got "${id}"`,
      hint: 'Write sites as <node>:fprop|dgrad|wgrad|out, for example wte:out.',
    }) as Error);
  });
});

describe('gridRows', () => {
  it('of a pass recipe are qkv, proj, fc, down and head, each with its passes, one site a layer', () => {
    const rows = gridRows(small, 'mxfp4');
    expect(rows.map((r) => `${r.groupLabel.short} ${r.passLabel.short}`)).toEqual(
      ['qkv', 'proj', 'fc', 'down', 'head'].flatMap((g) => ['fp', 'dg', 'wg'].map((p) => `${g} ${p}`)),
    );
    expect(rows[0]?.sites.map((s) => s.layer)).toEqual(Array.from({ length: 12 }, (_, i) => i));
    expect(rows.at(-1)?.sites.map((s) => s.layer)).toEqual([null]);
    expect(rows.flatMap((r) => r.sites).map((s) => s.id).sort()).toEqual(sites(small).filter((s) => s.kind === 'pass').map((s) => s.id).sort());
  });

  it('of op groups are embedding, the ten of a layer, final norm and head', () => {
    const rows = gridRows(small, 'fp8-out');
    expect(rows.map((r) => r.groupLabel.short)).toEqual(['embed', 'ln 1', 'qkv', 'attn', 'proj', 'res 1', 'ln 2', 'fc', 'act', 'down', 'res 2', 'ln f', 'head']);
    expect(rows.every((r) => r.paintable && r.pass === 'out' && r.sites.length === (r.group.includes('.') || /^(attn|ln_[12]|res_.)$/.test(r.group) ? 12 : 1))).toBe(true);
    expect(rows.flatMap((r) => r.sites)).toHaveLength(123);
  });
});

describe('coarseOrder', () => {
  it('shows sites outside the layers and every 8th layer from the last first, each site once', () => {
    const layersOf = (ids: readonly string[]) => [...new Set(ids.map((id) => parseSiteId(small, id).layer))];
    const coarse = [11, 3, 7, 1, 5, 9, 0, 2, 4, 6, 8, 10];
    expect(layersOf(coarseOrder(small, 'nvfp4'))).toEqual([3, 11, 7, 1, 5, 9, 0, 2, 4, 6, 8, 10]);
    expect(new Set(layersOf(coarseOrder(small, 'fp8-out')))).toEqual(new Set([null, ...coarse]));
    expect(coarseOrder(small, 'fp8-out').slice(0, 23).map((id) => parseSiteId(small, id).layer)).toEqual([null, ...new Array<number>(10).fill(3), ...new Array<number>(10).fill(11), null, null]);
    for (const recipe of ['nvfp4', 'fp8-out'] as const) expect([...coarseOrder(small, recipe)].sort()).toEqual(paintableSites(small, recipe).map((s) => s.id).sort());
  });
});
