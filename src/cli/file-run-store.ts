/**
 * The command line's RunStore: one JSON record a line, appended as results arrive, next to the --out file.
 * A run that is stopped at any moment is resumed by running the same command again: a line cut off by the stop is
 * dropped. Lines carry their run key, so another model, text or device never mixes in.
 */
import { appendFile, mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BendscopeError } from '../base/errors';
import { runStoreOver } from '../worker/run-store';
import type { RecordBackend, RunRecord, RunStore } from '../worker/run-store';

/**
 * Opens or begins the file. Throws E-FILE-07 when a line other than an unfinished last one cannot be read: then the file
 * is left as it is; E-FILE-09 when the file cannot be read.
 */
export async function openFileRunStore(path: string): Promise<RunStore> {
  const text = await readFile(path, 'utf8').catch((thrown: unknown) => {
    const { code = String(thrown) } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new BendscopeError('E-FILE-09', `${path}: expected a file that results are kept in, got ${code}`, 'Move it away, or give another --out.');
  });
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  const records = complete.split('\n').slice(0, -1).map((line, i) => parseLine(line, path, i + 1));
  if (complete.length < text.length) await truncate(path, Buffer.byteLength(complete));
  await mkdir(dirname(path), { recursive: true });

  // Appends and rewrites happen one after another, so that lines never interleave.
  let queue: Promise<void> = Promise.resolve();
  const inOrder = (write: () => Promise<void>): Promise<void> => (queue = queue.catch(() => undefined).then(write));
  const backend: RecordBackend = {
    problem: null,
    put(record) {
      records.push(record);
      return inOrder(() => appendFile(path, `${JSON.stringify(record)}\n`));
    },
    records: (key) => Promise.resolve(records.filter((record) => record.key === key)),
    delete(key) {
      const kept = records.filter((record) => record.key !== key);
      records.splice(0, records.length, ...kept);
      return inOrder(() => writeFile(path, kept.map((record) => `${JSON.stringify(record)}\n`).join('')));
    },
    list() {
      const ids = new Map<string, Set<string>>();
      for (const { key, kind, id } of records) ids.set(key, (ids.get(key) ?? new Set()).add(`${kind} ${id}`));
      return Promise.resolve([...ids].map(([key, set]) => ({ key, records: set.size })));
    },
  };
  return runStoreOver(backend);
}

const KINDS: readonly unknown[] = ['site', 'scores', 'leave-one-out', 'joint', 'reference'];

function parseLine(line: string, path: string, number: number): RunRecord {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = null;
  }
  if (isRecord(value)) return value;
  throw new BendscopeError('E-FILE-07', `${path} is damaged: line ${number} is not a stored result.`, 'Delete the file to measure from the start, or give another --out.');
}

function isRecord(value: unknown): value is RunRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { key, kind, id, value: content } = value as Record<string, unknown>;
  return typeof key === 'string' && KINDS.includes(kind) && typeof id === 'string' && typeof content === 'object' && content !== null;
}
