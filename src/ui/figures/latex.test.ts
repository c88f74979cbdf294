/**
 * LaTeX texts read back: ASCII only, braces and environments balanced, one row a plan with as many cells as columns,
 * numbers that are the plans' own, and names that cannot run commands. Compiling is checked by hand with pdfLaTeX.
 */
import { describe, expect, it, test } from 'vitest';
import { HOSTILE_NAME, inputsOf } from './figure-fixture';
import { latexTable } from './latex-table';
import { latexText } from './latex-text';
import { pgfplotsFrontier } from './pgfplots';

/** Text without escaped signs: what is left of them is TeX's own syntax. */
const syntax = (text: string): string => text.split('\n').filter((line) => !line.startsWith('%')).join('\n').replace(/\\[{}$&%#_]/g, '');

function expectSound(text: string): void {
  expect(text.split('\n').filter((line) => !line.startsWith('%')).join('\n')).toMatch(/^[\n -~]*$/);
  let depth = 0;
  for (const sign of syntax(text)) {
    if (sign === '{') depth++;
    if (sign === '}') depth--;
    expect(depth).toBeGreaterThanOrEqual(0);
  }
  expect(depth).toBe(0);
  const environments: string[] = [];
  for (const [, what, name = ''] of text.matchAll(/\\(begin|end)\{([a-z]+)\}/g)) {
    if (what === 'begin') environments.push(name);
    else expect(environments.pop()).toBe(name);
  }
  expect(environments).toEqual([]);
  expect(syntax(text)).not.toMatch(/[$#~^"|]|\\input/);
}

describe.each([['a plain name', {}], ['a hostile name', { name: HOSTILE_NAME, everyState: true }]])('%s', (_, page) => {
  const input = inputsOf(page).frontier;

  it('makes a table of a row a plan', () => {
    const text = latexTable(input);
    expectSound(text);
    const rows = text.slice(text.indexOf('\\midrule'), text.indexOf('\\bottomrule')).split('\n').slice(1, -1);
    expect(rows).toHaveLength(input.plans.length);
    rows.forEach((row, i) => {
      const plan = input.plans[i];
      const cells = row.replace(/ \\\\$/, '').replaceAll('\\&', 'and').split(' & ');
      expect(cells).toHaveLength(7);
      expect(Number(cells[1])).toBeCloseTo(100 * (plan?.cost ?? NaN), 0);
      for (const [cell, value] of [[cells[2], plan?.predictedDeg], [cells[3], plan?.measuredDeg], [cells[4], plan?.seDeg]] as const) {
        if (value == null) expect(cell).toMatch(/^\{(not predicted|not measured|one batch)\}$/);
        else expect(Number(cell)).toBeCloseTo(value, 1);
      }
    });
    // A number fits the digits its column keeps.
    const formats = [...text.matchAll(/table-format = (-?)(\d)(?:\.(\d))?/g)];
    expect(formats).toHaveLength(6);
  });

  it.each(['column', 'page', 'slide'] as const)('makes a pgfplots picture, %s', (width) => {
    const text = pgfplotsFrontier(input, { width, colourMap: 'cividis' });
    expectSound(text);
    const line = /const plot[^{]*\{([^}]*)\}/.exec(text)?.[1] ?? '';
    const points = [...line.matchAll(/\(([-\d.e]+),([-\d.e]+)\)/g)].map(([, x, y]) => [Number(x), Number(y)]);
    expect(points).toHaveLength(input.frontier.length);
    points.forEach(([x], i) => expect(x).toBeCloseTo(100 * (input.frontier[i]?.cost ?? NaN), 3));
    expect(text.match(/\\addlegendentry/g)?.length).toBe(3);
  });
});

test('a name prints as it is', () => {
  expect(latexText('a_b & 50 %')).toBe('a\\_b \\& 50 \\%');
  expect(latexText('\\input{x}')).toBe('\\textbackslash{}input\\{x\\}');
  expect(latexText('θ 🚀 é')).toBe('[U+03B8] [U+1F680] [U+00E9]');
});
