/**
 * How much room a text may take, without a browser to ask: advance widths of the widest common answer to `sans-serif`.
 * A figure is laid out for the widest font, so that no label leaves its place whichever font a reader's program has.
 */

/** Per thousand of the size, space to tilde: the larger of DejaVu Sans 2.37 and Liberation Sans (the metrics of Arial and Helvetica). */
const WIDTHS = [
  318, 401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361, 318, 337, 637, 637, 637, 637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 557, 1016, 685,
  687, 723, 771, 667, 611, 778, 752, 295, 500, 667, 558, 863, 749, 788, 667, 788, 723, 667, 611, 732, 685, 989, 686, 667, 686, 391, 337, 391, 838, 557, 500, 613, 635, 550, 635,
  616, 353, 635, 634, 278, 278, 580, 278, 975, 634, 612, 635, 635, 412, 521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838,
] as const;
/** Beyond ASCII: letters and signs of the page's own words, then ideographs and emoji. */
const WIDE = 1030;
const WIDEST = 1400;
/** Bold capitals are up to a quarter wider. */
const BOLD = 1.2;

/** Units that a text of a size takes at most. */
export function textWidth(text: string, size: number, bold = false): number {
  let sum = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    sum += WIDTHS[code - 32] ?? (code < 0x1100 || (code >= 0x2000 && code < 0x2600) ? WIDE : WIDEST);
  }
  return (sum / 1000) * size * (bold ? BOLD : 1);
}

/** The text, or as much of its beginning as fits with an ellipsis. */
export function fitText(text: string, size: number, room: number, bold = false): string {
  if (textWidth(text, size, bold) <= room) return text;
  const characters = [...text];
  while (characters.length > 0 && textWidth(`${characters.join('')}…`, size, bold) > room) characters.pop();
  return `${characters.join('').trimEnd()}…`;
}

/** Words in as few lines as they need, those of about one length; a word longer than a line is cut. */
export function wrapText(text: string, size: number, room: number): string[] {
  let lines = fillLines(text, size, room);
  for (let narrower = room - size; lines.length > 1; narrower -= size) {
    const next = fillLines(text, size, narrower);
    if (next.length > lines.length || next.some((line) => line.endsWith('…'))) break;
    lines = next;
  }
  return lines;
}

function fillLines(text: string, size: number, room: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && textWidth(longer, size) <= room) lines[lines.length - 1] = longer;
    else lines.push(fitText(word, size, room));
  }
  return lines;
}

/**
 * A text that any XML reader and any renderer takes: control characters and lone surrogates (which XML forbids) become
 * U+FFFD, line breaks spaces, and marks that turn the writing direction of what follows go.
 */
export function plainText(text: string): string {
  return text
    .replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, '')
    .replace(/[\t\n\r]+/g, ' ')
    .replace(/[\ud800-\udfff\ufffe\uffff]|\p{Cc}/gu, '\ufffd');
}
