/** A run that is stopped, reloaded or paused: finished cells are kept, not measured again, and every figure stays the same. */
import { expect, test, type Page } from '@playwright/test';
import { countCells, drawn, exported, listenToStatus, openNano, openPage, runButton, RUN_TIMEOUT, status, takeSmallData, waitForGpu, watchErrors } from './workbench-page';

interface Probe {
  readonly floor: unknown;
  readonly referenceLoss: readonly number[];
  readonly sites: Readonly<Record<string, { readonly status: string; readonly elapsedMs: number }>>;
}
const probe = async (page: Page): Promise<Probe> => (await exported(page, 'Probe as JSON')) as unknown as Probe;
/** How long it took is no property of the site. */
const figures = (sites: Probe['sites']): unknown => Object.fromEntries(Object.entries(sites).map(([id, site]) => [id, { ...site, elapsedMs: 0 }]));

async function ready(page: Page): Promise<void> {
  await openPage(page);
  await openNano(page);
  await takeSmallData(page);
  await waitForGpu(page);
}

const finished = (page: Page): Promise<void> => expect(status(page)).toContainText(/Probe 24\/24 finished/, { timeout: RUN_TIMEOUT });

/** Presses Stop or Pause as soon as so many cells are there. */
async function pressAfter(page: Page, count: number, button: 'Stop' | 'Pause'): Promise<void> {
  await page.waitForFunction(
    ([least, name]) => {
      const done = Number(/(\d+)\/24/.exec(document.querySelector('footer')?.textContent ?? '')?.[1] ?? 0);
      const press = [...document.querySelectorAll('button')].find((one) => one.textContent === name);
      if (done < least || !press) return false;
      press.click();
      return true;
    },
    [count, button] as const,
    { timeout: RUN_TIMEOUT, polling: 'raf' },
  );
}

test('stop, reload, resume; pause and resume: no cell is lost, none is measured twice, no figure changes', async ({ page, browser }) => {
  const errors = watchErrors(page);
  let stopped: Probe | null = null;
  let resumed: Probe | null = null;

  await test.step('stop after a few cells', async () => {
    await ready(page);
    await runButton(page).click();
    await pressAfter(page, 3, 'Stop');
    await expect(status(page)).toContainText(/Probe \d+\/24 stopped/);
    stopped = await probe(page);
    const kept = Object.keys(stopped.sites).length;
    expect(kept).toBeGreaterThanOrEqual(3);
    expect(kept).toBeLessThan(24);
    expect(await countCells(page, 'not measured')).toBe(24 - kept);
    await expect(runButton(page)).toHaveText(`Continue: ${24 - kept} cells left`);
  });

  await test.step('reload, the same files and text, run: kept cells come back, the others are measured', async () => {
    if (!stopped) throw new Error('the first step left no probe');
    await page.reload();
    await ready(page);
    const said = await listenToStatus(page);
    await runButton(page).click();
    await finished(page);
    const kept = Object.keys(stopped.sites).length;
    expect((await said()).some((text) => text.includes(`${kept} cells kept from before`))).toBe(true);
    resumed = await probe(page);
    expect(Object.keys(resumed.sites)).toHaveLength(24);
    expect(Object.values(resumed.sites).every((site) => site.status === 'measured')).toBe(true);
    // With the time each took: a second measurement could not repeat that.
    for (const [id, site] of Object.entries(stopped.sites)) expect(resumed.sites[id]).toEqual(site);
    expect(resumed.floor).toEqual(stopped.floor);
    expect(resumed.referenceLoss).toEqual(stopped.referenceLoss);
  });

  await test.step('a run of its own, paused in the middle, gives the same figures', async () => {
    const context = await browser.newContext();
    const other = await context.newPage();
    const otherErrors = watchErrors(other);
    await ready(other);
    await runButton(other).click();
    await pressAfter(other, 2, 'Pause');
    await expect(status(other)).toContainText('Paused');
    // A submission under way may still end a cell; a saved file later the count stands.
    await exported(other, 'Probe as JSON');
    const held = Object.keys((await probe(other)).sites).length;
    expect(held).toBeLessThan(24);
    for (let k = 0; k < 30; k++) await drawn(other);
    expect(Object.keys((await probe(other)).sites)).toHaveLength(held);
    await other.getByRole('button', { name: 'Resume' }).click();
    await finished(other);
    const undisturbed = await probe(other);
    expect(figures(undisturbed.sites)).toEqual(figures(resumed?.sites ?? {}));
    expect(undisturbed.floor).toEqual(resumed?.floor);
    expect(otherErrors).toEqual([]);
    await context.close();
  });
  expect(errors).toEqual([]);
});
