/** The name of what decides a measurement's bits: the same twice, another one when a row of a table changes. */
import { afterEach, describe, expect, it } from 'vitest';
import { SCHEMES, SCALE_RULES, type Scheme } from '../numerics/schemes';
import { FORMATS } from '../numerics/formats';
import { engineFingerprint, programHash } from './fingerprint';

/** Rows are constants; a test may write into them to see that it is noticed. */
const writable = (row: object): Record<string, unknown> => row as Record<string, unknown>;
const undo: (() => void)[] = [];

function change(row: object, field: string, value: unknown): void {
  const before = writable(row)[field];
  writable(row)[field] = value;
  undo.push(() => { writable(row)[field] = before; });
}

afterEach(() => undo.splice(0).forEach((back) => back()));

describe('fingerprint', () => {
  it('is one name, the same every time', () => {
    expect(engineFingerprint()).toMatch(/^\d+\.\d+\.\d+\+[0-9a-f]{12}\.[0-9a-f]{12}$/);
    expect(programHash()).toBe(programHash());
  });

  it.each(Object.values(SCHEMES) as Scheme[])('changes with the block of $name', (scheme) => {
    const before = programHash();
    const { operand } = scheme;
    change(scheme, 'operand', (...given: Parameters<Scheme['operand']>) => {
      const format = operand.apply(scheme, given);
      return format.block[1] > 1 ? { ...format, block: [1, 64] } : { ...format, element: 'E5M2' };
    });
    expect(programHash()).not.toBe(before);
  });

  it('changes with an element format and with a scale rule', () => {
    const before = programHash();
    change(FORMATS.E2M1, 'maxCode', 0x6);
    expect(programHash()).not.toBe(before);
    undo.splice(0).forEach((back) => back());
    change(SCALE_RULES['mx-up'], 'code', 6);
    expect(programHash()).not.toBe(before);
  });
});
