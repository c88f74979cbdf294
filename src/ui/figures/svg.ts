/**
 * A drawing as SVG text that survives a paper (ux.md 4.3): presentation attributes only, real text of a generic family,
 * a baseline for every label, nothing transparent. Runs of shapes that look alike share one group, which keeps a grid of
 * 576 cells far below 200 KB.
 */
import { POINTS_PER_INCH, short, type Drawing, type Shape } from './drawing';
import { plainText } from './text-width';

export interface SvgWords {
  readonly title: string;
  readonly description: string;
  /** For programs: hashes, model, recipe, device; JSON. */
  readonly facts: Readonly<Record<string, unknown>>;
}

function escapeXml(text: string): string {
  return plainText(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}

type Attributes = Readonly<Record<string, string>>;
const attributesText = (attributes: Attributes): string => Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeXml(value)}"`).join('');

/** What shapes of one run share. */
function look(shape: Shape): Attributes {
  if (shape.kind === 'text') {
    return { 'font-family': 'sans-serif', 'font-size': short(shape.size), ...(shape.bold ? { 'font-weight': 'bold' } : {}), ...(shape.anchor === 'start' ? {} : { 'text-anchor': shape.anchor }), fill: shape.fill };
  }
  const { fill, stroke } = shape;
  return {
    fill: fill ?? 'none',
    ...(stroke ? { stroke: stroke.colour, 'stroke-width': short(stroke.width), ...(stroke.dash ? { 'stroke-dasharray': stroke.dash.map(short).join(' ') } : {}) } : {}),
  };
}

function place(shape: Shape): string {
  switch (shape.kind) {
    case 'rect': return `<rect x="${short(shape.x)}" y="${short(shape.y)}" width="${short(shape.width)}" height="${short(shape.height)}"`;
    case 'circle': return `<circle cx="${short(shape.x)}" cy="${short(shape.y)}" r="${short(shape.radius)}"`;
    case 'path': return `<path d="${shape.d}"`;
    case 'text': return `<text x="${short(shape.x)}" y="${short(shape.y)}"`;
  }
}
const ending = (shape: Shape): string => (shape.kind === 'text' ? `>${escapeXml(shape.text)}</text>` : '/>');

function shapesText(shapes: readonly Shape[]): string {
  const runs: { readonly look: string; readonly shapes: Shape[] }[] = [];
  for (const shape of shapes) {
    const text = attributesText(look(shape));
    const run = runs.at(-1);
    if (run?.look === text) run.shapes.push(shape);
    else runs.push({ look: text, shapes: [shape] });
  }
  return runs
    .map((run) => {
      const [only] = run.shapes;
      if (only && run.shapes.length === 1) return place(only) + run.look + ending(only);
      return `<g${run.look}>\n${run.shapes.map((shape) => place(shape) + ending(shape)).join('\n')}\n</g>`;
    })
    .join('\n');
}

/** Width and height are inches, the view box units of the sheet. */
export function svgText({ width, height, unit, shapes }: Drawing, { title, description, facts }: SvgWords): string {
  const inches = (units: number): string => `${Number(((units * unit) / POINTS_PER_INCH).toFixed(4))}in`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${inches(width)}" height="${inches(height)}" viewBox="0 0 ${short(width)} ${short(height)}">`,
    `<title>${escapeXml(title)}</title>`,
    `<desc>${escapeXml(description)}</desc>`,
    `<metadata>${escapeXml(JSON.stringify(facts))}</metadata>`,
    shapesText(shapes),
    '</svg>\n',
  ].join('\n');
}
