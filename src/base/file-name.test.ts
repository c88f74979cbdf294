/** File names are made of names that people choose: whatever they hold, a plain stem comes out. */
import { expect, test } from 'vitest';
import { fileStem } from './file-name';

test('a stem holds lower-case letters, digits and single separators between them', () => {
  expect(fileStem('GPT-2 (mini)', 'model', '_')).toBe('gpt_2_mini');
  expect(fileStem(' --a__b/../c ', 'plan')).toBe('a-b-c');
});

test('a name without any of them gives the fallback', () => {
  expect([fileStem('GPT-2 (mini)', 'model'), fileStem('…', 'model')]).toEqual(['gpt-2-mini', 'model']);
  for (const name of ['', ' .. ', '漢字']) expect(fileStem(name, 'plan')).toBe('plan');
});
