/**
 * Figures as a renderer without a browser draws them: every cell has its colour where nothing else is drawn in it, also in
 * the largest grid; every label leaves ink. What a browser draws is held against the same in e2e/figures.spec.ts.
 */
import { describe, expect, it } from 'vitest';
import { figureOf } from './figure-of';
import { inputsOf } from './figure-fixture';
import { numberOf, parseSvg } from './parsed-svg-fixture';
import { colourAt, rasterOf } from './resvg-fixture';

const SCALE = 4;
/** Pixels in a unit of paper: a point is 96 / 72 CSS pixels. */
const ZOOM = (SCALE * 96) / 72;

describe.each([['nvfp4', 6], ['nvfp4', 48], ['fp8-out', 6]] as const)('%s, %i layers', (recipe, layers) => {
  const input = inputsOf({ recipe, layers, everyState: true }).heatmap;

  it.each(['column', 'page'] as const)('%s', async (width) => {
    const { svg, drawing } = figureOf('heatmap', input, { width, colourMap: 'cividis', background: 'white' });
    const raster = await rasterOf(svg, SCALE);
    expect(raster.width).toBe(Math.round(drawing.width * ZOOM));
    const elements = parseSvg(svg);
    // After the background, cells are the first rectangles.
    const cells = elements.filter(({ name }) => name === 'rect').slice(1, 1 + input.cells.length);
    const wrong = cells.filter((cell, i) => {
      const { angleDeg } = input.cells[i] ?? { angleDeg: null };
      // Free of marks are the lower right corner, and the middle of a cell too narrow for letters; hatched cells are not counted.
      const from = layers === 48 && width === 'column' ? 0.5 : 1;
      const [x, y] = [numberOf(cell, 'x') + from * numberOf(cell, 'width') - 0.25 * (2 * from - 1), numberOf(cell, 'y') + from * numberOf(cell, 'height') - 0.25 * (2 * from - 1)];
      return angleDeg !== null && !input.cells[i]?.belowNoise && colourAt(raster, x * ZOOM, y * ZOOM) !== cell.attributes['fill'];
    });
    expect(wrong.map(({ attributes }) => `${attributes['x']} ${attributes['y']} ${attributes['fill']}`)).toEqual([]);
    expect(cells.filter((_, i) => input.cells[i]?.angleDeg !== null && !input.cells[i]?.belowNoise).length).toBeGreaterThan(input.cells.length / 3);
  });

  it('leaves ink for every label', async () => {
    const { svg } = figureOf('heatmap', input, { width: 'page', colourMap: 'grey', background: 'white' });
    const [drawn, without] = await Promise.all([rasterOf(svg, SCALE), rasterOf(svg.replace(/<text[^>]*>[^<]*<\/text>/g, ''), SCALE)]);
    for (const text of parseSvg(svg).filter(({ name }) => name === 'text')) {
      const anchor = text.attributes['text-anchor'] ?? 'start';
      const size = numberOf(text, 'font-size');
      const left = numberOf(text, 'x') - (anchor === 'start' ? 0 : anchor === 'middle' ? size / 3 : 0.7 * size);
      let changed = 0;
      for (let y = (numberOf(text, 'y') - size) * ZOOM; y < numberOf(text, 'y') * ZOOM; y++) {
        for (let x = left * ZOOM; x < (left + 0.7 * size) * ZOOM; x++) if (colourAt(drawn, x, y) !== colourAt(without, x, y)) changed++;
      }
      expect(changed, text.text).toBeGreaterThan(10);
    }
  });
});
