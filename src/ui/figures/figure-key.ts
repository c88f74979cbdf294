/** What stands below a plot: the key, flowing from left to right in as many lines as it needs, and notes in words. */
import { label, SMALL, type Inks, type Shape } from './drawing';
import { textWidth, wrapText } from './text-width';

export interface KeyEntry {
  /** Drawn from `x` on, around the height `middle`; null for words alone. */
  readonly swatch: { readonly width: number; shapes(x: number, middle: number): readonly Shape[] } | null;
  readonly words: string;
}

const KEY_LINE = 11;
const GAP = 9;

/** Shapes from `top` down between `left` and `right`, and the height they took. */
export function flowKey(entries: readonly KeyEntry[], { left, right, top }: { readonly left: number; readonly right: number; readonly top: number }, inks: Inks): { readonly shapes: Shape[]; readonly height: number } {
  const shapes: Shape[] = [];
  let [x, line] = [left, 0];
  for (const { swatch, words } of entries) {
    const indent = swatch === null ? 0 : swatch.width + 3;
    const isTooLong = indent + textWidth(words, SMALL) > right - left;
    if (x > left && (isTooLong || x + indent + textWidth(words, SMALL) > right)) [x, line] = [left, line + 1];
    const lines = isTooLong ? wrapText(words, SMALL, right - left - indent) : [words];
    if (swatch !== null) shapes.push(...swatch.shapes(x, top + (line + 0.5) * KEY_LINE));
    lines.forEach((text, i) => shapes.push(label(x + indent, top + (line + i + 0.5) * KEY_LINE, text, inks.ink)));
    line += lines.length - 1;
    x += indent + Math.max(...lines.map((text) => textWidth(text, SMALL))) + GAP;
  }
  return { shapes, height: entries.length === 0 ? 0 : (line + 1) * KEY_LINE };
}

/** A note as lines of text. */
export const words = (text: string): KeyEntry => ({ swatch: null, words: text });
