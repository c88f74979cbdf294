/**
 * The allocator under the hand: row, layer and frontier handles with their key and field twins, A and the difference to it.
 * All on the stored example, without a GPU: the address lacks `software=1`.
 */
import { expect, test, type Locator, type Page } from '@playwright/test';
import axe from 'axe-core';
import { budget, cellNames, cells, countCells, drawn, grid, openPage, pairsOf, plan, scan, watchErrors } from './workbench-page';

const rowHandle = (page: Page, row: string): Locator => page.getByRole('slider', { name: `Bending of ${row}`, exact: true });
const frontierHandle = (page: Page): Locator => page.getByRole('slider', { name: 'The plan on the frontier' });
const frontier = (page: Page): Locator => page.getByRole('region', { name: 'Frontier', exact: true });
const point = (page: Page, name: string): Locator => frontier(page).getByRole('button', { name: new RegExp(`^${name}: .*Make it A$`) });
const valueOf = (handle: Locator): Promise<string | null> => handle.getAttribute('aria-valuetext');
const undo = (page: Page): Locator => page.getByRole('banner').getByRole('button', { name: /^Undo/ });
const costs = (page: Page): Locator => page.getByRole('combobox', { name: 'What plans pay by' });

/** Takes hold of a handle and moves it, without letting go. */
async function hold(page: Page, handle: Locator, dx: number, dy = 0): Promise<void> {
  const box = await handle.boundingBox();
  if (!box) throw new Error('handle: expected a box, got none');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (const part of [0.3, 0.6, 1]) await page.mouse.move(x + part * dx, y + part * dy);
  await drawn(page);
  await drawn(page);
}

/** Cells whose name has changed, by their names now. */
async function changed(page: Page, before: readonly string[]): Promise<string[]> {
  return (await cellNames(page)).filter((name, i) => name !== before[i]);
}

/** Presses a key until a handle says what it is to say. */
async function pressUntil(page: Page, key: string, handle: Locator, value: string | null): Promise<void> {
  for (let k = 0; k < 60 && (await valueOf(handle)) !== value; k++) await page.keyboard.press(key);
  expect(await valueOf(handle)).toBe(value);
}

test('a row handle buys precision in its row; keys and field give the same plan', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page, '/');
  const before = await cellNames(page);
  const handle = rowHandle(page, 'down forward');
  const atRest = await valueOf(handle);

  await test.step('while dragging: a chip, cells that would change, nothing committed', async () => {
    await hold(page, handle, -60);
    await expect(page.getByText(/^down forward [\d.]+ → [\d.]+ deg, \+[\d.]+ % HP work, \d cells?$/)).toBeVisible();
    await expect(page.getByRole('region', { name: 'Budget' })).toContainText(/\d cells? flips?/);
    expect(await valueOf(handle)).not.toBe(atRest);
    expect(await cellNames(page)).toEqual(before);
    await expect(undo(page)).toBeDisabled();
  });

  await test.step('Esc reverts', async () => {
    await page.keyboard.press('Escape');
    expect(await valueOf(handle)).toBe(atRest);
    await page.mouse.up();
    expect(await cellNames(page)).toEqual(before);
    await expect(undo(page)).toBeDisabled();
  });

  let dragged: string[] = [];
  let value: string | null = null;
  await test.step('a release commits one undo step, in this row only', async () => {
    await hold(page, handle, -60);
    await page.mouse.up();
    await expect(undo(page)).toHaveAccessibleName(/^Undo: down forward: bend at most/);
    dragged = await cellNames(page);
    value = await valueOf(handle);
    const cellsNow = await changed(page, before);
    expect(cellsNow.length).toBeGreaterThan(0);
    for (const name of cellsNow) expect(name).toMatch(/MLP down projection, forward pass, .*precision BF16/);
    await undo(page).click();
    expect(await cellNames(page)).toEqual(before);
    await expect(undo(page)).toBeDisabled();
  });

  await test.step('arrow keys and Enter', async () => {
    await handle.focus();
    await pressUntil(page, 'ArrowLeft', handle, value);
    expect(await cellNames(page)).toEqual(before);
    await page.keyboard.press('Enter');
    expect(await cellNames(page)).toEqual(dragged);
    await undo(page).click();
  });

  await test.step('a typed figure, opened by F2 or by its figure', async () => {
    await handle.focus();
    await page.keyboard.press('F2');
    const field = page.getByRole('textbox', { name: 'Bend down forward at most, degrees' });
    await expect(field).toBeFocused();
    await field.fill(String(Number.parseFloat(value ?? '')));
    await page.keyboard.press('Enter');
    expect(await cellNames(page)).toEqual(dragged);
    await expect(handle).toBeFocused();
    await undo(page).click();
    await page.getByRole('button', { name: /^[\d.]+, down forward: type how much it may bend$/ }).click();
    await expect(field).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(field).toBeHidden();
    expect(await cellNames(page)).toEqual(before);
  });
  expect(errors).toEqual([]);
});

test('a drag leaves alone what does not show it', async ({ page }) => {
  await openPage(page, '/');
  const handle = budget(page);
  await hold(page, handle, 30);
  const still = [grid(page), page.getByRole('figure', { name: /^Legend and histogram/ }), page.getByRole('group', { name: 'What dragging on the grid does' }), page.getByRole('group', { name: 'What the grid shows' })];
  for (const [i, part] of still.entries()) {
    await part.evaluate((element, key) => {
      const changes: string[] = [];
      new MutationObserver((all) => changes.push(...all.map(({ type, target }) => `${type} of ${target.nodeName}`))).observe(element, { subtree: true, childList: true, attributes: true, characterData: true });
      Object.assign(window, { [key]: changes });
    }, `still${i}`);
  }
  const box = await handle.boundingBox();
  const said = await valueOf(handle);
  for (const dx of [20, 40, 60]) await page.mouse.move((box?.x ?? 0) + dx, (box?.y ?? 0) + 7);
  await drawn(page);
  await drawn(page);
  expect(await valueOf(handle)).not.toBe(said);
  for (const i of still.keys()) expect(await page.evaluate((key) => (window as unknown as Record<string, string[]>)[key], `still${i}`)).toEqual([]);
  await page.mouse.up();
  expect(await countCells(page, 'precision BF16')).toBeGreaterThan(0);
});

test('the frontier: its handle moves the plan, its points become A, the grid shows the difference', async ({ page }) => {
  const errors = watchErrors(page);
  await openPage(page, '/');
  const diff = page.getByRole('button', { name: 'Diff vs A' });
  await expect(diff).toHaveAccessibleDescription(/Nothing is pinned as A yet/);
  await expect(diff).toHaveAttribute('aria-disabled', 'true');

  await test.step('dragging the handle is one step, and keys go on from there', async () => {
    await hold(page, frontierHandle(page), 120);
    const during = await valueOf(frontierHandle(page));
    await page.mouse.up();
    expect(await valueOf(frontierHandle(page))).toBe(during);
    await expect(undo(page)).toHaveAccessibleName(/^Undo: spend at most [\d.]+ %/);
    await frontierHandle(page).focus();
    await page.keyboard.press('ArrowRight');
    expect(await valueOf(frontierHandle(page))).not.toBe(during);
    await page.keyboard.press('Escape');
    expect(await valueOf(frontierHandle(page))).toBe(during);
  });

  await test.step('its axis can be effective bits', async () => {
    await page.getByRole('button', { name: 'Effective bits' }).click();
    expect(await valueOf(frontierHandle(page))).toMatch(/^[\d.]+ bits, predicted/);
    await page.getByRole('group', { name: 'Cost axis of the frontier' }).getByRole('button', { name: 'GEMM work' }).click();
  });

  await test.step('a point says its figures and, pressed, becomes A', async () => {
    const passes = point(page, 'Forward passes BF16');
    await passes.focus();
    await expect(page.getByText('Click: hold other plans against it (A)')).toBeVisible();
    await passes.click();
    await expect(passes).toHaveAttribute('aria-pressed', 'true');
    await expect(diff).toHaveAttribute('aria-disabled', 'false');
  });

  await test.step('the difference view says how many cells differ and at what price, and names both formats', async () => {
    await diff.click();
    const words = await page.getByText(/of 72 differ;/).textContent();
    expect(words).toMatch(/^\d+ of 72 differ; B costs −[\d.]+ % HP work; predicted [−+][\d.]+ deg, B is not verified jointly$/);
    const count = Number.parseInt(words ?? '', 10);
    expect(await countCells(page, 'in A')).toBe(count);
    expect(count).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Bending', exact: true }).click();
    expect(await countCells(page, 'in A')).toBe(0);
  });

  await test.step('pressed again it is A no longer', async () => {
    await point(page, 'Forward passes BF16').focus();
    await page.keyboard.press('Enter');
    await expect(diff).toHaveAttribute('aria-disabled', 'true');
  });
  expect(errors).toEqual([]);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe-core finds nothing under the hand, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await openPage(page, '/');
    await page.addScriptTag({ content: axe.source });
    await page.getByRole('combobox', { name: 'Also allow' }).selectOption('mxfp8');
    await cells(page).nth(4).click();
    await page.keyboard.press('8');
    await hold(page, rowHandle(page, 'fc forward'), -30);
    await scan(page, 'a row handle held');
    await page.mouse.up();
    await point(page, 'Forward passes BF16').focus();
    await scan(page, 'a point of the frontier');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Diff vs A' }).click();
    await costs(page).selectOption('GEMM time');
    await page.getByRole('button', { name: /^Where GEMM times come from/ }).click();
    await scan(page, 'difference view and ratios');
    await rowHandle(page, 'fc forward').focus();
    await page.keyboard.press('F2');
    await scan(page, 'a row’s field');
    expect(Object.keys(await pairsOf(plan(page)))).toContain('Predicted');
  });
}
