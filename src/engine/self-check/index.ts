/**
 * The start-up check: every kernel a gradient or a measurement uses, forward and backward, on fixed inputs against the
 * CPU, before any measurement is offered (engine.md 3.3 rule 7; ux.md 7 report 1). A device that fails one is refused.
 */
import { toPlainError } from '../../base/errors';
import type { Gpu } from '../../gpu/gpu';
import { Session } from '../session';
import { CheckFailure, type Bench, type Check, type CheckLike } from './check';
import { CODEC_CHECKS } from './codecs';
import { FLOAT_FACTS } from './float-facts';
import { FUNCTION_CHECK } from './functions';
import { GEMM_CHECKS } from './gemms';
import { MEASURING_CHECKS } from './measuring';
import { OP_CHECKS } from './ops';
import { QUANTIZER_CHECKS } from './quantizer';
import { record, replay, type Recording, type Replay } from './recording';
import { TINY_GRAPH, TINY_SHAPE, tinyParams } from './tiny-model';

export type { CheckLike } from './check';

/** In the order shown. */
export const CHECKS: readonly Check[] = [...OP_CHECKS, ...MEASURING_CHECKS, ...GEMM_CHECKS, ...QUANTIZER_CHECKS, ...CODEC_CHECKS, FUNCTION_CHECK, FLOAT_FACTS];

export interface SelfCheckOptions {
  /** Which checks, by name; default all. */
  readonly only?: (name: string) => boolean;
  /** One after the other, ending with the first that fails. */
  readonly stopAtFailure?: boolean;
}

/** The session is made when the first check asks for it, and freed with the bench. */
class SessionBench implements Bench {
  readonly gpu: Gpu;
  #session: Promise<Session> | null = null;
  #recording: Promise<Recording> | null = null;
  #replay: Promise<Replay> | null = null;

  constructor(gpu: Gpu) {
    this.gpu = gpu;
  }

  #open(): Promise<Session> {
    return (this.#session ??= Session.create(this.gpu, TINY_GRAPH, tinyParams(), TINY_SHAPE));
  }
  recording(): Promise<Recording> {
    return (this.#recording ??= this.#open().then(record));
  }
  replay(): Promise<Replay> {
    return (this.#replay ??= this.recording().then(async () => replay(await this.#open())));
  }

  async dispose(): Promise<void> {
    await Promise.allSettled([this.#recording, this.#replay]);
    await this.#session?.then((session) => session.dispose(), () => undefined);
  }
}

interface Outcome {
  readonly result: CheckLike;
  readonly consequence: boolean;
}

async function runCheck(check: Check, bench: Bench): Promise<Outcome> {
  try {
    return { result: { name: check.name, passed: true, detail: await check.run(bench) }, consequence: false };
  } catch (thrown) {
    return { result: { name: check.name, passed: false, detail: toPlainError(thrown).message }, consequence: thrown instanceof CheckFailure && thrown.consequence };
  }
}

/**
 * Runs the checks and frees everything it allocated. Never throws for a wrong device: a check that throws has failed, the
 * others still run. Results come in the order of CHECKS, but those that failed only because of what reached them come
 * last, so that the first failure is a cause. Checks run side by side, because most of the time goes into compiling.
 */
export async function runSelfCheck(gpu: Gpu, onProgress?: (done: number, total: number) => void, options: SelfCheckOptions = {}): Promise<CheckLike[]> {
  const chosen = CHECKS.filter((check) => options.only?.(check.name) ?? true);
  const bench = new SessionBench(gpu);
  let done = 0;
  const one = async (check: Check): Promise<Outcome> => {
    const outcome = await runCheck(check, bench);
    onProgress?.(++done, chosen.length);
    return outcome;
  };
  try {
    const outcomes: Outcome[] = [];
    if (!options.stopAtFailure) outcomes.push(...await Promise.all(chosen.map(one)));
    for (const check of options.stopAtFailure ? chosen : []) {
      const outcome = await one(check);
      outcomes.push(outcome);
      if (!outcome.result.passed) break;
    }
    return [...outcomes.filter((outcome) => !outcome.consequence), ...outcomes.filter((outcome) => outcome.consequence)].map(({ result }) => result);
  } finally {
    await bench.dispose();
  }
}
