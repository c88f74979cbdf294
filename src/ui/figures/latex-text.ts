/** What both LaTeX files need: names that print as they are, and where the figures come from. */
import type { CostAxis } from '../charts/cost-axis';
import type { FigureSource } from './figure-types';
import { plainText } from './text-width';

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}', '{': '\\{', '}': '\\}', $: '\\$', '&': '\\&', '%': '\\%', '#': '\\#', _: '\\_', '~': '\\textasciitilde{}', '^': '\\textasciicircum{}',
  '"': "{''}", '<': '\\textless{}', '>': '\\textgreater{}', '|': '\\textbar{}', '`': '\\textasciigrave{}', "'": '\\textquotesingle{}', '°': '\\textdegree{}', '±': '\\textpm{}', '−': '\\textminus{}', '…': '\\ldots{}', '-': '{-}',
};

/** Any text as LaTeX that prints it; a character beyond ASCII as its code point, which every engine and font can set. */
export function latexText(text: string): string {
  return [...plainText(text)].map((c) => ESCAPES[c] ?? (/[ -~]/.test(c) ? c : `[U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`)).join('');
}

/** Comment lines: where the figures come from. */
export function header({ model, recipe, plan, planHash, manifest, device, data, note }: FigureSource, needs: string): string[] {
  return [
    `Bendscope: ${model}, ${recipe}, plan ${plan} ${planHash ?? ''}`, `manifest ${manifest ?? 'unknown'}`, `${device === null ? 'not measured' : `measured on ${device}`}; ${data}`, ...(note === null ? [] : [note]), needs,
  ].map((line) => `% ${plainText(line)}`);
}

/** A cost as it is read: per cent, or bits. */
export const readCost = (cost: number, { unit }: CostAxis): number => (unit === '%' ? 100 * cost : cost);
