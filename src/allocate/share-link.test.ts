/** Links: sizes of ux.md 6.9, round trip of any plan, and hostile input that must end in a named error. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BendscopeError } from '../base/errors';
import { gpt2Graph } from '../models/gpt2';
import { PASS_SCHEMES, type PassScheme, type RecipeName, type SiteFormat } from '../graph/policy';
import { recipeOptions, schemeOptions } from '../graph/recipes';
import { costedSites } from './cost';
import { formatsWhere } from './plan';
import { parseShareLink, shareLink, sharedFormats } from './share-link';

const graph = (model: string, layers: number) => gpt2Graph({ model, layers, width: 128, heads: 4, positions: 128, vocabulary: 1024, eps: 1e-5 });
const MINI = graph('gpt2-mini', 6);
const SITES = costedSites(MINI, 'nvfp4');
const OUTS = costedSites(MINI, 'fp8-out');
const HEADER = { data: 'moby-dick', seed: 7, recipe: 'nvfp4', options: {}, second: null } as const;
const LINK = shareLink(formatsWhere(SITES, () => false, 'nvfp4'), MINI, HEADER);

/** What reading a fragment and unpacking it for gpt2-mini ends in: the name of its error, or null. */
function errorOf(fragment: string): string | null {
  try {
    const link = parseShareLink(fragment);
    if (link !== null) sharedFormats(link, MINI);
    return null;
  } catch (thrown) {
    if (thrown instanceof BendscopeError && thrown.message !== '' && thrown.hint !== '') return thrown.name;
    throw thrown;
  }
}

describe('share link', () => {
  it.each([['gpt2-mini', 6, 26], ['gpt2', 12, 50], ['gpt2-medium', 24, 98], ['gpt2-large', 36, 146], ['gpt2-xl', 48, 194]])('%s: %i layers take %i characters', (model, layers, length) => {
    const link = shareLink({}, graph(model, layers), HEADER);
    expect(link).toBe(`#v=1&m=${model}&d=moby-dick&s=7&r=nvfp4&x=&p=${'A'.repeat(length)}`);
  });

  it('packs all block passes low as a known text, the head as BF16', () => {
    // 72 codes 01 fill 24 sextets with 010101 = V; the head's three codes and the padding are 0.
    expect(LINK).toBe(`#v=1&m=gpt2-mini&d=moby-dick&s=7&r=nvfp4&x=&p=${'V'.repeat(24)}AA`);
  });

  it('gives any plan back', () => {
    fc.assert(fc.property(fc.array(fc.boolean(), { minLength: 72, maxLength: 72 }), fc.nat(2 ** 31), fc.boolean(), (high, seed, weights1d) => {
      const formats = formatsWhere(SITES, (site) => high[SITES.indexOf(site)] === true, 'nvfp4');
      const link = parseShareLink(shareLink(formats, MINI, { ...HEADER, seed, options: { weights1d } }))!;
      expect(link).toMatchObject({ model: 'gpt2-mini', data: 'moby-dick', seed, recipe: 'nvfp4', options: weights1d ? { weights1d } : {} });
      expect(sharedFormats(link, MINI)).toEqual(formats);
    }));
  });

  it.each([['gpt2-nano', 2, 8], ['gpt2-mini', 6, 22], ['gpt2', 12, 42]])('%s: op groups of %i layers take %i characters', (model, layers, length) => {
    const link = shareLink({}, graph(model, layers), { ...HEADER, recipe: 'fp8-out' });
    expect(link).toBe(`#v=1&m=${model}&d=moby-dick&s=7&r=fp8-out&x=&p=${'A'.repeat(length)}`);
  });

  it('gives any plan of any recipe back, with its switches', () => {
    const options = fc.record({
      weights1d: fc.boolean(), rht: fc.boolean(), sr: fc.boolean(), seed: fc.nat(2 ** 32 - 1), pow2: fc.boolean(), floor: fc.boolean(), e5m2Grad: fc.boolean(),
      out: fc.constantFrom('tensor' as const, 'block' as const, 'mx' as const),
    });
    fc.assert(fc.property(fc.constantFrom<RecipeName[]>(...PASS_SCHEMES, 'fp8-out'), options, fc.infiniteStream(fc.boolean()), (recipe, given, high) => {
      const formats = formatsWhere(recipe === 'fp8-out' ? OUTS : SITES, () => high.next().value === true, recipe);
      const link = parseShareLink(shareLink(formats, MINI, { ...HEADER, recipe, options: given }))!;
      expect(link).toMatchObject({ recipe, options: recipeOptions(recipe, given) });
      expect(Object.keys(link.options)).toHaveLength(Object.keys(recipeOptions(recipe, given)).length);
      expect(sharedFormats(link, MINI)).toEqual(formats);
    }));
  });

  it('gives plans of two low formats back, with the switches of both', () => {
    const two = fc.tuple(fc.constantFrom(...PASS_SCHEMES), fc.constantFrom(...PASS_SCHEMES)).filter(([a, b]) => a !== b);
    const options = fc.record({ weights1d: fc.boolean(), rht: fc.boolean(), pow2: fc.boolean(), floor: fc.boolean(), e5m2Grad: fc.boolean() });
    fc.assert(fc.property(two, options, fc.array(fc.nat(2), { minLength: 72, maxLength: 72 }), ([recipe, second]: [PassScheme, PassScheme], given, codes) => {
      const formats = Object.fromEntries(SITES.map(({ id }, i): [string, SiteFormat] => [id, (['bf16', recipe, second] as const)[codes[i]!]!]));
      const link = parseShareLink(shareLink(formats, MINI, { ...HEADER, recipe, second, options: given }))!;
      expect(link).toMatchObject({ recipe, second, options: schemeOptions([recipe, second], given) });
      expect(Object.keys(link.options)).toHaveLength(Object.keys(schemeOptions([recipe, second], given)).length);
      expect(sharedFormats(link, MINI)).toEqual(formats);
    }));
    // 01 for NVFP4 and 10 for MXFP8, as pairs in sextets: 01 10 10 = a.
    const formats = Object.fromEntries(SITES.map(({ id }, i): [string, SiteFormat] => [id, i % 3 === 0 ? 'nvfp4' : 'mxfp8']));
    expect(shareLink(formats, MINI, { ...HEADER, second: 'mxfp8' })).toBe(`#v=1&m=gpt2-mini&d=moby-dick&s=7&r=nvfp4&x=&p=${'a'.repeat(24)}AA&y=mxfp8`);
    expect(() => shareLink(formats, MINI, HEADER)).toThrow(BendscopeError);
  });

  it('writes switches as text that is read the same', () => {
    const text = (recipe: RecipeName, options: object) => decodeURIComponent(/x=([^&]*)/.exec(shareLink({}, MINI, { ...HEADER, recipe, options }))![1]!);
    expect(text('nvfp4', { rht: true, sr: true, seed: 4294967295 })).toBe('rht,sr,seed.4294967295');
    expect(text('fp8-out', { out: 'mx', rht: true })).toBe('out.mx');
    expect(text('nvfp4', { weights1d: true })).toBe('weights1d');
  });

  it('opens links of earlier builds', () => {
    const old = parseShareLink(`#v=1&m=gpt2-mini&d=moby-dick&s=7&r=nvfp4&x=weights1d&p=${'V'.repeat(24)}AA`)!;
    expect(old).toMatchObject({ recipe: 'nvfp4', options: { weights1d: true } });
    expect(sharedFormats(old, MINI)).toEqual(formatsWhere(SITES, () => false, 'nvfp4'));
  });

  it('escapes names and leaves view keys to the page', () => {
    const odd = graph('my model & #1', 1);
    const fragment = `${shareLink({}, odd, { ...HEADER, data: 'a=b' })}&view=cell&sel=h.0`;
    expect(parseShareLink(fragment)).toMatchObject({ model: 'my model & #1', data: 'a=b' });
    expect(parseShareLink('')).toBeNull();
    expect(parseShareLink('#sel=h.0')).toBeNull();
  });
});

describe('share link: input from strangers', () => {
  const change = (from: string, to: string): string => LINK.replace(from, to);
  it.each([
    ['a newer version', change('v=1', 'v=2'), 'E-VER-01'],
    ['a version that is none', change('v=1', 'v=1e3'), 'E-LINK-01'],
    ['no version', change('v=1&', ''), 'E-LINK-01'],
    ['two plans', `${LINK}&p=AA`, 'E-LINK-01'],
    ['no plan', LINK.slice(0, LINK.indexOf('&p=')), 'E-LINK-01'],
    ['a cut plan', LINK.slice(0, -1), 'E-LINK-01'],
    ['a longer plan', `${LINK}A`, 'E-LINK-01'],
    ['a huge plan', `${LINK}${'A'.repeat(1e6)}`, 'E-LINK-01'],
    ['a character outside base64url', change('VV', 'V+'), 'E-LINK-01'],
    ['padding', `${LINK}==`, 'E-LINK-01'],
    ['a second low format that it does not name', change('VV', 'lV'), 'E-LINK-01'],
    ['an unknown second format', `${LINK}&y=int3`, 'E-PLAN-03'],
    ['the recipe as its own second format', `${LINK}&y=nvfp4`, 'E-PLAN-03'],
    ['op groups as a second format', `${LINK}&y=fp8-out`, 'E-PLAN-03'],
    ['a second format of op groups', `${shareLink({}, MINI, { ...HEADER, recipe: 'fp8-out' })}&y=mxfp8`, 'E-PLAN-03'],
    ['two second formats', `${LINK}&y=mxfp8&y=fp8`, 'E-LINK-01'],
    ['an empty second format', `${LINK}&y=`, 'E-PLAN-03'],
    ['a switch of neither format', `${change('x=', 'x=pow2')}&y=mxfp8`, 'E-PLAN-03'],
    ['a low head in the second format', `${LINK.replace(/AA$/, 'gA')}&y=mxfp8`, 'E-LINK-01'],
    ['the rejected code beside a second format', `${change('VV', '_V')}&y=mxfp8`, 'E-LINK-01'],
    ['the rejected code', change('VV', '_V'), 'E-LINK-01'],
    ['a low head', LINK.replace(/AA$/, 'QA'), 'E-LINK-01'],
    ['bits beyond the last site', LINK.replace(/AA$/, 'AB'), 'E-LINK-01'],
    ['another model', change('gpt2-mini', 'gpt2'), 'E-PLAN-01'],
    ['an unknown recipe', change('nvfp4', 'int3'), 'E-PLAN-03'],
    ['a recipe from Object.prototype', change('nvfp4', 'constructor'), 'E-PLAN-03'],
    ['an unknown switch', change('x=', 'x=fast'), 'E-PLAN-03'],
    ['a switch of another recipe', change('x=', 'x=floor'), 'E-PLAN-03'],
    ['a switch from Object.prototype', change('x=', 'x=constructor'), 'E-PLAN-03'],
    ['a switch of a recipe that has none', change('nvfp4&x=', 'fp8-block&x=rht'), 'E-PLAN-03'],
    ['a switch twice', change('x=', 'x=rht,rht'), 'E-LINK-01'],
    ['a flag with a value', change('x=', 'x=rht.1'), 'E-PLAN-06'],
    ['a seed without a value', change('x=', 'x=sr,seed'), 'E-PLAN-06'],
    ['a seed beyond 32 bits', change('x=', 'x=sr,seed.4294967296'), 'E-PLAN-06'],
    ['a seed in letters', change('x=', 'x=sr,seed.one'), 'E-PLAN-06'],
    ['an unknown scaling', change('nvfp4&x=', 'fp8-out&x=out.huge'), 'E-PLAN-06'],
    ['a plan of passes for op groups', change('nvfp4&x=', 'fp8-out&x='), 'E-LINK-01'],
    ['a negative seed', change('s=7', 's=-7'), 'E-LINK-01'],
    ['a huge seed', change('s=7', 's=99999999999999999999'), 'E-LINK-01'],
    ['no model', change('m=gpt2-mini', 'm='), 'E-LINK-01'],
    ['a broken escape', change('gpt2-mini', '%E0%A4%A'), 'E-PLAN-01'],
  ])('%s', (_what, fragment, name) => {
    expect(errorOf(fragment)).toBe(name);
  });

  it('never ends in an unnamed error, whatever is changed', () => {
    const character = fc.constantFrom(...'#&=vmdsrxp17AV_-.,+%<"\u0000é');
    fc.assert(fc.property(fc.nat(LINK.length), fc.nat(4), fc.array(character, { maxLength: 6 }), (at, removed, inserted) => {
      errorOf(LINK.slice(0, at) + inserted.join('') + LINK.slice(at + removed));
    }), { numRuns: 2000 });
    fc.assert(fc.property(fc.string(), (text) => void errorOf(text)));
  });
});
