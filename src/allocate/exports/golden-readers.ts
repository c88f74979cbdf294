/**
 * Test support: what an exported file makes of a list of layer names, by the rules of its target and from its text alone.
 * Written apart from the exporters; the same rules in Python are e2e/golden/exports/read_exports.py.
 */
import { parse } from 'yaml';
import { formatSiteId } from '../../graph/sites';
import { PASSES } from '../../graph/types';
import type { Plan } from '../plan';
import type { ExportContext, Fit } from './export-target';
import { nameLayers, type NamePresetId } from './names';
import { viewPlan } from './plan-view';
import { elementBits, type PassFormats } from './rounding';

/** Formats of a layer; null: nothing in the file names it. */
export type Reading = ReadonlyMap<string, PassFormats | null>;

type Triple = readonly [string, string, string];
const alike = (format: string): Triple => [format, format, format];

function reading(names: readonly string[], of: (name: string) => Triple | null): Reading {
  return new Map(names.map((name) => {
    const found = of(name);
    return [name, found && ({ fprop: found[0], dgrad: found[1], wgrad: found[2] } as PassFormats)];
  }));
}

interface TeSection {
  readonly enabled: boolean;
  readonly layers: { readonly layer_name_regex_pattern: string };
  readonly transformer_engine: { readonly DisableQuantizationGEMM: { readonly enabled: boolean; readonly gemms: readonly string[] } };
}

/** Sections by unanchored search; two that match are an error there. `recipe` is the low format of the run. */
function teDebug(text: string, names: readonly string[], recipe: string): Reading {
  const sections = Object.values(parse(text) as Record<string, TeSection>).filter((section) => section.enabled)
    .map((section) => ({ regex: new RegExp(section.layers.layer_name_regex_pattern), feature: section.transformer_engine.DisableQuantizationGEMM }));
  return reading(names, (name) => {
    const taking = sections.filter(({ regex }) => regex.test(name));
    if (taking.length > 1) throw new Error(`${name} is in ${taking.length} sections`);
    const [section] = taking;
    if (!section) return null;
    const { enabled, gemms } = section.feature;
    const of = (gemm: string): string => (enabled && gemms.includes(gemm) ? 'bf16' : recipe);
    return [of('fprop'), of('dgrad'), of('wgrad')];
  });
}

interface MegatronFile {
  readonly configs: Readonly<Record<string, { readonly training_recipe: Readonly<Record<string, string>> }>>;
  readonly matchers: Readonly<Record<string, { readonly config: string; readonly type: string; readonly pattern: string; readonly enabled: boolean }>>;
}
const MEGATRON: Readonly<Record<string, string>> = { nvfp4: 'nvfp4', mxfp8: 'mxfp8', tensorwise: 'fp8', blockwise: 'fp8-block' };

/** Ordered globs, the first enabled one wins; `*` stands for anything, dots too. */
function megatron(text: string, names: readonly string[]): Reading {
  const { configs, matchers } = parse(text) as MegatronFile;
  return reading(names, (name) => {
    const first = Object.values(matchers).find(({ enabled, pattern }) => enabled && fnmatch(name, pattern));
    if (!first) return null;
    const { fp4_quantization_recipe: fp4, fp8_quantization_recipe: fp8 } = configs[first.config]!.training_recipe;
    const word = fp4 ?? fp8;
    return alike(word === undefined ? 'bf16' : MEGATRON[word]!);
  });
}

/** Only what the files hold: text and `*`, by walking both strings. */
function fnmatch(name: string, glob: string): boolean {
  if (/[?[]/.test(glob)) throw new Error(`a glob of text and * was expected, got ${glob}`);
  const [head = '', ...parts] = glob.split('*');
  if (parts.length === 0) return name === glob;
  if (!name.startsWith(head)) return false;
  const tail = parts.pop() ?? '';
  let at = head.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.endsWith(tail) && name.length - tail.length >= at;
}

/** Dictionary rows `"name": ("fp8", "bf16", "fp8"),`. */
function table(text: string, names: readonly string[]): Reading {
  const rows = new Map<string, Triple>();
  for (const [, name = '', fprop = '', dgrad = '', wgrad = ''] of text.matchAll(/^ {4}"([^"]+)": \("([\w-]+)", "([\w-]+)", "([\w-]+)"\),$/gm)) {
    if (rows.has(name)) throw new Error(`${name} is a key twice`);
    rows.set(name, [fprop, dgrad, wgrad]);
  }
  return reading(names, (name) => rows.get(name) ?? null);
}

/** Pairs `("name", CONSTANT),`; constants are assigned above. */
function torchao(text: string, names: readonly string[]): Reading {
  const words = new Map<string, string>([['None', 'bf16']]);
  for (const [, constant = '', call = ''] of text.matchAll(/^([A-Z0-9_]+) = (\w+\(.*\))$/gm)) {
    words.set(constant, call.startsWith('NVFP4') ? 'nvfp4' : call.includes('float4_e2m1') ? 'mxfp4' : call.startsWith('MX') ? 'mxfp8' : call.includes('PerBlock') ? 'fp8-block' : 'fp8');
  }
  const rows = new Map<string, string | undefined>();
  for (const [, name = '', constant = ''] of text.matchAll(/^ {4}\("([^"]+)", (\w+)\),$/gm)) {
    if (rows.has(name)) throw new Error(`${name} is a key twice`);
    rows.set(name, words.get(constant));
  }
  return reading(names, (name) => {
    const word = rows.get(name);
    return word === undefined ? null : alike(word);
  });
}

/** Entries in order, later ones override; forward operands only. */
function modelopt(text: string, names: readonly string[]): Reading {
  const rows = [...text.matchAll(/^ {8}\{"quantizer_name": "([^"]+)", "(cfg|enable)": (\w+)\},$/gm)].map(([, pattern = '', , value = '']) => ({ pattern, value }));
  if (rows[0]?.pattern !== '*' || rows[0].value !== 'False') throw new Error('everything must be off first');
  if (rows.slice(1).some(({ pattern }) => /[*?[]/.test(pattern))) throw new Error('full names were expected');
  const values = new Map(rows.map(({ pattern, value }) => [pattern, value]));
  if (values.size !== rows.length) throw new Error('a quantizer is set twice');
  return reading(names, (name) => {
    const [value, input] = ['weight', 'input'].map((kind) => values.get(`${name}.${kind}_quantizer`));
    if (value !== input) throw new Error(`${name}: ${String(value)} and ${String(input)}`);
    return value === undefined ? null : [value === 'False' ? 'bf16' : value.toLowerCase(), 'bf16', 'bf16'];
  });
}

function modelExplorer(text: string, names: readonly string[]): Reading {
  const { results } = JSON.parse(text) as { readonly results: Readonly<Record<string, { readonly value: string }>> };
  return reading(names, (name) => {
    const found = /^fprop ([\w-]+), dgrad ([\w-]+), wgrad ([\w-]+)$/.exec(results[name]?.value ?? '');
    return found ? [found[1] ?? '', found[2] ?? '', found[3] ?? ''] : null;
  });
}

const READERS: Readonly<Record<string, (text: string, names: readonly string[], recipe: string) => Reading>> = {
  'te-debug': teDebug, megatron, 'te-factory': table, 'torchao-float8': table, torchao, modelopt, 'model-explorer': modelExplorer,
};

/** A file of the target `id` over a list of names; `recipe`: what the run trains in, for targets that leave it open. */
export function readExport(id: string, text: string, names: readonly string[], recipe: string): Reading {
  const reader = READERS[id];
  if (!reader) throw new Error(`no reader for ${id}`);
  return reader(text, names, recipe);
}

/** What is wrong with a reading of a plan's file; `fit` says which sites may be higher than the plan has them. */
export function readingFaults(found: Reading, plan: Plan, context: ExportContext, fit: Fit, preset: NamePresetId): string[] {
  const { layers } = viewPlan(plan, context);
  const { names } = nameLayers(layers, { preset });
  const rounded = new Set(fit.rounded);
  const expected = new Set(names.values());
  const faults = [...found].filter(([name, formats]) => formats !== null && !expected.has(name)).map(([name]) => `${name} is no layer of the plan`);
  for (const { node, formats } of layers) {
    const held = found.get(names.get(node) ?? '');
    if (!held) {
      faults.push(`${node} is not named`);
      continue;
    }
    for (const pass of PASSES) {
      const site = formatSiteId(node, pass);
      const isHigher = elementBits(held[pass]) > elementBits(formats[pass]);
      if (rounded.has(site) ? !isHigher : held[pass] !== formats[pass]) faults.push(`${site}: ${formats[pass]} became ${held[pass]}${rounded.has(site) ? ', said to be rounded up' : ''}`);
    }
  }
  return faults;
}
