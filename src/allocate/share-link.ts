/**
 * A complete plan in a link (ux.md 6.9): `#v=1&m=<model>&d=<data>&s=<seed>&r=<recipe>&x=<switches>&p=<plan>`, where p
 * holds 2 bits a site as base64url without padding, sites in sites(graph) order: every GEMM pass (the head's too) for a
 * pass recipe, every output for op groups. 0 is BF16, 1 the recipe's format, 2 the second one, which `&y=<scheme>` then
 * names, 3 nothing. x is a list of switches: `rht,sr,seed.7`, `out.mx`. Reading is two steps,
 * because the sites are known only once the model is open: the header says what is needed, the plan is unpacked afterwards.
 * A link is input from strangers: everything it can hold wrongly has a named error, and nothing is applied in part.
 */
import { BendscopeError } from '../base/errors';
import { PASS_SCHEMES, RECIPE_NAMES } from '../graph/policy';
import type { PassScheme, PolicyOptions, RecipeName, SiteFormat, SiteId } from '../graph/policy';
import { OPTION_NAMES, RECIPES, schemeOptions, SWITCHES } from '../graph/recipes';
import { sites, type Site } from '../graph/sites';
import type { Graph } from '../graph/types';
import { isRecipeName, validateOptions } from '../graph/validate';
import { formatOf } from './cost';
import type { Formats } from './cost';

const VERSION = 1;

export interface SharedLink {
  readonly model: string;
  readonly data: string;
  readonly seed: number;
  readonly recipe: RecipeName;
  /** Of the recipe and the second format. */
  readonly options: PolicyOptions;
  /** The plan's second low format, null where it has none. */
  readonly second: PassScheme | null;
  /** The packed formats; sharedFormats() unpacks them for a graph. */
  readonly packed: string;
}

const KEYS = ['v', 'm', 'd', 's', 'r', 'x', 'p'] as const;
const RETRY = 'Ask for the link again, or import the allocation file instead.';

/**
 * The fragment of a link, `#` included. Sites that a recipe never lowers (the head) are packed as BF16. Throws E-BUG-02 for
 * a site in a format that is neither the recipe's nor the second.
 */
export function shareLink(formats: Formats, graph: Graph, link: Omit<SharedLink, 'packed' | 'model'>): string {
  const low: readonly SiteFormat[] = ['bf16', ...lowOf(link)];
  const codeOf = (id: SiteId): number => {
    const code = low.indexOf(formatOf(formats, id));
    if (code < 0) throw new BendscopeError('E-BUG-02', `link: expected ${id} in ${low.join(' or ')}, got ${formatOf(formats, id)}`);
    return code;
  };
  const switches = Object.entries(schemeOptions(lowOf(link), link.options)).map(([name, value]) => (value === true ? name : `${name}.${String(value)}`)).join(',');
  const values: Readonly<Record<(typeof KEYS)[number], string>> = {
    v: String(VERSION), m: graph.model, d: link.data, s: String(link.seed), r: link.recipe, x: switches,
    p: packBits(sharedSites(graph, link.recipe).map(({ id, paintable }) => (paintable ? codeOf(id) : 0))),
  };
  const second = link.second === null ? '' : `&y=${link.second}`;
  return `#${KEYS.map((key) => `${key}=${encodeURIComponent(values[key])}`).join('&')}${second}`;
}

/** The low formats of a link's plan, in the order of their codes from 1. */
function lowOf({ recipe, second }: Pick<SharedLink, 'recipe' | 'second'>): readonly RecipeName[] {
  return second === null ? [recipe] : [recipe, second];
}

/**
 * What a fragment asks for; null when it shares nothing (empty, or view keys only). Other keys are left to the page.
 * Throws E-VER-01 (newer version), E-PLAN-03 (unknown recipe or second format, or a switch they have not), E-PLAN-06 (a switch out of its
 * range), E-LINK-01 (damaged).
 */
export function parseShareLink(fragment: string): SharedLink | null {
  const found = new URLSearchParams(fragment.replace(/^#/, ''));
  if (!found.has('v') && !found.has('p')) return null;
  const get = (key: (typeof KEYS)[number]): string => {
    const all = found.getAll(key);
    if (all.length !== 1) throw damaged(`expected ${key}= once, got it ${all.length} times`);
    return all[0]!;
  };
  const version = get('v');
  if (!/^[1-9]\d{0,8}$/.test(version)) throw damaged(`expected a version, got v=${show(version)}`);
  if (Number(version) > VERSION) throw new BendscopeError('E-VER-01', `Saved with a newer version (link ${version}): not opened. This build reads link ${VERSION}.`, 'Update the app.');
  const seed = get('s');
  if (!/^(0|[1-9]\d{0,14})$/.test(seed)) throw damaged(`expected a seed, got s=${show(seed)}`);
  const recipe = get('r');
  if (!isRecipeName(recipe)) throw new BendscopeError('E-PLAN-03', `link: expected a recipe (${RECIPE_NAMES.join(', ')}), got ${show(recipe)}`, 'Update the app if the link is from a newer one.');
  const second = found.has('y') ? parseSecond(found.getAll('y'), recipe) : null;
  const options = parseSwitches(get('x'), lowOf({ recipe, second }));
  const [model, data, packed] = [get('m'), get('d'), get('p')];
  if (model === '' || data === '') throw damaged('expected the names of a model and a data set');
  if (!/^[A-Za-z0-9_-]*$/.test(packed)) throw damaged('the plan holds a character that base64url has not');
  return { model, data, seed: Number(seed), recipe, options, second, packed };
}

function parseSecond(all: readonly string[], recipe: RecipeName): PassScheme {
  if (all.length !== 1) throw damaged(`expected y= once, got it ${all.length} times`);
  const second = RECIPES[recipe].kind === 'pass' ? PASS_SCHEMES.find((scheme) => scheme === all[0] && scheme !== recipe) : undefined;
  if (second === undefined) throw new BendscopeError('E-PLAN-03', `link: expected a second format of passes beside ${recipe} (${PASS_SCHEMES.join(', ')}), got ${show(all[0] ?? '')}`, 'Update the app if the link is from a newer one.');
  return second;
}

function parseSwitches(text: string, low: readonly RecipeName[]): PolicyOptions {
  const known = OPTION_NAMES.filter((name) => low.some((scheme) => RECIPES[scheme].switches.includes(name)));
  const given: Record<string, unknown> = {};
  for (const part of text.split(',').filter((part) => part !== '')) {
    const [, word = part, value] = /^([^.]*)(?:\.(.*))?$/s.exec(part) ?? [];
    const name = known.find((option) => option === word);
    if (name === undefined) throw new BendscopeError('E-PLAN-03', `link: expected a switch of ${low.join(' or ')} (${known.join(', ') || 'it has none'}), got ${show(word)}`, 'Update the app if the link is from a newer one.');
    if (given[name] !== undefined) throw damaged(`expected the switch ${name} once`);
    given[name] = value === undefined ? true : SWITCHES[name].values === 'u32' && /^(0|[1-9]\d*)$/.test(value) ? Number(value) : value;
  }
  return schemeOptions(low, validateOptions(given, 'link'));
}

/** The sites whose codes a link of this recipe holds, in order. */
function sharedSites(graph: Graph, recipe: RecipeName): readonly Site[] {
  return sites(graph).filter((site) => site.kind === RECIPES[recipe].kind);
}

/**
 * The formats of a link on its open model, one for every paintable site.
 * Throws E-PLAN-01 when the graph is another model's and E-LINK-01 when the packed plan does not fit it.
 */
export function sharedFormats(link: SharedLink, graph: Graph): Formats {
  if (link.model !== graph.model) throw new BendscopeError('E-PLAN-01', `This plan was made for ${show(link.model)}; the open model is ${show(graph.model)}.`, `Open ${show(link.model)} first.`);
  const all = sharedSites(graph, link.recipe);
  const codes = unpackBits(link.packed, all.length);
  const known: readonly SiteFormat[] = ['bf16', ...lowOf(link)];
  const formats: Record<SiteId, SiteFormat> = {};
  all.forEach(({ id, paintable }, i) => {
    const format = known[codes[i]!];
    if (format === undefined || (format !== 'bf16' && !paintable)) throw damaged(`${id} has format ${codes[i]}, which a plan of ${lowOf(link).join(' and ')} has not`);
    if (paintable) formats[id] = format;
  });
  return formats;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** 2-bit codes -> base64url of whole bytes, the first code in the highest bits: 75 sites 26 characters, 147 sites 50, 123 outputs 42. */
function packBits(codes: readonly number[]): string {
  const bytes = new Uint8Array(Math.ceil(codes.length / 4));
  codes.forEach((code, i) => (bytes[i >> 2]! |= code << (6 - 2 * (i & 3))));
  const sextets = Array.from({ length: Math.ceil((bytes.length * 4) / 3) }, (_, i) => {
    const bit = 6 * i;
    const pair = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    return (pair >> (10 - (bit & 7))) & 63;
  });
  return sextets.map((sextet) => ALPHABET[sextet]).join('');
}

/** The inverse, strict: the one text that packBits gives for these codes. */
function unpackBits(text: string, count: number): number[] {
  const sextets = Array.from(text, (character) => ALPHABET.indexOf(character));
  const codes = Array.from({ length: count }, (_, i) => ((sextets[Math.floor(i / 3)] ?? 0) >> (4 - 2 * (i % 3))) & 3);
  const expected = Math.ceil((Math.ceil(count / 4) * 4) / 3);
  if (text.length !== expected) throw damaged(`expected a plan of ${expected} characters for ${count} sites, got ${text.length}`);
  if (packBits(codes) !== text) throw damaged('the plan has bits set beyond its last site');
  return codes;
}

function damaged(what: string): BendscopeError {
  return new BendscopeError('E-LINK-01', `The link is damaged: ${what}.`, RETRY);
}

/** A stranger's text, short enough to stand in a message. */
function show(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}
