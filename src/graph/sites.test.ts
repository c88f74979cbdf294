/** Sites of GPT-2 against the keys of the PyTorch reference's angles and the counts that ux.md 3.1 states. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gpt2Graph } from '../models/gpt2';
import { formatSiteId, gridRows, paintableSites, parseSiteId, sites, sitesOfNode } from './sites';

const nano = gpt2Graph({ model: 'gpt2-nano', layers: 2, width: 64, heads: 4, positions: 64, vocabulary: 1024, eps: 1e-5 });
const small = gpt2Graph({ model: 'gpt2', layers: 12, width: 768, heads: 12, positions: 1024, vocabulary: 50257, eps: 1e-5 });

describe('sites', () => {
  it('are those the reference measured, in its order', () => {
    const golden = JSON.parse(readFileSync(new URL('../../e2e/golden/nano/angles.json', import.meta.url), 'utf8')) as { sites: { nvfp4: object } };
    expect(paintableSites(nano).map((s) => s.id)).toEqual(Object.keys(golden.sites.nvfp4));
  });

  it('are 144 in GPT-2 and three more of the head, which are never painted', () => {
    expect(sites(small)).toHaveLength(147);
    expect(sites(small).filter((s) => !s.paintable).map((s) => s.id)).toEqual(['lm_head:fprop', 'lm_head:dgrad', 'lm_head:wgrad']);
    expect(new Set(sites(small).map((s) => s.id)).size).toBe(147);
  });

  it('parse what they format', () => {
    for (const site of sites(nano)) expect(parseSiteId(nano, formatSiteId(site.node, site.pass))).toBe(site);
    expect(sitesOfNode(nano, 'h.1.mlp.c_fc').map((s) => s.pass)).toEqual(['fprop', 'dgrad', 'wgrad']);
    expect(sitesOfNode(nano, 'h.1.mlp.act')).toEqual([]);
  });

  it.each(['', 'h.0.attn.c_attn', 'h.0.attn.c_attn:forward', 'h.2.attn.c_attn:fprop', 'h.0.attn:fprop', 'wte:out'])('refuse "%s" by name', (id) => {
    expect(() => parseSiteId(nano, id, 'policy')).toThrow(expect.objectContaining({
      name: 'E-PLAN-02',
      message: `policy: expected a site of gpt2-nano, got "${id}"`,
      hint: 'Write sites as <node>:fprop|dgrad|wgrad, for example h.0.attn.c_attn:fprop.',
    }) as Error);
  });
});

describe('gridRows', () => {
  it('are qkv, proj, fc, down and head, each with its passes, one site a layer', () => {
    const rows = gridRows(small);
    expect(rows.map((r) => `${r.groupLabel.short} ${r.passLabel.short}`)).toEqual(
      ['qkv', 'proj', 'fc', 'down', 'head'].flatMap((g) => ['fp', 'dg', 'wg'].map((p) => `${g} ${p}`)),
    );
    expect(rows[0]?.sites.map((s) => s.layer)).toEqual(Array.from({ length: 12 }, (_, i) => i));
    expect(rows.at(-1)?.sites.map((s) => s.layer)).toEqual([null]);
    expect(rows.flatMap((r) => r.sites).map((s) => s.id).sort()).toEqual(sites(small).map((s) => s.id).sort());
  });
});
