/** The device chip in words, and its report as text to paste into an issue. */
import { formatBytes } from '../../base/units';
import { APP_VERSION } from '../../base/version';
import type { FactsState } from '../../state';

type Device = FactsState['device'];

export interface DeviceWords {
  readonly tone: 'busy' | 'ok' | 'warn' | 'error';
  /** On the chip. */
  readonly chip: string;
  /** The popover's first line. */
  readonly title: string;
}

/** What the start-up check came to, in words. */
export function deviceWords(device: Device, checking: boolean): DeviceWords {
  if (checking) return { tone: 'busy', chip: 'Checking GPU', title: 'Checking the GPU: every kernel, forward and backward, against the CPU reference.' };
  if (!device) return { tone: 'error', chip: 'GPU not checked', title: 'The GPU check did not start.' };
  const passed = device.checks.filter((check) => check.passed).length;
  switch (device.status) {
    case 'ready':
      return { tone: 'ok', chip: `GPU checked${device.isFallbackAdapter ? ' (software)' : ''}: ${device.device}`, title: `${passed} of ${device.checks.length} checks passed on ${device.device}.` };
    case 'software':
      return { tone: 'warn', chip: 'Software GPU', title: 'Only a software adapter was found.' };
    case 'refused':
      return { tone: 'error', chip: 'GPU refused', title: `${device.checks.length - passed} of ${device.checks.length} checks failed on ${device.device}.` };
    case 'absent':
      return { tone: 'error', chip: device.error?.name === 'E-WRK-01' ? 'Worker stopped' : 'No GPU', title: 'No GPU to measure with.' };
  }
}

/** The adapter's facts worth a line, sizes as people read them. */
export function adapterFacts(device: NonNullable<Device>): readonly (readonly [string, string])[] {
  return Object.entries(device.facts)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => [name, name.startsWith('largest') && /^\d+$/.test(value) ? formatBytes(Number(value)) : value]);
}

/** Everything the check found, one line each. */
export function deviceReport(device: Device): string {
  if (!device) return `Bendscope ${APP_VERSION}: the GPU check has not finished.`;
  return [
    `Bendscope ${APP_VERSION} GPU report`,
    `status: ${device.status}`,
    `device: ${device.device}${device.isFallbackAdapter ? ' (software)' : ''}`,
    ...(device.error ? [`error: ${device.error.name}: ${device.error.message} ${device.error.hint}`.trimEnd()] : []),
    ...adapterFacts(device).map(([name, value]) => `${name}: ${value}`),
    ...device.checks.map((check) => `${check.passed ? 'pass' : 'FAIL'}  ${check.name}: ${check.detail}`),
  ].join('\n');
}
