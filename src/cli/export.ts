/**
 * `export`: a plan as the file that a training or inference library takes (formats.md 6). What does not fit is rounded up
 * and said; what cannot be held at all is refused before anything is written.
 */
import { checkNames, type NameCheck } from '../allocate/exports/check-names';
import { badgeText, type ExportContext, type ExportTarget } from '../allocate/exports/export-target';
import { NAME_PRESETS, type NameMapping, type NamePresetId } from '../allocate/exports/names';
import { EXPORT_TARGETS, findTarget } from '../allocate/exports/targets';
import { BendscopeError } from '../base/errors';
import type { CommandSpec, Flags } from './command-line';
import { checkOutput, readText, writeOutput } from './local-files';
import { openFolder } from './open-folder';
import { readPlan } from './plan-file';
import { listed, say, sayError } from './say';

const PRESETS = Object.keys(NAME_PRESETS) as readonly NamePresetId[];

export const EXPORT: CommandSpec = {
  name: 'export',
  summary: 'a plan as the configuration of TransformerEngine, Megatron, torchao, Model Optimizer, or as a table',
  flags: [
    { name: 'model', value: 'DIR', required: true, help: 'the model of the plan, for its layers and their shapes' },
    { name: 'plan', value: 'plan.json', required: true, help: 'allocation.json, as allocate or the page writes it' },
    { name: 'to', value: 'TARGET', required: true, help: EXPORT_TARGETS.map(({ id }) => id).join(', ') },
    { name: 'names', value: 'PRESET', help: `what layers are called over there: ${PRESETS.join(', ')}` },
    { name: 'root', value: 'TEXT', help: 'what a block is called, where it is not the preset\'s: module.transformer.h.{layer}' },
    { name: 'check-names', value: 'LIST', help: 'a file of layer names, as of named_modules(): refuses unless each layer of the plan is matched once' },
    { name: 'out', value: 'FILE', required: true, help: 'the file for the target' },
  ],
  details: [
    ...EXPORT_TARGETS.map(({ id, sentence, preset }) => `  ${id.padEnd(16)}${sentence}${preset === null ? '' : ` Names: ${preset}.`}`),
    '',
    'Stderr says how the plan fits: exact, or which sites run in a higher precision than planned and why (E-EXP-01), and what',
    'the target would do otherwise than measured. A plan it cannot express is E-EXP-03.',
  ],
};

/** Throws E-EXP-03 (the target cannot hold the plan), E-EXP-02 (names), E-CLI-01 and what reading the plan does. */
export async function exportPlan(flags: Flags): Promise<void> {
  const [out, planPath, listPath] = [flags.text('out'), flags.text('plan'), flags.optional('check-names')];
  const target = findTarget(flags.text('to'));
  if (!target) throw flags.wrong('to', EXPORT_TARGETS.map(({ id }) => id).join(', '), `"${flags.text('to')}"`);
  const names = namesOf(flags, target);
  const model = await openFolder(flags.text('model'));
  await checkOutput(out, [...model.files, planPath, ...(listPath === undefined ? [] : [listPath])]);
  const { plan, recipe, options, facts } = await readPlan(planPath, model);
  const context: ExportContext = { graph: model.graph, modelSha256: model.sha256, recipe, options, facts, ...(names ? { names } : {}) };
  const fit = target.fits(plan, context);
  say(`${target.label}: ${badgeText(fit)}`);
  if (fit.badge === 'rounded') {
    sayError({ name: 'E-EXP-01', message: `${fit.rounded.length} ${fit.rounded.length === 1 ? 'site' : 'sites'} cannot be expressed for ${target.label} and run in a higher precision: ${fit.reasons.join('; ')}.`, hint: '' });
    for (const id of fit.rounded) say(`  ${id} ${plan.formats[id] ?? 'bf16'} rounded up`);
  }
  for (const warning of fit.warnings) say(`note: ${warning}`);
  const { text } = target.render(plan, context);
  const check = listPath === undefined ? null : checkNames(await readText(listPath), target, plan, context);
  if (check !== null) {
    if (!check.isGood) throw namesDiffer(check, listPath ?? '', target);
    say(`names: ${check.sentence}`);
  }
  await writeOutput(out, text);
  say(`${out} written`);
}

/** Throws E-CLI-01 for names where the target has none, or unknown ones. */
function namesOf(flags: Flags, target: ExportTarget): NameMapping | null {
  const [name, root] = [flags.optional('names'), flags.optional('root')];
  for (const flag of ['names', 'root', 'check-names']) {
    if (flags.given(flag) && target.selectors === null) throw flags.wrong(flag, 'a target with layer names', `--to ${target.id}`);
  }
  const preset = name === undefined ? target.preset : (PRESETS.find((known) => known === name) ?? null);
  if (name !== undefined && preset === null) throw flags.wrong('names', PRESETS.join(', '), `"${name}"`);
  if (root !== undefined && !root.includes('{layer}')) throw flags.wrong('root', 'a text with {layer} for the number of the block', `"${root}"`);
  return preset === null ? null : { preset, ...(root === undefined ? {} : { root }) };
}

function namesDiffer({ sentence, missing, double, foreign }: NameCheck, path: string, target: ExportTarget): BendscopeError {
  const told = [['not in the list', missing], ['matched twice', double], ['matched though not in the plan', foreign]] as const;
  const detail = told.flatMap(([what, layers]) => (layers.length > 0 ? [`${what}: ${listed(layers, 4)}`] : [])).join('; ');
  return new BendscopeError('E-EXP-02', `${path}: expected ${target.label} to match each layer of the plan once: ${sentence}. ${detail}`, 'Choose --names or --root as your code has them; nothing was written.');
}
