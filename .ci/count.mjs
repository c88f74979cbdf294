/**
 * Reads the JSON reports of Vitest and Playwright into counts. Rule: a runner that ended badly never counts as zero
 * failures, and a report that is missing, empty or names no test is itself one failure.
 */

/**
 * @typedef {{ passed: number, failed: number, skipped: string[] }} Counts
 * @typedef {{ status?: string, fullName?: string, meta?: { skipReason?: string } }} VitestTest
 * @typedef {{ name?: string, status?: string, message?: string, assertionResults?: VitestTest[] }} VitestFile
 * @typedef {{ type: string, description?: string }} Annotation
 * @typedef {{ title?: string, file?: string, tests?: { status?: string, annotations?: Annotation[] }[] }} Spec
 * @typedef {{ title?: string, specs?: Spec[], suites?: Suite[] }} Suite
 */

/**
 * @param {Counts[]} parts
 * @returns {Counts}
 */
export function addCounts(parts) {
  return {
    passed: parts.reduce((sum, part) => sum + part.passed, 0),
    failed: parts.reduce((sum, part) => sum + part.failed, 0),
    skipped: parts.flatMap((part) => part.skipped),
  };
}

/**
 * The runner's exit code must agree with what was counted.
 * @param {string} runner
 * @param {Counts} counts
 * @param {number} code
 * @returns {Counts}
 */
function settle(runner, counts, code) {
  if (counts.passed + counts.failed === 0) {
    process.stdout.write(`${runner}: no test was reported (exit code ${code}): counted as one failure\n`);
    return { ...counts, failed: 1 };
  }
  if (code !== 0 && counts.failed === 0) {
    process.stdout.write(`${runner}: exit code ${code} though every reported test passed: counted as one failure\n`);
    return { ...counts, failed: 1 };
  }
  return counts;
}

/**
 * @param {unknown} json report of `vitest --reporter=json`, or null
 * @param {number} code exit code
 * @returns {Counts}
 */
export function countVitest(json, code) {
  /** @type {Counts} */
  const counts = { passed: 0, failed: 0, skipped: [] };
  const files = /** @type {{ testResults?: VitestFile[] } | null} */ (json)?.testResults ?? [];
  for (const file of files) {
    const tests = file.assertionResults ?? [];
    for (const test of tests) {
      if (test.status === 'passed') counts.passed += 1;
      else if (test.status === 'failed') counts.failed += 1;
      else counts.skipped.push(`${test.fullName ?? 'a test'}: ${test.meta?.skipReason ?? `${test.status ?? 'not run'}, no reason given`}`);
    }
    // A file that fails to load has no tests, or a hook failed after them: still a failure.
    if (file.status === 'failed' && !tests.some((test) => test.status === 'failed')) counts.failed += 1;
  }
  return settle('vitest', counts, code);
}

/**
 * @param {unknown} json report of Playwright's json reporter, or null
 * @param {number} code exit code
 * @returns {Counts}
 */
export function countPlaywright(json, code) {
  /** @type {Counts} */
  const counts = { passed: 0, failed: 0, skipped: [] };
  /** @param {Suite} suite */
  const visit = (suite) => {
    for (const spec of suite.specs ?? []) {
      for (const test of spec.tests ?? []) {
        const note = (test.annotations ?? []).find(({ type }) => type === 'skip' || type === 'fixme')?.description;
        if (test.status === 'expected') counts.passed += 1;
        else if (test.status === 'skipped') counts.skipped.push(`${spec.file ?? ''} ${spec.title ?? 'a test'}: ${note ?? 'no reason given'}`);
        else counts.failed += 1;
      }
    }
    for (const child of suite.suites ?? []) visit(child);
  };
  const result = /** @type {{ suites?: Suite[], errors?: unknown[] } | null} */ (json);
  for (const suite of result?.suites ?? []) visit(suite);
  counts.failed += result?.errors?.length ?? 0;
  return settle('playwright', counts, code);
}
