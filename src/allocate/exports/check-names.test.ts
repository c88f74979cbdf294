/** The "Check names" box on golden lists: matched, missing, double and foreign names, and the spelling a list suggests. */
import { describe, expect, it } from 'vitest';
import { checkNames, parseNames, suggestNames } from './check-names';
import { contextOf, goldenNames, planOf, type Depth } from './golden-plans';
import type { NamePresetId } from './names';
import { EXPORT_TARGETS, findTarget } from './targets';

const plan = planOf('B', 12, ({ id }, i) => (id.startsWith('h.1.') || i % 7 === 0 ? 'bf16' : 'nvfp4'));
const { graph } = contextOf(12);
const list = (preset: NamePresetId, depth: Depth): string => goldenNames(preset, depth).join('\n');
const check = (id: string, pasted: string, context = contextOf(12)) => checkNames(pasted, findTarget(id)!, plan, context)!;

describe('checkNames', () => {
  it.each(['te-debug', 'te-factory', 'megatron', 'modelopt', 'model-explorer', 'torchao'])('finds every layer of %s in the list of its model', (id) => {
    const target = findTarget(id)!;
    const result = check(id, list(target.preset!, 12));
    expect(result).toMatchObject({ isGood: true, missing: [], double: [], foreign: [] });
    expect(result.matched).toHaveLength(48);
    expect(result.sentence).toBe(`matched 48 of 48, ${goldenNames(target.preset!, 12).length - 48} other names`);
  });

  it('has nothing to check in files without layer names', () => {
    expect(EXPORT_TARGETS.filter((target) => checkNames('x', target, plan, contextOf(12)) === null).map(({ id }) => id)).toEqual(['allocation', 'csv']);
  });

  it('says what another spelling, or a list cut short, leaves unmatched', () => {
    expect(check('te-debug', list('te-unfused', 12))).toMatchObject({ isGood: false, sentence: 'matched 36 of 48, 12 of the plan are not in the list, 63 other names' });
    const cut = goldenNames('te', 12).filter((name) => !name.includes('.11.'));
    expect(check('te-debug', cut.join('\n')).missing).toEqual(['self_attention.layernorm_linear_qkv', 'self_attention.proj', 'layernorm_mlp.fc1', 'layernorm_mlp.fc2'].map((rest) => `transformer_layer.11.${rest}`));
    expect(check('te-debug', '')).toMatchObject({ isGood: false, matched: [], sentence: 'matched 0 of 48, 48 of the plan are not in the list' });
  });

  it('names what is matched twice: a name that two modules have, or that two layers of the plan share', () => {
    const again = 'transformer_layer.3.layernorm_mlp.fc1';
    expect(check('te-debug', `${list('te', 12)}\n${again}`)).toMatchObject({ isGood: false, double: [again], sentence: 'matched 47 of 48, 1 matched twice, 51 other names' });
    const rules = [{ pattern: 'h\\.(\\d+)\\.(attn|mlp)\\.(\\w+)', name: 'block.$1.$3' }];
    const shared = check('te-debug', 'block.3.c_proj\nblock.3.c_fc', { ...contextOf(12), names: { rules } });
    expect(shared).toMatchObject({ isGood: false, matched: ['block.3.c_fc'], double: ['block.3.c_proj'] });
  });

  it('names layers that a glob takes and the plan does not have', () => {
    expect(check('megatron', list('megatron', 48))).toMatchObject({ isGood: false });
    expect(check('megatron', list('megatron', 48)).foreign).toHaveLength(4 * 36);
    expect(check('te-debug', list('te', 48))).toMatchObject({ isGood: true, foreign: [] });
  });
});

describe('parseNames', () => {
  it('takes lines, Python lists and state dictionaries', () => {
    const names = ['transformer.h.0.attn.c_attn', 'lm_head'];
    for (const text of [names.join('\n'), `['${names.join("', '")}']`, `"${names.join('",\r\n  "')}",`, `${names[0]}.weight\n${names[0]}.bias\nlm_head.weight`]) expect(parseNames(text)).toEqual(names);
    expect(parseNames(' \n ')).toEqual([]);
    expect(parseNames('a.b\na.b')).toEqual(['a.b', 'a.b']);
  });
});

describe('suggestNames', () => {
  it.each(['hf-gpt2', 'te', 'te-unfused', 'te-attributes', 'te-documents', 'megatron'] as const)('knows the spelling %s from its list', (preset) => {
    expect(suggestNames(list(preset, 12), graph)).toMatchObject({ matched: 48, layers: 48, preset });
  });

  it('reads the root off the list, and then every layer matches', () => {
    const pasted = goldenNames('hf-gpt2', 12).map((name) => `module.model.${name}`).join('\n');
    const { preset, root, ...counts } = suggestNames(pasted, graph)!;
    expect({ preset, root, counts }).toEqual({ preset: 'hf-gpt2', root: 'module.model.transformer.h.{layer}', counts: { matched: 48, layers: 48 } });
    expect(check('modelopt', pasted, { ...contextOf(12), names: { preset, root } }).isGood).toBe(true);
  });

  it('suggests nothing for other models', () => {
    expect(suggestNames('model.layers.0.self_attn.q_proj\nmodel.layers.1.mlp.gate_proj', graph)).toBeNull();
  });
});
