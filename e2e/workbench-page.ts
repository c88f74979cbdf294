/**
 * What the browser tests share: opening the page, reading it through roles and names, small measurements. A test never
 * reaches into stores or CSS: what it checks is what a user or a screen reader gets.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Locator, type Page } from '@playwright/test';
import type axe from 'axe-core';

const MODELS = join(import.meta.dirname, '..', 'public', 'models');
/** The start-up check runs every kernel on the processor here, and other work may slow it down. */
export const CHECK_TIMEOUT = 120_000;
/** Whole runs of the small model. */
export const RUN_TIMEOUT = 120_000;

export interface ChosenFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

export const chosenFile = (name: string, content: string | Uint8Array): ChosenFile => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) });

/** gpt2-nano as a user has it on disk. */
export function nanoFiles(): ChosenFile[] {
  return ['config.json', 'model.safetensors', 'tokenizer.json'].map((name) => chosenFile(name, readFileSync(join(MODELS, 'gpt2-nano', name))));
}
export const nanoFile = (name: string): Buffer => readFileSync(join(MODELS, 'gpt2-nano', name));

/** Every error that reaches the console, and every exception nobody caught. */
export function watchErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  return errors;
}

/** Opens the page and waits for the stored example, not for the GPU. */
export async function openPage(page: Page, address = '/?software=1'): Promise<void> {
  await page.goto(address);
  await expect(cells(page).first()).toBeVisible();
}

export const grid = (page: Page): Locator => page.getByRole('grid', { name: /^Bending by op group/ });
export const recipe = (page: Page, name: string): Locator => page.getByRole('radiogroup', { name: 'Recipe' }).getByRole('radio', { name, exact: true });
/** Paintable cells only: the fixed row of the head is a cell of another kind. */
export const cells = (page: Page): Locator => grid(page).getByRole('gridcell', { name: /precision/ });
/** One cell by its spoken place: `cell(page, 1, 'MLP down projection', 'forward pass')`. */
export const cell = (page: Page, layer: number, op: string, pass: string): Locator => grid(page).getByRole('gridcell', { name: `Layer ${layer}, ${op}, ${pass},` });
export const status = (page: Page): Locator => page.getByRole('contentinfo', { name: 'Status' });
export const plan = (page: Page): Locator => page.getByRole('region', { name: 'Plan', exact: true });
export const deviceChip = (page: Page, name: RegExp): Locator => page.getByRole('banner').getByRole('button', { name });
export const budget = (page: Page, of = 'GEMM work'): Locator => page.getByRole('slider', { name: `Spend at most: share of ${of} in BF16` });
export const verify = (page: Page): Locator => page.getByRole('button', { name: 'Verify jointly', exact: true });
export const runButton = (page: Page): Locator => page.getByRole('button', { name: /^(Run on this GPU|Run again on this GPU|Continue: \d+ cells? left)$/ });

export async function waitForGpu(page: Page): Promise<void> {
  await expect(deviceChip(page, /GPU checked/)).toBeVisible({ timeout: CHECK_TIMEOUT });
}

/** Names of all paintable cells, as a screen reader says them, without what comes once the page is idle: whether a decision flips within noise. */
export const cellNames = (page: Page): Promise<string[]> => cells(page).evaluateAll((all) => all.map((one) => (one.getAttribute('aria-label') ?? '').replace(/, flips in \d+ of \d+ solves within noise/, '')));

/** How many cells say so: `countCells(page, 'precision BF16')`. */
export async function countCells(page: Page, words: string): Promise<number> {
  return (await cellNames(page)).filter((name) => name.includes(words)).length;
}

/** Two frames on: what the last pointer event asked for is drawn. */
export const drawn = (page: Page): Promise<void> => page.evaluate(() => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))));

/** A list of term and value as an object. */
export const pairsOf = (box: Locator): Promise<Record<string, string>> =>
  box.locator('dt').evaluateAll((terms) => Object.fromEntries(terms.map((term) => [term.textContent.trim(), term.nextElementSibling?.textContent.trim() ?? ''])));

/** A number with its sign as the page writes it: `+0.21 deg`, `−0.4 deg`, `13.0 %`. */
export function figure(text: string | undefined): number {
  const found = /[-+−]?\d+(\.\d+)?(e[-+]?\d+)?/.exec(text ?? '')?.[0];
  return found === undefined ? NaN : Number(found.replace('−', '-'));
}

/** Chooses files as the browser's own dialog would give them. */
export async function chooseModel(page: Page, files: readonly ChosenFile[]): Promise<void> {
  const dialog = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose files' }).click();
  await (await dialog).setFiles([...files]);
}

export async function openNano(page: Page): Promise<void> {
  await chooseModel(page, nanoFiles());
  await expect(cells(page)).toHaveCount(24);
}

/** One batch of one sequence of 16 tokens: a cell takes a fraction of a second even on a processor. */
export async function takeSmallData(page: Page): Promise<void> {
  await page.getByRole('banner').getByRole('button', { name: /tokens/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Calibration data' });
  await dialog.getByRole('spinbutton', { name: 'Batches' }).fill('1');
  await dialog.getByRole('spinbutton', { name: 'Sequences a batch' }).fill('1');
  await dialog.getByRole('spinbutton', { name: 'Tokens a sequence' }).fill('16');
  await dialog.getByRole('button', { name: 'Use this text' }).click();
  await expect(dialog).toBeHidden();
}

export const exportDrawer = (page: Page): Locator => page.getByRole('dialog', { name: 'Export', exact: true });
/** One file of the Export drawer, by its name there. */
export const exportRow = (page: Page, name: string): Locator => exportDrawer(page).getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });

export async function openExport(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await expect(exportDrawer(page)).toBeVisible();
  return exportDrawer(page);
}

/** Saves one file of the open drawer: its name and its text. */
export async function savedFile(page: Page, name: string): Promise<{ readonly fileName: string; readonly text: string }> {
  const download = page.waitForEvent('download');
  await exportRow(page, name).getByRole('button', { name: /^Save/ }).click();
  const file = await download;
  return { fileName: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
}

/** Saves through the Export drawer and reads what was saved. */
export async function exported(page: Page, row: 'allocation.json' | 'Probe as JSON'): Promise<Readonly<Record<string, unknown>>> {
  const drawer = await openExport(page);
  const { text } = await savedFile(page, row);
  await page.keyboard.press('Escape');
  await expect(drawer).toBeHidden();
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** axe-core, put into the page before, finds nothing. Every rule runs; only what it violates is listed at length. */
export async function scan(page: Page, where: string): Promise<void> {
  const found = await page.evaluate(() => (window as unknown as { readonly axe: typeof axe }).axe.run({ resultTypes: ['violations'] }));
  expect(found.violations.map(({ id, nodes }) => `${where}: ${id} at ${nodes.map((node) => node.target.join(' ')).join(', ')}`)).toEqual([]);
  // A scan that looked at nothing would find nothing.
  expect(found.passes.length).toBeGreaterThan(20);
}

/** Everything the status bar said since it was asked to listen, each change once. */
export async function listenToStatus(page: Page): Promise<() => Promise<string[]>> {
  await status(page).evaluate((bar) => {
    const said: string[] = [];
    const hear = (): void => {
      const text = bar.textContent;
      if (said.at(-1) !== text) said.push(text);
    };
    hear();
    new MutationObserver(hear).observe(bar, { subtree: true, childList: true, characterData: true });
    Object.assign(window, { said });
  });
  return () => page.evaluate(() => (window as unknown as { readonly said: string[] }).said);
}
