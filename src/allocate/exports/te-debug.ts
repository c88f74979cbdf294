/**
 * TransformerEngine's debug tool (nvidia-dlfw-inspect): a YAML file that takes single GEMMs out of the training recipe.
 * A layer that two enabled sections match is an error there, so there is one section a distinct setting, disjoint and
 * anchored. Layers that stay low have a section too: the tool refuses a file without any, and every layer then matches
 * exactly once. Source: formats.md 6.1; nvidia-dlfw-inspect `config_manager.py`.
 */
import { PASSES, type Pass } from '../../graph/types';
import { layerTarget, type HeldLayer, type HeldPlan } from './layer-target';
import { anchoredRegex, yamlString } from './patterns';
import { TE_FORMATS, teFormat, tokensMultiple } from './te-formats';

interface Section {
  readonly high: readonly Pass[];
  readonly layers: readonly HeldLayer[];
}

/** In the order in which the settings first occur. */
function sectionsOf({ layers }: HeldPlan): readonly Section[] {
  const sections = new Map<string, { readonly high: readonly Pass[]; readonly layers: HeldLayer[] }>();
  for (const layer of layers) {
    const high = PASSES.filter((pass) => layer.held[pass] === 'bf16');
    const key = high.join();
    const known = sections.get(key);
    if (known) known.layers.push(layer);
    else sections.set(key, { high, layers: [layer] });
  }
  return [...sections.values()];
}

function section({ high, layers }: Section): string {
  const name = high.length === 0 ? 'all_in_recipe' : high.length === PASSES.length ? 'all_bf16' : `${high.join('_')}_bf16`;
  return [
    `${name}:  # ${layers.length === 1 ? '1 layer' : `${layers.length} layers`}`,
    '  enabled: True',
    '  layers:',
    `    layer_name_regex_pattern: ${yamlString(anchoredRegex(layers))}`,
    '  transformer_engine:',
    '    DisableQuantizationGEMM:',
    `      enabled: ${high.length === 0 ? 'False' : 'True'}`,
    `      gemms: [${high.join(', ')}]`,
  ].map((line) => `${line}\n`).join('');
}

export const teDebug = layerTarget({
  id: 'te-debug',
  label: 'TransformerEngine debug YAML',
  sentence: 'Takes single GEMMs out of the training recipe; for diagnosis, slow.',
  preset: 'te',
  library: 'TransformerEngine debug',
  fileEnding: 'te-debug.yaml',
  mediaType: 'application/yaml',
  scope: 'gemm',
  isSingle: true,
  formats: TE_FORMATS,
  usage: ({ schemes, options }) => [
    ...schemes.map((scheme) => `train with te.autocast(recipe=${teFormat(scheme).recipe(options)}), tokens a step in multiples of ${tokensMultiple(teFormat(scheme))}`),
    'before the model is built: debug_api.initialize(config_file=..., feature_dirs=[".../transformer_engine/debug/features"]); debug_api.step() each iteration',
    'every module needs a name=...; a quantized module that is not named below, such as a head, follows the recipe; FP8 primary weights are refused',
  ],
  patterns: (held) => sectionsOf(held).map(({ layers }) => ({ rule: 'search', pattern: anchoredRegex(layers) })),
  text: (held, { comment }) => [comment, ...sectionsOf(held).map(section)].join('\n'),
});
