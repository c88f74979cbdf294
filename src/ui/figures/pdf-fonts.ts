/**
 * The font of PDF figures: Arimo (SIL Open Font License), whose letters are as wide as those of Arial and Helvetica, in the
 * pieces in which it is served, so that a page of ASCII loads 15 KB. A character that no piece has is shown as U+FFFD.
 */
import cyrillicBold from '@fontsource/arimo/files/arimo-cyrillic-700-normal.woff?url';
import cyrillic from '@fontsource/arimo/files/arimo-cyrillic-400-normal.woff?url';
import greekBold from '@fontsource/arimo/files/arimo-greek-700-normal.woff?url';
import greek from '@fontsource/arimo/files/arimo-greek-400-normal.woff?url';
import latinBold from '@fontsource/arimo/files/arimo-latin-700-normal.woff?url';
import latin from '@fontsource/arimo/files/arimo-latin-400-normal.woff?url';
import latinExtBold from '@fontsource/arimo/files/arimo-latin-ext-700-normal.woff?url';
import latinExt from '@fontsource/arimo/files/arimo-latin-ext-400-normal.woff?url';
import { BendscopeError } from '../../base/errors';

export interface FontPart {
  readonly name: string;
  /** Address of the regular and the bold file. */
  readonly urls: readonly [string, string];
  /** First and last code points of what its files have glyphs for. */
  readonly ranges: readonly (readonly [number, number])[];
}

export const FONT_PARTS: readonly [FontPart, ...FontPart[]] = [
  {
    name: 'latin', urls: [latin, latinBold],
    ranges: [
      [0x20, 0x7e], [0xa0, 0xff], [0x131, 0x131], [0x152, 0x153], [0x2013, 0x2014], [0x2018, 0x201a], [0x201c, 0x201e], [0x2022, 0x2022], [0x2026, 0x2026], [0x2032, 0x2033],
      [0x2039, 0x203a], [0x20ac, 0x20ac], [0x2122, 0x2122], [0x2191, 0x2191], [0x2193, 0x2193], [0x2212, 0x2212], [0xfffd, 0xfffd],
    ],
  },
  { name: 'latin-ext', urls: [latinExt, latinExtBold], ranges: [[0x100, 0x130], [0x132, 0x151], [0x154, 0x2ba]] },
  { name: 'greek', urls: [greek, greekBold], ranges: [[0x370, 0x377], [0x37a, 0x37f], [0x384, 0x38a], [0x38c, 0x38c], [0x38e, 0x3a1], [0x3a3, 0x3ff]] },
  { name: 'cyrillic', urls: [cyrillic, cyrillicBold], ranges: [[0x400, 0x45f], [0x490, 0x491], [0x2116, 0x2116]] },
];

/** Whether a part has the character. */
export function covers({ ranges }: FontPart, character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return ranges.some(([first, last]) => code >= first && code <= last);
}

export type LoadFont = (part: FontPart, bold: boolean) => Promise<Uint8Array>;

/** From where the page came from. Throws E-EXP-04 if the host does not give it. */
export const fetchFont: LoadFont = async ({ name, urls }, bold) => {
  const answer = await fetch(urls[bold ? 1 : 0]);
  if (!answer.ok) throw new BendscopeError('E-EXP-04', `PDF: expected the font (${name}), got ${answer.status} ${answer.statusText}`, 'Check the connection and try again, or save the SVG.');
  return new Uint8Array(await answer.arrayBuffer());
};
