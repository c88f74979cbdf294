/**
 * From a move of the pointer to the repainted grid, while the global budget handle or a row's is dragged: on gpt2-mini (72
 * cells) and on 2,640 cells. Of every move: CPU time of the page's main thread (script, style, layout and paint
 * together, by the browser's own counters, which other work on the machine does not lengthen), and the wall time until the
 * second frame after it, which it does.
 */
import { test, type CDPSession, type Page } from '@playwright/test';
import { cells, openPage } from '../workbench-page';
import { LAYERS, serveLargeModel } from './large-model';

const MOVES = 60;
const COUNTERS = ['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration', 'TaskDuration'] as const;

const quantile = (values: readonly number[], q: number): string => (values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))] ?? NaN).toFixed(1);

async function counters(session: CDPSession): Promise<readonly number[]> {
  const { metrics } = await session.send('Performance.getMetrics');
  return COUNTERS.map((name) => 1000 * (metrics.find((metric) => metric.name === name)?.value ?? NaN));
}

/** Until the frame that shows what the last event changed is drawn. */
const drawn = (page: Page): Promise<number> => page.evaluate(() => new Promise<number>((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

async function drag(page: Page, slider: RegExp, what: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const handle = await page.getByRole('slider', { name: slider }).first().boundingBox();
  if (handle === null) throw new Error(`bench: expected a slider ${String(slider)}, got none in sight`);
  const [x, y] = [handle.x + handle.width / 2, handle.y + handle.height / 2];
  const step = x > 700 ? -1 : 2;
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let k = 1; k <= 5; k++) await page.mouse.move(x + step * k, y);
  await drawn(page);
  const spent: number[][] = COUNTERS.map(() => []);
  const wall: number[] = [];
  for (let k = 0; k < MOVES; k++) {
    const before = await counters(session);
    const start = performance.now();
    await page.mouse.move(x + step * (6 + k), y);
    await drawn(page);
    wall.push(performance.now() - start);
    (await counters(session)).forEach((after, c) => spent[c]!.push(after - before[c]!));
  }
  await page.keyboard.press('Escape');
  await page.mouse.up();
  const [script, style, layout, task] = spent.map((values) => `${quantile(values, 0.5)} / ${quantile(values, 0.95)}`);
  process.stdout.write(`${what}: main thread ${task} ms CPU a move (p50 / p95; script ${script}, style ${style}, layout ${layout}); to the second frame ${quantile(wall, 0.5)} / ${quantile(wall, 0.95)} ms wall\n`);
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
