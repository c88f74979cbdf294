/** SVG drawn outside any browser, by resvg, with the one font that pdf.js ships: tests need no font of the system. */
import { readFileSync } from 'node:fs';
import { initWasm, Resvg } from '@resvg/resvg-wasm';

const MODULES = 'node_modules';
const FONTS = ['Regular', 'Bold'].map((weight) => `${MODULES}/pdfjs-dist/standard_fonts/LiberationSans-${weight}.ttf`);
let isReady: Promise<void> | null = null;

export interface Raster {
  readonly width: number;
  readonly height: number;
  /** RGBA, a row after the other. */
  readonly pixels: Uint8Array;
}

/** `scale` pixels a CSS pixel, 96 in an inch. Run from the project's folder. */
export async function rasterOf(svg: string, scale: number): Promise<Raster> {
  isReady ??= initWasm(readFileSync(`${MODULES}/@resvg/resvg-wasm/index_bg.wasm`));
  await isReady;
  const resvg = new Resvg(svg, {
    dpi: 96, fitTo: { mode: 'zoom', value: scale },
    font: { fontBuffers: FONTS.map((path) => new Uint8Array(readFileSync(path))), sansSerifFamily: 'Liberation Sans', defaultFontFamily: 'Liberation Sans' },
  });
  const { width, height, pixels } = resvg.render();
  return { width, height, pixels };
}

/** `#rrggbb` of the pixel at a place in pixels. */
export function colourAt({ width, pixels }: Raster, x: number, y: number): string {
  const at = 4 * (Math.floor(y) * width + Math.floor(x));
  return `#${[...pixels.slice(at, at + 3)].map((c) => c.toString(16).padStart(2, '0')).join('')}`;
}
