/** The formats that brushes and keys can give a cell: BF16 and what the solver may choose, highest precision first. */
import type { SiteFormat } from '../../graph/policy';
import { formatName, lowFormatsOf, type Shown, type ViewState } from '../../state';
import type { Mark } from '../charts/heatmap';
import { markOf } from './grid-model';

export type Brush = ViewState['brush'];
type Offering = Pick<Shown, 'recipe' | 'second' | 'options'>;

/** Highest precision first. */
export function offeredFormats(shown: Offering): readonly SiteFormat[] {
  return ['bf16', ...lowFormatsOf(shown)];
}

/** What a brush paints; null: none is in hand, or the second format has gone. */
export function brushFormat(brush: Brush, { recipe, second }: Pick<Shown, 'recipe' | 'second'>): SiteFormat | null {
  return brush === 'high' ? 'bf16' : brush === 'low' ? recipe : brush === 'second' ? second : null;
}

/** The offered format with a letter, the recipe's own first; null where none has it. */
export function formatMarked(shown: Offering, mark: Mark): SiteFormat | null {
  if (markOf(shown.recipe) === mark) return shown.recipe;
  return offeredFormats(shown).find((format) => markOf(format) === mark) ?? null;
}

/** One format cheaper (-1) or dearer (+1) than another, the same at the ends; one that is not offered steps to the nearest end. */
export function steppedFormat(shown: Offering, format: SiteFormat, by: -1 | 1): SiteFormat {
  const offered = offeredFormats(shown);
  const at = offered.indexOf(format);
  return offered[Math.min(offered.length - 1, Math.max(0, at - by))] ?? format;
}

/** Letter of a format on a brush, or its name where another offered format has the same letter. */
export function brushLabel(shown: Offering, format: SiteFormat): string {
  const mark = markOf(format);
  return offeredFormats(shown).filter((other) => markOf(other) === mark).length > 1 ? formatName(format) : mark;
}
