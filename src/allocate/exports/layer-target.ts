/**
 * Targets that set formats by layer name: one description, from which fit, patterns and file follow. What differs between
 * libraries is data: the formats they know, what they can set apart, which widths their kernels take.
 */
import { BendscopeError } from '../../base/errors';
import { fileStem } from '../../base/file-name';
import type { PassScheme, PolicyOptions, SiteFormat, SiteId } from '../../graph/policy';
import { formatSiteId } from '../../graph/sites';
import { PASSES } from '../../graph/types';
import type { Plan } from '../plan';
import type { ExportContext, ExportTarget, Fit, RenderedFile, Selector } from './export-target';
import { headerOf, type Header } from './header';
import { nameLayers, type NamePresetId } from './names';
import { mainScheme, schemesOf, viewPlan, type PlanLayer, type PlanView } from './plan-view';
import { SCOPES, type PassFormat, type PassFormats, type Scope } from './rounding';

/** A format as a library takes it. */
export interface LibraryFormat {
  /** Both widths of a layer must be multiples of it, or the kernels refuse or skip the layer; 1: any. */
  readonly multiple: number;
  /** The same of the width that a GEMM sums over, where that asks for more: 16 bytes of a 4-bit format are 32 elements. */
  readonly inner?: number;
  /** What the library does otherwise than measured under these switches. */
  readonly differs?: (options: PolicyOptions) => string | null;
}

export interface HeldLayer extends PlanLayer {
  /** In the target's code. */
  readonly name: string;
  /** As the file holds them. */
  readonly held: PassFormats;
}

/** What a file is written from. */
export interface HeldPlan {
  readonly view: PlanView;
  readonly layers: readonly HeldLayer[];
  readonly options: PolicyOptions;
  /** Formats of held low passes, in the order of PASS_SCHEMES. */
  readonly schemes: readonly PassScheme[];
}

export interface LayerTargetSpec {
  readonly id: string;
  readonly label: string;
  readonly sentence: string;
  readonly preset: NamePresetId;
  /** As sentences call it. */
  readonly library: string;
  readonly fileEnding: string;
  readonly mediaType: string;
  readonly scope: Scope;
  /** One low format for the whole run. */
  readonly isSingle?: boolean;
  /** Whatever the file says, only forward passes run in it. */
  readonly isInference?: boolean;
  readonly formats: Readonly<Partial<Record<PassScheme, LibraryFormat>>>;
  /** Lines of the header: how the file is used. */
  usage(held: HeldPlan): readonly string[];
  patterns(held: HeldPlan): readonly Selector[];
  /** The whole file. */
  text(held: HeldPlan, header: Header): string;
}

export function layerTarget(spec: LayerTargetSpec): ExportTarget {
  const { id, label, sentence, preset } = spec;
  return {
    id, label, sentence, preset,
    fits: (plan, context) => holdPlan(spec, plan, context).fit,
    selectors: (plan, context) => {
      const { held } = holdPlan(spec, plan, context);
      return { patterns: spec.patterns(held), layers: held.layers.map(({ name }) => name) };
    },
    render: (plan, context) => renderHeld(spec, holdPlan(spec, plan, context)),
  };
}

interface Held {
  readonly fit: Fit;
  readonly held: HeldPlan;
}

function holdPlan(spec: LayerTargetSpec, plan: Plan, context: ExportContext): Held {
  const view = viewPlan(plan, context);
  const { names, faults } = nameLayers(view.layers, context.names ?? { preset: spec.preset });
  const known = view.schemes.filter((scheme) => spec.formats[scheme] !== undefined);
  const main = mainScheme(view.layers.map(({ formats }) => formats), known, context.recipe);
  const available = new Set<PassFormat>(spec.isSingle === true ? known.filter((scheme) => scheme === main) : known);
  const layers = view.layers.map((layer): HeldLayer => ({ ...layer, name: names.get(layer.node) ?? layer.node, held: SCOPES[spec.scope].round(layer.formats, available) }));
  const schemes = schemesOf(layers.map(({ held }) => held));
  const rounded: SiteId[] = [...layers.flatMap(({ node, formats, held }) => PASSES.filter((pass) => formats[pass] !== held[pass]).map((pass) => formatSiteId(node, pass))), ...view.outs];
  const isLost = schemes.length === 0 && (view.schemes.length > 0 || view.outs.length > 0);
  const held: HeldPlan = { view, layers, schemes, options: context.options };
  const reasons = rounded.length > 0 ? reasonsOf(spec, view, available, layers) : [];
  if (isLost) reasons.push('nothing low of the plan would be left');
  return {
    held,
    fit: {
      badge: isLost || faults.length > 0 ? 'cannot' : rounded.length > 0 ? 'rounded' : 'exact',
      rounded, reasons: [...faults, ...reasons], warnings: warningsOf(spec, held),
    },
  };
}

function reasonsOf({ library, formats, scope }: LayerTargetSpec, view: PlanView, available: ReadonlySet<PassFormat>, layers: readonly HeldLayer[]): string[] {
  const unknown = view.schemes.filter((scheme) => formats[scheme] === undefined);
  const second = view.schemes.filter((scheme) => formats[scheme] !== undefined && !available.has(scheme));
  const { reason } = SCOPES[scope];
  const isScoped = layers.some(({ formats: own, held }) => PASSES.some((pass) => available.has(own[pass]) && held[pass] !== own[pass]));
  return [
    ...(unknown.length > 0 ? [`${library} has no ${unknown.join(', ')}`] : []),
    ...(second.length > 0 ? [`${library} takes one low format a run, here ${[...available].join()}; ${second.join(', ')} is left out`] : []),
    ...(reason !== null && isScoped ? [`${library} ${reason}`] : []),
    ...(view.outs.length > 0 ? ['op-group outputs (:out) export as allocation.json and CSV only'] : []),
  ];
}

function warningsOf({ library, formats, isInference }: LayerTargetSpec, { layers, schemes, options }: HeldPlan): string[] {
  return schemes.flatMap((scheme) => {
    const format = formats[scheme];
    if (format === undefined) return [];
    const refused = layers.filter((layer) => isRefused(layer, scheme, format, isInference === true));
    const [first] = refused;
    const inner = format.inner === undefined ? '' : `, of ${format.inner} where a GEMM sums over them`;
    const count = refused.length === 1 ? '1 layer has' : `${refused.length} layers have`;
    const differs = format.differs?.(options) ?? null;
    return [
      ...(first ? [`${library} takes ${scheme} in multiples of ${format.multiple}${inner}; ${count} other widths, such as ${first.node}, ${first.inCols} x ${first.cols}`] : []),
      ...(differs === null ? [] : [`${library}: ${differs}`]),
    ];
  });
}

/** fprop sums over the input's width, dgrad over the output's, wgrad over tokens. */
function isRefused({ held, inCols, cols }: HeldLayer, scheme: PassScheme, { multiple, inner = multiple }: LibraryFormat, isInference: boolean): boolean {
  const summed = [...(held.fprop === scheme ? [inCols] : []), ...(held.dgrad === scheme && !isInference ? [cols] : [])];
  return PASSES.some((pass) => held[pass] === scheme) && (inCols % multiple !== 0 || cols % multiple !== 0 || summed.some((width) => width % inner !== 0));
}

function renderHeld(spec: LayerTargetSpec, { fit, held }: Held): RenderedFile {
  const { view, layers } = held;
  if (fit.badge === 'cannot') {
    throw new BendscopeError('E-EXP-03', `${spec.label}: expected a plan that it can express, got ${view.plan.name}: ${fit.reasons.join('; ')}.`, 'Choose another target, or other layer names; allocation.json holds every plan.');
  }
  const formats = new Map<SiteId, SiteFormat>(layers.flatMap((layer) => PASSES.map((pass): [SiteId, SiteFormat] => [formatSiteId(layer.node, pass), layer.held[pass]])));
  const header = headerOf(view, {
    fit, mustMatch: layers.length, usage: spec.usage(held),
    // An output that no target holds is BF16 there.
    held: (id) => formats.get(id) ?? 'bf16',
  });
  return { fileName: fileName(view, spec.fileEnding), mediaType: spec.mediaType, text: spec.text(held, header) };
}

/** `gpt2-plan-b.te-debug.yaml`; a Python file's name is one that can be imported. */
export function fileName({ plan, context }: Pick<PlanView, 'plan' | 'context'>, ending: string): string {
  const separator = ending.endsWith('.py') ? '_' : '-';
  const whole = [fileStem(context.graph.model, 'model', separator), fileStem(plan.name, 'plan', separator)].join(separator);
  return separator === '_' ? `${whole.replace(/^(?=\d)/, 'm_')}_${ending}` : `${whole}.${ending}`;
}
