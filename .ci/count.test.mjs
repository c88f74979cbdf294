/** The rule of count.mjs: a crash, an empty report or a disagreeing exit code is never "0 failed". */
import { expect, test } from 'vitest';
import { addCounts, countPlaywright, countVitest } from './count.mjs';

/** @param {...string} statuses */
const vitestReport = (...statuses) => ({ testResults: [{ status: 'passed', assertionResults: statuses.map((status) => ({ status, fullName: `is ${status}` })) }] });
/** @param {...string} statuses */
const playwrightReport = (...statuses) => ({ suites: [{ suites: [{ specs: statuses.map((status) => ({ title: status, file: 'a.spec.ts', tests: [{ status, annotations: [{ type: 'skip', description: 'no device' }] }] })) }] }] });

test('plain results are counted', () => {
  expect(countVitest(vitestReport('passed', 'failed', 'passed'), 1)).toEqual({ passed: 2, failed: 1, skipped: [] });
  expect(countPlaywright(playwrightReport('expected', 'unexpected', 'flaky'), 1)).toEqual({ passed: 1, failed: 2, skipped: [] });
});

test('skipped tests are named', () => {
  expect(countVitest(vitestReport('passed', 'skipped', 'todo'), 0).skipped).toEqual(['is skipped: skipped, no reason given', 'is todo: todo, no reason given']);
  expect(countPlaywright(playwrightReport('expected', 'skipped'), 0).skipped).toEqual(['a.spec.ts skipped: no device']);
});

test.each([null, {}, { testResults: [] }, { suites: [] }])('report %j counts as one failure, whatever the exit code', (report) => {
  for (const code of [0, 1]) {
    expect(countVitest(report, code).failed).toBe(1);
    expect(countPlaywright(report, code).failed).toBe(1);
  }
});

test('all passed but a bad exit code is a failure', () => {
  expect(countVitest(vitestReport('passed'), 1)).toMatchObject({ passed: 1, failed: 1 });
  expect(countPlaywright(playwrightReport('expected'), 130)).toMatchObject({ passed: 1, failed: 1 });
});

test('a file that failed to load, and an error outside any test, are failures', () => {
  expect(countVitest({ testResults: [{ status: 'failed', message: 'SyntaxError', assertionResults: [] }, ...vitestReport('passed').testResults] }, 1)).toMatchObject({ passed: 1, failed: 1 });
  expect(countPlaywright({ ...playwrightReport('expected'), errors: [{}] }, 1)).toMatchObject({ passed: 1, failed: 1 });
});

test('parts add up', () => {
  expect(addCounts([{ passed: 1, failed: 2, skipped: ['a'] }, { passed: 3, failed: 0, skipped: ['b'] }])).toEqual({ passed: 4, failed: 2, skipped: ['a', 'b'] });
});
