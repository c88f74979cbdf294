/**
 * Files of the command line: inputs read whole with a named error where there is none, outputs written whole or not at
 * all (a temporary neighbour, flushed, then renamed), never over an input.
 */
import { constants } from 'node:fs';
import { access, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { BendscopeError } from '../base/errors';

const codeOf = (thrown: unknown): string => (thrown as NodeJS.ErrnoException).code ?? String(thrown);

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'a folder',
  ENOTDIR: 'a path through something that is no folder',
  EACCES: 'one that may not be read',
  ERR_FS_FILE_TOO_LARGE: 'one larger than Node reads at once (2 GiB)',
};

/** The bytes of an input. Throws E-FILE-09. */
export async function readInput(path: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const bytes = await readFile(path);
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (thrown) {
    throw new BendscopeError('E-FILE-09', `${path}: expected a file, got ${REASONS[codeOf(thrown)] ?? codeOf(thrown)}.`, 'Check the path.');
  }
}

export async function readText(path: string): Promise<string> {
  return new TextDecoder().decode(await readInput(path));
}

export async function isFile(path: string): Promise<boolean> {
  return stat(path).then((found) => found.isFile(), () => false);
}

export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then((found) => found.isDirectory(), () => false);
}

/** Before long work: the place of --out must exist and be writable (E-STO-03), and must not be an input (E-STO-04). */
export async function checkOutput(out: string, inputs: readonly string[]): Promise<void> {
  if (await isFolder(out)) throw cannotWrite(out, 'a folder', 'Name a file.');
  const folder = dirname(resolve(out));
  if (!(await isFolder(folder))) throw cannotWrite(out, `no folder ${dirname(out)}`, 'Make the folder first.');
  await access(folder, constants.W_OK).catch(() => {
    throw cannotWrite(out, `a folder that may not be written, ${dirname(out)}`, 'Choose another folder.');
  });
  const target = join(await realpath(folder), basename(out));
  for (const input of inputs) {
    if ((await realpath(input).catch(() => null)) === (await realpath(target).catch(() => target))) {
      throw new BendscopeError('E-STO-04', `--out: expected a file of its own, got the input ${input}`, 'Choose another name; nothing was written.');
    }
  }
}

function cannotWrite(out: string, what: string, hint: string): BendscopeError {
  return new BendscopeError('E-STO-03', `${out}: expected a file that can be written, got ${what}.`, hint);
}

/** Writes a whole file, or throws E-STO-03 and leaves what was there. */
export async function writeOutput(out: string, content: Uint8Array | string): Promise<void> {
  const aside = `${out}.${process.pid}.part`;
  try {
    const file = await open(aside, 'w');
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, out);
  } catch (thrown) {
    await rm(aside, { force: true });
    throw cannotWrite(out, codeOf(thrown), 'Is the disk full? Nothing was written.');
  }
}
