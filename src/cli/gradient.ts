/**
 * `gradient`: the gradient of one batch under one policy, one F32 tensor a parameter under its checkpoint name; the loss
 * and what the numbers depend on in the metadata.
 */
import { BendscopeError } from '../base/errors';
import { APP_VERSION } from '../base/version';
import { writeSafetensors } from '../data/safetensors-writer';
import { Session } from '../engine/session';
import { canonicalPolicy } from '../graph/canonical-policy';
import { predictLedger, type Ledger } from '../graph/ledger';
import { PASS_SCHEMES, REFERENCE_POLICY, type Policy } from '../graph/policy';
import { assertFinite } from '../probe/metrics';
import type { CommandSpec, Flags } from './command-line';
import { ADAPTER_FLAG, type Devices } from './devices';
import { ledgerLines } from './ledger-lines';
import { checkOutput, writeOutput } from './local-files';
import { openFolder } from './open-folder';
import { readPolicy } from './policy-file';
import { say, sayError } from './say';
import { readTokens } from './token-file';

export const GRADIENT: CommandSpec = {
  name: 'gradient',
  summary: 'the gradient of one batch under a policy, to a safetensors file',
  flags: [
    { name: 'model', value: 'DIR', required: true, help: 'Hugging Face GPT-2 folder: config.json, model.safetensors (F32, F16, BF16)' },
    { name: 'tokens', value: 'T.json', required: true, help: '{"tokens": [[T+1 ids], ...]}: inputs are all ids but the last, targets all but the first' },
    { name: 'policy', value: 'P.json', required: true, help: 'which sites run low: {"reference": "bf16"|"fp32", "passes": {..}, "outs": [..], "options": {..}}, as below' },
    { name: 'out', value: 'G.safetensors', required: true, help: 'one F32 tensor a parameter; metadata: loss, device, version, hashes' },
    ADAPTER_FLAG,
  ],
  details: [
    '  {"reference": "bf16", "passes": {"h.0.attn.c_attn:fprop": "nvfp4", "h.1.mlp.c_fc:wgrad": "mxfp8"},',
    '   "outs": ["h.0.ln_1", "lm_head"], "options": {"rht": true, "sr": true, "weights1d": true, "seed": 1}}',
    '',
    `Passes are <node>:fprop|dgrad|wgrad of the block linears, each in ${PASS_SCHEMES.join(', ')};`,
    'outs are op groups, whose output is kept as packed FP8. What is not named runs in the reference precision. Under "fp32"',
    'nothing is rounded, and passes and outs must be empty. Options: see probe --help; a switch holds for every site that has it.',
    'Random numbers of sr are those of step 0, draw 0. Tied parameters count once and receive both contributions.',
  ],
};

export async function gradient(flags: Flags, devices: Devices): Promise<void> {
  const [out, tokensPath, policyPath] = [flags.text('out'), flags.text('tokens'), flags.text('policy')];
  const model = await openFolder(flags.text('model'));
  await checkOutput(out, [...model.files, tokensPath, policyPath]);
  model.warnings.forEach(sayError);
  const tokens = await readTokens(tokensPath, model.graph);
  const [batch] = tokens.batches;
  if (!batch || tokens.batches.length > 1) {
    throw new BendscopeError('E-DATA-03', `${tokensPath}: expected one batch, got ${tokens.batches.length}.`, 'Write {"tokens": [[ids], ...]}; probe takes several batches.');
  }
  const policy = await readPolicy(policyPath, model.graph);
  const gpu = await devices.get(flags);
  const started = performance.now();
  const session = await Session.create(gpu, model.graph, model.params, tokens, { plan: policy });
  try {
    const predicted = (plan: Policy): Ledger => predictLedger(model.graph, tokens, { kind: 'plan', policy: plan });
    ledgerLines(predicted(policy), session.allocated, policy.outs ? predicted({ ...REFERENCE_POLICY, reference: policy.reference }) : undefined).forEach(say);
    session.setBatch(batch);
    const run = await session.runReference();
    assertFinite(run, 'gradient');
    const found = await session.readGradient();
    const tensors = model.graph.params.map(({ name, shape }) => ({ name: model.names.get(name) ?? name, dtype: 'F32' as const, shape, data: found.get(name) ?? new Float32Array(0) }));
    await writeOutput(out, writeSafetensors(tensors, {
      format: 'pt',
      loss: String(run.loss),
      policy: canonicalPolicy(policy),
      modelSha256: model.sha256,
      configSha256: model.configSha256,
      tokensSha256: tokens.sha256,
      device: gpu.adapterName,
      version: APP_VERSION,
    }));
    say(`loss ${run.loss.toFixed(6)}, ${tensors.length} tensors, ${((performance.now() - started) / 1000).toFixed(2)} s: ${out}`);
  } finally {
    session.dispose();
  }
}
