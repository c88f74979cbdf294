/** SVG text as a strict XML parser sees it (saxes): every element with what it inherits from its groups, and its text. */
import { SaxesParser } from 'saxes';

export interface ParsedElement {
  readonly name: string;
  /** Its own. */
  readonly own: Readonly<Record<string, string>>;
  /** Its own and those of the groups around it. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
}

/** All elements, parents before children. Throws where the text is not well-formed. */
export function parseSvg(svg: string): ParsedElement[] {
  const parser = new SaxesParser({ xmlns: true });
  const all: { name: string; own: Record<string, string>; attributes: Record<string, string>; text: string }[] = [];
  const open: (typeof all)[number][] = [];
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const own = Object.fromEntries(Object.entries(attributes).map(([key, { value }]) => [key, value]));
    const parent = open.at(-1);
    const element = { name, own, attributes: { ...(parent?.name === 'g' ? parent.attributes : {}), ...own }, text: '' };
    all.push(element);
    open.push(element);
  });
  parser.on('text', (text) => {
    const element = open.at(-1);
    if (element) element.text += text;
  });
  parser.on('closetag', () => void open.pop());
  parser.write(svg).close();
  return all;
}

/** A number of an element's attribute. */
export function numberOf({ attributes }: ParsedElement, name: string): number {
  const value = Number(attributes[name]);
  if (attributes[name] === undefined || Number.isNaN(value)) throw new Error(`parseSvg: expected a number ${name}, got ${attributes[name]}`);
  return value;
}

/** End points of path data that holds M, L, H, V, h, v, l and Z only. */
export function pathPoints(d: string): [number, number][] {
  const points: [number, number][] = [];
  let [x, y] = [0, 0];
  if (!/^([MLHVhvl][-\d. ]+|Z)*$/.test(d)) throw new Error(`pathPoints: expected simple path data, got ${d}`);
  for (const [, command = '', rest = ''] of d.matchAll(/([MLHVhvlZ])([-\d. ]*)/g)) {
    const numbers = [...rest.matchAll(/-?[\d.]+/g)].map(Number);
    const [a = 0, b = 0] = numbers;
    if (command === 'Z') continue;
    if (numbers.length !== (/[MLl]/.test(command) ? 2 : 1)) throw new Error(`pathPoints: expected the numbers of ${command}, got ${rest}`);
    if (command === 'M' || command === 'L') [x, y] = [a, b];
    else if (command === 'H') x = a;
    else if (command === 'V') y = a;
    else if (command === 'h') x += a;
    else if (command === 'v') y += a;
    else [x, y] = [x + a, y + b];
    points.push([x, y]);
  }
  return points;
}
