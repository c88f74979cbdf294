/** What the command line's tests share: a call of main() with its streams captured, scratch folders, the nano model. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { gradientMetrics, gradientSums } from '../base/angle';
import { openSafetensors, type Safetensors } from '../data/safetensors';
import { sharedGpu } from '../gpu/device-fixture';
import type { Gpu } from '../gpu/gpu';
import { Devices } from './devices';
import { main } from './main';

export const NANO = fileURLToPath(new URL('../../public/models/gpt2-nano', import.meta.url));

/** Of a command that must refuse before it opens a device. */
export class NoDevices extends Devices {
  override get(): Promise<never> {
    return Promise.reject(new Error('a device was opened'));
  }
}

/**
 * The device of the test's process, with its pipelines. It is not put through the start-up check again: quantize-command.test.ts
 * opens devices as a command does, and so does every command that a test runs in a process of its own.
 */
export class SharedDevices extends Devices {
  #gpu: Gpu | null = null;

  override async get(): Promise<Gpu> {
    return (this.#gpu = await sharedGpu());
  }

  /** Commands leave no buffer behind. */
  override dispose(): void {
    expect(this.#gpu?.liveBuffers ?? 0).toBe(0);
  }
}

export interface Called {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** onLine: called with every line of stderr while the command runs. */
export async function call(argv: readonly string[], devices: Devices, onLine: (line: string) => void = () => undefined): Promise<Called> {
  let [stdout, stderr] = ['', ''];
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    stdout += String(chunk);
    return true;
  });
  const err = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    stderr += String(chunk);
    onLine(String(chunk).trimEnd());
    return true;
  });
  try {
    return { code: await main(argv, devices), stdout, stderr };
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
}

export class Scratch {
  readonly folder = mkdtempSync(join(tmpdir(), 'bendscope-cli-'));

  path(name: string): string {
    return join(this.folder, name);
  }
  /** Writes a file; values that are no text or bytes as JSON. -> its path. */
  write(name: string, content: unknown): string {
    writeFileSync(this.path(name), typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content));
    return this.path(name);
  }
  names(): string[] {
    return readdirSync(this.folder).sort();
  }
  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Exit code 0 and nothing on stdout. */
export function expectDone(called: Called): Called {
  expect(called.code, called.stderr).toBe(0);
  expect(called.stdout).toBe('');
  return called;
}

export function openedFile(path: string): Safetensors {
  return openSafetensors(readFileSync(path), path);
}

/** Degrees between two gradients. */
export function angleBetween(g: Float32Array, r: Float32Array): number {
  return gradientMetrics(gradientSums(g, r)).angleDeg;
}
