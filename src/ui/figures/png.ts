/** An SVG text as PNG, drawn by the browser itself. Needs a document. */
import { BendscopeError } from '../../base/errors';

/** CSS pixels in an inch. */
export const PIXELS_PER_INCH = 96;

/**
 * `scale` pixels a CSS pixel: 2 for screens, 300 / 96 for 300 dpi. Throws E-EXP-05 when the browser draws no picture: it may
 * give no 2-D context, or refuse a picture that is too large.
 */
export async function pngOf(svg: string, scale: number): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [pixelsOf(svg, 'width', scale), pixelsOf(svg, 'height', scale)];
    const context = canvas.getContext('2d');
    if (context === null) throw new Error(`no 2-D context for ${canvas.width} x ${canvas.height} pixels`);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    if (blob === null) throw new Error(`no picture of ${canvas.width} x ${canvas.height} pixels`);
    return blob;
  } catch (thrown) {
    throw new BendscopeError('E-EXP-05', `PNG: expected a picture, got ${thrown instanceof Error ? thrown.message : String(thrown)}`, 'Save the SVG or the PDF.');
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** From the text, because a browser rounds an image's own size to whole CSS pixels. */
function pixelsOf(svg: string, side: 'width' | 'height', scale: number): number {
  const inches = Number(new RegExp(`^<svg [^>]*${side}="([\\d.]+)in"`).exec(svg)?.[1]);
  return Math.round(inches * PIXELS_PER_INCH * scale);
}
