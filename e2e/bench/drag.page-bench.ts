/**
 * From a move of the pointer to the repainted page, while the global budget handle or a row's is dragged: on gpt2-mini (72
 * cells) and on 2,640 cells. CPU time of the page's main thread a frame, which other work on the machine lengthens little;
 * drawing by the compositor and the GPU runs beside it and is not counted.
 */
import { test, type Page } from '@playwright/test';
import { cells, openPage } from '../workbench-page';
import { framesOf, STAGES, type Frame } from './frames';
import { LAYERS, serveLargeModel } from './large-model';

const MOVES = 60;
const quantile = (values: readonly number[], q: number): string => (values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))] ?? NaN).toFixed(1);

/** Until the frame that shows what the last event changed is drawn. */
const drawn = (page: Page): Promise<number> => page.evaluate(() => new Promise<number>((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

async function drag(page: Page, slider: RegExp, what: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const found = page.getByRole('slider', { name: slider }).first();
  await found.scrollIntoViewIfNeeded();
  const handle = await found.boundingBox();
  if (handle === null) throw new Error(`bench: expected a slider ${String(slider)}, got none in sight`);
  const [x, y] = [handle.x + handle.width / 2, handle.y + handle.height / 2];
  const step = x > 700 ? -1.4 : 2;
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let k = 1; k <= 5; k++) await page.mouse.move(x + step * k, y);
  await drawn(page);
  const frames = await framesOf(session, async () => {
    for (let k = 0; k < MOVES; k++) {
      await page.mouse.move(x + step * (6 + k), y);
      await drawn(page);
    }
  });
  await page.keyboard.press('Escape');
  await page.mouse.up();
  const of = (stage: keyof Frame): string => `${quantile(frames.map((frame) => frame[stage]), 0.5)} / ${quantile(frames.map((frame) => frame[stage]), 0.95)}`;
  process.stdout.write(`${what}: ${of('frame')} ms CPU a frame (p50 / p95 of ${frames.length}; ${Object.keys(STAGES).map((stage) => `${stage} ${of(stage as keyof Frame)}`).join(', ')})\n`);
}

for (const [name, large] of [['gpt2-mini, 72 cells', false], [`${LAYERS} layers, ${12 * LAYERS} cells`, true]] as const) {
  test(`drag on ${name}`, async ({ page }) => {
    test.setTimeout(600_000);
    if (large) await serveLargeModel(page);
    await openPage(page, '/');
    await cells(page).first().waitFor();
    // The frontier and the unstable cells settle first.
    await page.waitForTimeout(large ? 15_000 : 3_000);
    await drag(page, /^Spend at most: share/, `${name}, global budget`);
    await drag(page, /^Bending of qkv forward/, `${name}, row handle`);
  });
}
