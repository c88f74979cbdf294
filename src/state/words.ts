/** Words that labels, notices and panels share, so that a format and a count read the same everywhere. */
import type { SiteFormat } from '../graph/policy';

export const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
export const formatName = (format: SiteFormat): string => (format === 'bf16' ? 'BF16' : format.toUpperCase());
