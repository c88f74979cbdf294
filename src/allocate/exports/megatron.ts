/**
 * Megatron's --te-precision-config-file: a training recipe a layer, picked by ordered globs, the first enabled match wins.
 * Exceptions come first by their full names, then one glob a kind of layer; `*` crosses dots. Any key that Megatron does
 * not know fails there, so none is written. A plan that is block protection gets its flags too.
 * Source: formats.md 4.3 and 6.3; Megatron-LM `core/quantization/quant_config.py`.
 */
import type { Header } from './header';
import { layerTarget, type HeldLayer, type HeldPlan } from './layer-target';
import { escapeGlob, quoted, splitAtLayer, yamlString } from './patterns';
import { blockProtection, mainScheme } from './plan-view';
import type { PassFormat } from './rounding';
import { TE_FORMATS, teFormat } from './te-formats';

interface Matcher {
  readonly key: string;
  readonly format: PassFormat;
  readonly glob: string;
}

/** Of a layer all passes are held alike. */
function formatOfLayer({ held }: HeldLayer): PassFormat {
  return held.fprop;
}

function matchersOf({ layers }: HeldPlan): readonly Matcher[] {
  const kinds = new Map<string, HeldLayer[]>();
  const exact: Matcher[] = [];
  const rest: Matcher[] = [];
  const exactly = (layer: HeldLayer): Matcher => ({ key: layer.node, format: formatOfLayer(layer), glob: escapeGlob(layer.name) });
  for (const layer of layers) {
    const split = splitAtLayer(layer);
    if (split === null) exact.push(exactly(layer));
    else {
      const glob = `${escapeGlob(split.head)}*${escapeGlob(split.tail)}`;
      kinds.set(glob, [...(kinds.get(glob) ?? []), layer]);
    }
  }
  for (const [glob, members] of kinds) {
    const format = mostFrequent(members.map(formatOfLayer));
    const exceptions = members.filter((layer) => formatOfLayer(layer) !== format);
    exact.push(...exceptions.map(exactly));
    rest.push({ key: `rest of ${glob}`, format, glob });
  }
  return [...exact, ...rest];
}

/** The first of the most frequent. */
function mostFrequent(formats: readonly PassFormat[]): PassFormat {
  const count = (format: PassFormat): number => formats.filter((other) => other === format).length;
  return formats.reduce((most, format) => (count(format) > count(most) ? format : most));
}

function configName(format: PassFormat): string {
  return format === 'bf16' ? 'keep_bf16' : `use_${format.replaceAll('-', '_')}`;
}

function text(held: HeldPlan, { comment }: Header): string {
  const matchers = matchersOf(held);
  const formats = [...new Set(matchers.map(({ format }) => format))];
  const configs = formats.map((format) => {
    const recipe = format === 'bf16' ? {} : teFormat(format).megatron(held.options);
    const keys = Object.entries(recipe).map(([key, value]) => `${key}: ${quoted(value)}`).join(', ');
    return `  ${configName(format)}: {transformer_engine_config_type: "TEQuantizationParams", training_recipe: {${keys}}}\n`;
  });
  const rows = matchers.map(({ key, format, glob }) => `  ${yamlString(key)}: {config: ${quoted(configName(format))}, type: "glob", pattern: ${yamlString(glob)}, enabled: true}\n`);
  return `${comment}\nconfigs:\n${configs.join('')}matchers:\n${rows.join('')}`;
}

function usage({ view, layers, schemes, options }: HeldPlan): string[] {
  const main = mainScheme(layers.map(({ held }) => held), schemes, view.context.recipe);
  if (main === null) return ['everything is BF16: train without --fp8-format and --fp4-format'];
  const environment = schemes.flatMap((scheme) => teFormat(scheme).environment(options));
  const flags = teFormat(main).flags(options);
  const blocks = blockProtection(view);
  return [
    `train with ${[...environment, flags].join(' ')} --te-precision-config-file <this file>`,
    ...(blocks && blocks.first + blocks.last > 0 ? [`the same plan without this file: ${[...environment, flags].join(' ')} --first-last-layers-bf16 --num-layers-at-start-in-bf16 ${blocks.first} --num-layers-at-end-in-bf16 ${blocks.last}`] : []),
    'do not combine the file with --first-last-layers-bf16: modules that are BF16 through it stay BF16',
    'under pipeline parallelism a module path may hold a pipeline-local layer number; then this file fits no stage but the first',
  ];
}

export const megatron = layerTarget({
  id: 'megatron',
  label: 'Megatron precision YAML',
  sentence: 'A recipe a layer for --te-precision-config-file; flags for block protection.',
  preset: 'megatron',
  library: 'Megatron',
  fileEnding: 'megatron.yaml',
  mediaType: 'application/yaml',
  scope: 'module',
  formats: TE_FORMATS,
  usage,
  patterns: (held) => matchersOf(held).map(({ glob }) => ({ rule: 'glob', pattern: glob })),
  text,
});
