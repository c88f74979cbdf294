/** CPU time of frames from a browser trace: what the page itself spends, without what driving and watching it costs. */
import type { CDPSession } from '@playwright/test';

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds: start, wall time, CPU time of the thread. */
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
}

/** Stages of a frame on the main thread, by the names that Chromium's trace gives them. */
export const STAGES = { script: 'FunctionCall', style: 'UpdateLayoutTree', layout: 'Layout', paint: 'Blink.Paint.UpdateTime' } as const;

/** Milliseconds of CPU a frame, whole and by stage. */
export type Frame = Readonly<Record<'frame' | keyof typeof STAGES, number>>;

/** Traces what `work` does and returns the frames that laid something out: from the input's handlers to the handing over of the drawing. */
export async function framesOf(session: CDPSession, work: () => Promise<void>): Promise<readonly Frame[]> {
  const events: TraceEvent[] = [];
  const take = ({ value }: { readonly value: readonly unknown[] }): void => void events.push(...(value as TraceEvent[]));
  session.on('Tracing.dataCollected', take);
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['devtools.timeline', 'blink', 'cc'] } });
  await work();
  const ended = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await ended;
  session.off('Tracing.dataCollected', take);

  const complete = events.filter(({ ph }) => ph === 'X');
  const within = (outer: TraceEvent) => (inner: TraceEvent): boolean =>
    inner.pid === outer.pid && inner.tid === outer.tid && inner.ts >= outer.ts && inner.ts < outer.ts + (outer.dur ?? 0);
  return complete.filter(({ name }) => name === 'ProxyMain::BeginMainFrame').flatMap((frame): Frame[] => {
    const inside = complete.filter(within(frame));
    if (!inside.some(({ name }) => name === STAGES.layout)) return [];
    const spent = (wanted: string): number => inside.reduce((sum, { name, tdur = 0 }) => sum + (name === wanted ? tdur / 1000 : 0), 0);
    return [{ frame: (frame.tdur ?? NaN) / 1000, script: spent(STAGES.script), style: spent(STAGES.style), layout: spent(STAGES.layout), paint: spent(STAGES.paint) }];
  });
}
