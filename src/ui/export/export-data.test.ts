/** What the Export drawer's rows say, and that its CSV holds what the page knows of each cell. */
import { describe, expect, it } from 'vitest';
import type { NameCheck } from '../../allocate/exports/check-names';
import { findTarget } from '../../allocate/exports/targets';
import { presetPlan, presets } from '../../allocate/plan';
import { gpt2Graph } from '../../models/gpt2';
import { sitesOf } from '../../state';
import { tableFactsOf } from '../../state/table-facts';
import { measured, shownWith } from '../shown-fixture';
import { firstLines, mappingOf, OWN_NAMES, partsOf, rootFault, rootHint, savedWords, sentenceOf } from './export-data';

const target = (id: string) => findTarget(id)!;
const check = (part: Partial<NameCheck>): NameCheck => ({ matched: [], missing: [], unmatched: [], double: [], foreign: [], isGood: false, sentence: 'matched 1 of 2', ...part });

describe('layer names', () => {
  it('are each target’s own until something is chosen', () => {
    expect(mappingOf(target('te-debug'), OWN_NAMES)).toEqual({ preset: 'te' });
    expect(mappingOf(target('megatron'), { preset: 'te-unfused', root: '' })).toEqual({ preset: 'te-unfused' });
    expect(mappingOf(target('modelopt'), { preset: null, root: 'm.{layer}' })).toEqual({ preset: 'hf-gpt2', root: 'm.{layer}' });
    for (const id of ['csv', 'allocation']) expect(mappingOf(target(id), { preset: 'te', root: 'm.{layer}' })).toBeUndefined();
  });

  it('need the number of the block in a root', () => {
    expect(rootFault(OWN_NAMES)).toBeNull();
    expect(rootFault({ preset: null, root: 'module.h.{layer}' })).toBeNull();
    expect(rootFault({ preset: null, root: 'module.h' })).toMatch(/^Write \{layer\} where/);
    expect([rootHint(OWN_NAMES), rootHint({ preset: 'megatron', root: '' })]).toEqual(['as each spelling has it', 'decoder.layers.{layer}']);
  });

  it('that differ are told in parts, and when a file is saved all the same', () => {
    expect(partsOf(check({ missing: ['a'], foreign: ['b'] })).map(({ title, names }) => [title, ...names])).toEqual([['Of the plan, not in your list', 'a'], ['Matched, not of the plan', 'b']]);
    expect(savedWords('f.yaml', null)).toBe('Saved f.yaml.');
    expect(savedWords('f.yaml', check({ isGood: true }))).toBe('Saved f.yaml.');
    expect(savedWords('f.yaml', check({}))).toBe('Saved f.yaml, though its names differ from your list (E-EXP-02): matched 1 of 2.');
  });
});

it('lines, words and file names', () => {
  expect(firstLines('a\r\nb\r\nc\r\n', 2)).toEqual({ text: 'a\nb', more: 1 });
  expect(firstLines('a\n', 40)).toEqual({ text: 'a', more: 0 });
  expect(sentenceOf('torchao Float8 training has no nvfp4', target('torchao-float8'))).toBe('torchao Float8 training has no nvfp4.');
  expect(sentenceOf('nothing low of the plan would be left', target('torchao-float8'))).toBe('Nothing low of the plan would be left.');
});

it('the CSV of the page has ranks, what was measured here, scores and further formats', () => {
  const graph = gpt2Graph({ model: 'tiny', layers: 1, width: 16, heads: 2, positions: 8, vocabulary: 32, eps: 1e-5 });
  const [first, second] = sitesOf(graph, 'nvfp4').map(({ id }) => id) as [string, string];
  const shown = shownWith({ graph, modelName: 'tiny', modelSha256: 'sha256:m' }, { sites: { [first]: measured(1), [second]: measured(3) }, measuredHere: new Set([second]), scores: { [first]: { firstOrder: 0.25, snip: 0.5 } } });
  const table = tableFactsOf({ ...shown, others: { mxfp8: { [first]: measured(0.125) } } });
  const plan = presetPlan(presets('nvfp4')[0]!, sitesOf(graph, 'nvfp4'), 'nvfp4');
  const { text } = target('csv').render(plan, { graph, modelSha256: 'sha256:m', recipe: 'nvfp4', options: {}, facts: { sites: shown.sites, floor: null, provenance: null, joint: {} }, table });
  const [head = [], ...rows] = text.trimEnd().split('\r\n').map((line) => line.split(','));
  const row = (id: string) => Object.fromEntries((rows.find(([site]) => site === id) ?? []).map((value, i) => [head[i], value]));
  expect(row(first)).toMatchObject({ measured_here: 'false', rank: '2', angle_deg: '1', first_order: '0.25', snip: '0.5', angle_deg_mxfp8: '0.125', left_out_takes_away_deg: '' });
  expect(row(second)).toMatchObject({ measured_here: 'true', rank: '1', first_order: '', angle_deg_mxfp8: '' });
});
