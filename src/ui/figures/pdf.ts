/**
 * A drawing as a PDF of one page, exactly its size, the same shapes as the SVG. Text stays text: the font is embedded as a
 * subset, because publishers refuse files without their fonts, and `\includesvg` needs a converter (ux.md 4.3). Imported
 * only when a PDF is asked for (figure-files.ts): pdfkit is larger than a page should load.
 */
import PDFDocument from 'pdfkit';
import type { Shape } from './drawing';
import type { Figure } from './figure-of';
import { covers, FONT_PARTS, type FontPart, type LoadFont } from './pdf-fonts';
import { plainText } from './text-width';

export interface Pdf {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Characters that the font lacks; the page shows U+FFFD in their place. */
  readonly missing: readonly string[];
}

type Document = PDFKit.PDFDocument;

/** The figure as PDF bytes, the same bytes for the same figure. Throws what `load` throws where a font cannot be had. */
export async function pdfOf(figure: Figure, load: LoadFont): Promise<Pdf> {
  const { drawing, words, source } = figure;
  const texts = drawing.shapes.flatMap((shape) => (shape.kind === 'text' ? [shape] : []));
  const fonts = await fontsFor(texts.map(({ text, bold }) => ({ text: pdfText(text), bold })), load);
  const document = new PDFDocument({
    // Without pages of its own, so that no standard font is asked for.
    size: [drawing.width * drawing.unit, drawing.height * drawing.unit], margin: 0, font: '', lang: 'en', displayTitle: true,
    info: { Title: words.title, Subject: words.description, Keywords: JSON.stringify(words.facts), Creator: 'Bendscope', CreationDate: new Date(source.measuredAt ?? 0) },
  });
  const written = bytesOf(document);
  for (const [key, bytes] of fonts.bytes) document.registerFont(key, bytes);
  document.scale(drawing.unit);
  for (const shape of drawing.shapes) draw(document, shape, fonts);
  document.end();
  return { bytes: await written, missing: [...fonts.missing] };
}

function bytesOf(document: Document): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    document.on('data', (chunk: Uint8Array<ArrayBuffer>) => chunks.push(chunk));
    document.on('error', reject);
    document.on('end', () => void new Blob(chunks).arrayBuffer().then((all) => resolve(new Uint8Array(all)), reject));
  });
}

function draw(document: Document, shape: Shape, fonts: Fonts): void {
  if (shape.kind === 'text') return drawText(document, shape, fonts);
  if (shape.kind === 'rect') document.rect(shape.x, shape.y, shape.width, shape.height);
  else if (shape.kind === 'circle') document.circle(shape.x, shape.y, shape.radius);
  else document.path(shape.d);
  const { fill, stroke } = shape;
  if (stroke) {
    document.lineWidth(stroke.width).undash();
    if (stroke.dash) document.dash(stroke.dash[0] ?? 1, { space: stroke.dash[1] ?? 1 });
  }
  if (fill !== null && stroke) document.fillAndStroke(fill, stroke.colour);
  else if (fill !== null) document.fill(fill);
  else if (stroke) document.stroke(stroke.colour);
}

function drawText(document: Document, { x, y, size, anchor, bold, fill, text }: Extract<Shape, { readonly kind: 'text' }>, fonts: Fonts): void {
  const runs = fonts.runs(pdfText(text), bold).map((run) => ({ ...run, width: document.font(run.font).fontSize(size).widthOfString(run.text) }));
  const width = runs.reduce((sum, run) => sum + run.width, 0);
  let left = anchor === 'start' ? x : anchor === 'middle' ? x - width / 2 : x - width;
  for (const run of runs) {
    document.font(run.font).fontSize(size).fillColor(fill).text(run.text, left, y, { lineBreak: false, baseline: 'alphabetic' });
    left += run.width;
  }
}

/** Accents joined to their letters: the fonts have the letters. */
const pdfText = (text: string): string => plainText(text).normalize('NFC');

interface Fonts {
  readonly bytes: ReadonlyMap<string, Uint8Array>;
  readonly missing: ReadonlySet<string>;
  /** A text in pieces, each in the font that has its characters. */
  runs(text: string, bold: boolean): { readonly font: string; readonly text: string }[];
}

const keyOf = (part: FontPart, bold: boolean): string => `${part.name}-${bold ? 'bold' : 'regular'}`;
const REPLACEMENT = '\ufffd';

/** Loads the files that the texts need, and no other. */
async function fontsFor(texts: readonly { readonly text: string; readonly bold: boolean }[], load: LoadFont): Promise<Fonts> {
  const missing = new Set<string>();
  const partOf = (character: string): FontPart | null => FONT_PARTS.find((part) => covers(part, character)) ?? null;
  const first = FONT_PARTS[0];
  const needed = new Map<string, { readonly part: FontPart; readonly bold: boolean }>();
  for (const { text, bold } of texts) {
    for (const character of text) {
      const part = partOf(character);
      if (part === null) missing.add(character);
      needed.set(keyOf(part ?? first, bold), { part: part ?? first, bold });
    }
  }
  const bytes = await Promise.all([...needed].map(async ([key, { part, bold }]) => [key, await load(part, bold)] as const));
  return {
    bytes: new Map(bytes),
    missing,
    runs(text, bold) {
      const runs: { font: string; text: string }[] = [];
      for (const character of text) {
        const part = partOf(character);
        const [font, shown] = [keyOf(part ?? first, bold), part === null ? REPLACEMENT : character];
        const last = runs.at(-1);
        if (last?.font === font) last.text += shown;
        else runs.push({ font, text: shown });
      }
      return runs;
    },
  };
}
