/** A browser that draws nothing: said by name, never saved as an empty picture. */
import { afterEach, expect, it, vi } from 'vitest';
import { pngOf } from './png';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="1in" height="0.5in"></svg>';

/** A document whose canvas has this 2-D context and gives this picture. */
function browser(context: { drawImage(): void } | null, picture: Blob | null) {
  const canvas = { width: 0, height: 0, getContext: () => context, toBlob: (done: (blob: Blob | null) => void) => done(picture) };
  vi.stubGlobal('Image', class {
    decode = () => Promise.resolve();
  });
  vi.stubGlobal('document', { createElement: () => canvas });
  return canvas;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

it('draws the picture in its own size', async () => {
  const picture = new Blob(['png']);
  const drawImage = vi.fn();
  const canvas = browser({ drawImage }, picture);
  expect(await pngOf(SVG, 2)).toBe(picture);
  expect([canvas.width, canvas.height, drawImage.mock.calls.length]).toEqual([192, 96, 1]);
});

it('without a 2-D context there is an error, not a blank picture', async () => {
  browser(null, new Blob(['blank']));
  await expect(pngOf(SVG, 2)).rejects.toMatchObject({ name: 'E-EXP-05', message: expect.stringContaining('no 2-D context') as string });
});

it('and so where the browser gives no picture of the canvas', async () => {
  browser({ drawImage: () => undefined }, null);
  await expect(pngOf(SVG, 2)).rejects.toMatchObject({ name: 'E-EXP-05', message: expect.stringContaining('192 x 96') as string });
});
