/**
 * What the rows of the Export drawer say: layer names as chosen, the badge's tone, a check of names in parts, the first lines
 * of a file. Pure; the targets are allocate/exports, reached through the actions.
 */
import type { NameCheck } from '../../allocate/exports/check-names';
import type { ExportTarget, Fit } from '../../allocate/exports/export-target';
import { NAME_PRESETS, type NameMapping, type NamePresetId } from '../../allocate/exports/names';

export interface NamesChoice {
  /** null: each target's own spelling. */
  readonly preset: NamePresetId | null;
  /** What a block is called, with `{layer}` for its number; '': as the spelling has it. */
  readonly root: string;
}

export const OWN_NAMES: NamesChoice = { preset: null, root: '' };

/** What the layers are called in a target's file; none where it holds no layer names. */
export function mappingOf(target: ExportTarget, { preset, root }: NamesChoice): NameMapping | undefined {
  const spelling = preset ?? target.preset;
  if (target.selectors === null || spelling === null) return undefined;
  return root === '' ? { preset: spelling } : { preset: spelling, root };
}

/** What a block is called where nothing is typed. */
export function rootHint({ preset }: NamesChoice): string {
  return preset === null ? 'as each spelling has it' : NAME_PRESETS[preset].root;
}

/** Why a root cannot be right, or null. */
export function rootFault({ root }: NamesChoice): string | null {
  return root === '' || root.includes('{layer}') ? null : 'Write {layer} where the number of the block stands: module.transformer.h.{layer}';
}

export type Tone = 'ok' | 'warn' | 'error';

export const BADGE_TONES: Readonly<Record<Fit['badge'], Tone>> = { exact: 'ok', rounded: 'warn', cannot: 'error' };

/** Reasons and warnings are written to stand in a list; here each stands alone. A library is called as it calls itself. */
export function sentenceOf(words: string, { label }: Pick<ExportTarget, 'label'>): string {
  const [library = ''] = label.split(' ');
  return `${words.startsWith(library) ? words : words.charAt(0).toUpperCase() + words.slice(1)}.`;
}

export interface NamesPart {
  readonly title: string;
  readonly names: readonly string[];
}

/** The names of a check that are not simply matched, with what is wrong about them; parts without names are left out. */
export function partsOf({ missing, double, foreign, unmatched }: NameCheck): readonly NamesPart[] {
  return [
    { title: 'Of the plan, not in your list', names: missing },
    { title: 'Matched twice', names: double },
    { title: 'Matched, not of the plan', names: foreign },
    { title: 'Other names, left alone', names: unmatched },
  ].filter(({ names }) => names.length > 0);
}

/** What the drawer says after a file went to disk, names that differ included. */
export function savedWords(fileName: string, check: NameCheck | null): string {
  return check === null || check.isGood ? `Saved ${fileName}.` : `Saved ${fileName}, though its names differ from your list (E-EXP-02): ${check.sentence}.`;
}

/** The first `most` lines, and how many more there are. */
export function firstLines(text: string, most: number): { readonly text: string; readonly more: number } {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  return { text: lines.slice(0, most).join('\n'), more: Math.max(0, lines.length - most) };
}
