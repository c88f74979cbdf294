/** Layer names: every spelling against golden lists of real models, own roots and rules, and patterns that take these layers and no other. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { contextOf, goldenNames, planOf, type Depth } from './golden-plans';
import { nameLayers, NAME_PRESETS, type NamePresetId } from './names';
import { anchoredRegex, escapeGlob, globMatches, inComment, quoted, splitAtLayer, yamlString } from './patterns';
import { viewPlan } from './plan-view';

const PRESETS = Object.keys(NAME_PRESETS) as NamePresetId[];
const layersOf = (depth: Depth) => viewPlan(planOf('all high', depth, () => 'bf16'), contextOf(depth)).layers;

describe.each(PRESETS)('the spelling %s', (preset) => {
  it.each([12, 48] as const)('names every layer of a model of %i blocks, once', (depth) => {
    const { names, faults } = nameLayers(layersOf(depth), { preset });
    const golden = goldenNames(preset, depth);
    expect(faults).toEqual([]);
    expect(names.size).toBe(4 * depth);
    expect(new Set(names.values()).size).toBe(4 * depth);
    expect([...names.values()].filter((name) => golden.filter((other) => other === name).length !== 1)).toEqual([]);
  });
});

describe('names', () => {
  // The second block, by hand from formats.md 6.1 and 6.3.
  it.each([
    ['hf-gpt2', ['transformer.h.1.attn.c_attn', 'transformer.h.1.attn.c_proj', 'transformer.h.1.mlp.c_fc', 'transformer.h.1.mlp.c_proj']],
    ['te', ['transformer_layer.1.self_attention.layernorm_linear_qkv', 'transformer_layer.1.self_attention.proj', 'transformer_layer.1.layernorm_mlp.fc1', 'transformer_layer.1.layernorm_mlp.fc2']],
    ['te-unfused', ['transformer_layer.1.self_attention.linear_qkv', 'transformer_layer.1.self_attention.proj', 'transformer_layer.1.layernorm_mlp.fc1', 'transformer_layer.1.layernorm_mlp.fc2']],
    ['megatron', ['decoder.layers.1.self_attention.linear_qkv', 'decoder.layers.1.self_attention.linear_proj', 'decoder.layers.1.mlp.linear_fc1', 'decoder.layers.1.mlp.linear_fc2']],
  ] as const)('of %s: QKV, projection, up, down', (preset, expected) => {
    const { names } = nameLayers(layersOf(12), { preset });
    expect(['attn.c_attn', 'attn.c_proj', 'mlp.c_fc', 'mlp.c_proj'].map((group) => names.get(`h.1.${group}`))).toEqual(expected);
  });

  it('below another root', () => {
    expect(nameLayers(layersOf(12), { preset: 'hf-gpt2', root: 'module.h.{layer}' }).names.get('h.11.mlp.c_fc')).toBe('module.h.11.mlp.c_fc');
    expect(nameLayers(layersOf(12).slice(0, 4), { preset: 'hf-gpt2', root: '' }).names.get('h.0.mlp.c_fc')).toBe('mlp.c_fc');
  });

  it('by rules, the first that matches as a whole', () => {
    const rules = [{ pattern: 'h\\.(\\d+)\\.attn\\.c_attn', name: 'blocks[$1].qkv' }, { pattern: 'h\\.(\\d+)\\.(attn|mlp)\\.(\\w+)', name: 'blocks[$1].$2_$3' }];
    const { names, faults } = nameLayers(layersOf(12), { rules });
    expect(faults).toEqual([]);
    expect([names.get('h.10.attn.c_attn'), names.get('h.1.mlp.c_proj')]).toEqual(['blocks[10].qkv', 'blocks[1].mlp_c_proj']);
  });

  it('that are missing, shared or no pattern are faults with a sentence', () => {
    const few = layersOf(12).slice(0, 5);
    expect(nameLayers(few, { rules: [] }).faults).toEqual(few.map(({ node }) => `names: expected a name for ${node}, got none`));
    expect(nameLayers(few, { preset: 'hf-gpt2', root: 'h' }).faults).toEqual(['names: expected one layer called h.attn.c_attn, got h.0.attn.c_attn and h.1.attn.c_attn']);
    expect(nameLayers(few, { rules: [{ pattern: '(', name: 'x' }, { pattern: '(.*)', name: '$1' }] }).faults).toEqual(['names: expected rule 1 to be a regular expression, got "("']);
    expect(nameLayers([{ node: 'h.0.attn.q', layer: 0, group: 'attn.q' }], { preset: 'te' }).faults).toHaveLength(1);
  });
});

describe('patterns', () => {
  it('take layer 1 and not 10 or 11', () => {
    const regex = new RegExp(anchoredRegex([{ name: 'h.1.fc', layer: 1 }]));
    expect(['h.1.fc', 'h.10.fc', 'h.11.fc', 'h.0.fc', 'xh.1.fc', 'h.1.fc2', 'h.1xfc', 'h_1.fc'].filter((name) => regex.test(name))).toEqual(['h.1.fc']);
    expect(anchoredRegex([0, 10, 11].flatMap((layer) => ['a', 'b'].map((tail) => ({ name: `h.${layer}.${tail}`, layer }))))).toBe('^h\\.(?:0|10|11)(?:\\.a|\\.b)$');
  });

  it('take exactly the layers they are made of', () => {
    const all = goldenNames('te', 48).flatMap((name) => (/\.(\d+)\..*(qkv|proj|fc\d)$/.test(name) ? [{ name, layer: Number(name.split('.')[1]) }] : []));
    expect(all).toHaveLength(192);
    fc.assert(fc.property(fc.uniqueArray(fc.nat(191), { minLength: 1 }), (picked) => {
      const chosen = picked.map((i) => all[i]!);
      const regex = new RegExp(anchoredRegex(chosen));
      expect(all.filter(({ name }) => regex.test(name)).map(({ name }) => name).sort()).toEqual(chosen.map(({ name }) => name).sort());
    }), { numRuns: 50 });
  });

  it('of names with signs, or without their number, are still exact', () => {
    const odd = [{ name: 'blocks[1].q+k', layer: 1 }, { name: 'a.1.b.1', layer: 1 }, { name: '1', layer: 1 }, { name: 'a*b?', layer: 3 }];
    const regex = new RegExp(anchoredRegex(odd));
    expect([...odd.map(({ name }) => name), 'blocks1.q+k', 'blocks[1].qqk', 'axb'].filter((name) => regex.test(name))).toEqual(odd.map(({ name }) => name));
    expect(odd.map(splitAtLayer)).toEqual([null, null, { head: '', tail: '' }, null]);
    for (const { name } of odd) {
      expect(globMatches(escapeGlob(name), name)).toBe(true);
      expect(globMatches(escapeGlob(name), name.replace(/[[*?]/, 'x'))).toBe(!/[[*?]/.test(name));
    }
    expect(['a.1.b', 'a.1.2.b', 'a.b', 'xa.1.b'].filter((name) => globMatches('a.*.b', name))).toEqual(['a.1.b', 'a.1.2.b']);
  });

  it('are strings that YAML and JSON read back', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(parse(`a: ${quoted(text)}`)).toEqual({ a: text });
      expect(parse(`a: ${yamlString(text)}`)).toEqual({ a: text });
      if (!/[\u{10000}-\u{10ffff}]/u.test(text)) expect(JSON.parse(quoted(text))).toBe(text);
      expect(inComment(text)).toMatch(/^[\x20-\x7e]*$/);
    }));
  });
});
