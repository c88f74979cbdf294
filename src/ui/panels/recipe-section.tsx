/**
 * The recipe chooser: every recipe and preset, the chosen one's sentence and switches, each with its own, and what is
 * simulated (formats.md 10). A radio group: arrows choose, each choice is one undo step and brings back that recipe's plan.
 * Where the height is small it is folded to the chosen recipe, which else would be out of sight.
 */
import { useEffect, useId, useRef, useState, useSyncExternalStore } from 'react';
import type { PolicyOptions, RecipeName } from '../../graph/policy';
import { RECIPE_PRESETS, recipeOptions, RECIPES, SWITCHES, type OptionName } from '../../graph/recipes';
import { outScalingName, recipeId, recipeLabel, switchWords } from '../../state';
import { useActions, useFacts } from '../workbench';
import { SecondFormat } from './second-format';
import { SeedField } from './seed-field';
import './setup.css';

interface Choice {
  readonly id: string;
  readonly label: string;
  readonly sentence: string;
  readonly recipe: RecipeName;
  /** Null: the switches that the recipe had. */
  readonly options: PolicyOptions | null;
}

/** Recipes in the order of RECIPES, a preset after its recipe. */
const CHOICES: readonly Choice[] = Object.values(RECIPES).flatMap(({ name: recipe, label: name, sentence: words }): Choice[] => [
  { id: recipe, label: name, sentence: words, recipe, options: null },
  ...Object.entries(RECIPE_PRESETS).filter(([, preset]) => preset.recipe === recipe).map(([id, { label, sentence, options }]) => ({ id, label, sentence, recipe, options })),
]);

/** The heights of the folded rail (src/app/layout.css); a page that scrolls as a whole has room. */
const LOW = '(min-width: 900px) and (min-height: 560px) and (max-height: 839px)';
function subscribeLow(changed: () => void): () => void {
  const query = matchMedia(LOW);
  query.addEventListener('change', changed);
  return () => query.removeEventListener('change', changed);
}

export function RecipeSection() {
  const isLow = useSyncExternalStore(subscribeLow, () => matchMedia(LOW).matches);
  const [isOpen, setOpen] = useState(false);
  const recipe = useFacts((f) => f.recipe);
  const options = useFacts((f) => f.options);
  const actions = useActions();
  const [explained, setExplained] = useState(false);
  const group = useId();
  const chosen = recipeId(recipe, options);
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isLow && isOpen) section.current?.scrollIntoView({ block: 'start' });
  }, [isLow, isOpen]);
  const isFolded = isLow && !isOpen;
  return (
    <section className="rail-section" aria-labelledby={`${group}-heading`} ref={section}>
      <div className="heading-row">
        <h2 id={`${group}-heading`}>Recipe</h2>
        <span className="heading-links">
          {isFolded ? null : <button key="explain" type="button" className="link small" onClick={() => setExplained(!explained)}>{explained ? 'names only' : 'explain all'}</button>}
          {isLow ? <button key="fold" type="button" className="link small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>{isOpen ? 'fold' : 'choose another'}</button> : null}
        </span>
      </div>
      {isFolded ? <p><strong>{recipeLabel(recipe, options)}</strong> <span className="muted small">{switchWords(options) || 'no switches set'}</span></p> : (
        <>
          <div className="recipes" role="radiogroup" aria-labelledby={`${group}-heading`}>
            {CHOICES.map((choice) => (
              <div key={choice.id} className="recipe">
                <label className="check" title={choice.sentence}>
                  <input type="radio" name={group} checked={choice.id === chosen} aria-describedby={`${group}-${choice.id}`} onChange={() => actions.setRecipe(choice.recipe, choice.options)} />
                  {choice.label}
                </label>
                <p id={`${group}-${choice.id}`} className="muted small" hidden={!explained && choice.id !== chosen}>{choice.sentence}</p>
              </div>
            ))}
          </div>
          <Switches recipe={recipe} options={options} />
          <SecondFormat />
          <Simulated recipe={recipe} options={options} />
        </>
      )}
      {isFolded ? <SecondFormat /> : null}
    </section>
  );
}

function Switches({ recipe, options }: { readonly recipe: RecipeName; readonly options: PolicyOptions }) {
  const actions = useActions();
  const { switches, label } = RECIPES[recipe];
  // A switch that nothing reads as the others stand (a seed without random rounding) is not offered.
  const offered = switches.filter((name) => name !== 'seed' || options.sr === true).filter((name) => name !== 'pow2' || (options.out ?? 'tensor') === 'tensor');
  const set = (change: PolicyOptions): void => actions.setRecipe(recipe, { ...options, ...change });
  if (offered.length === 0) return <p className="muted small">{label} has no switches.</p>;
  return (
    <fieldset className="switches">
      <legend className="visually-hidden">Switches of {label}</legend>
      {offered.map((name) => <SwitchControl key={name} name={name} options={options} set={set} />)}
    </fieldset>
  );
}

interface SwitchProps {
  readonly name: OptionName;
  readonly options: PolicyOptions;
  set(change: PolicyOptions): void;
}

function SwitchControl({ name, options, set }: SwitchProps) {
  const id = useId();
  const { label, sentence, values } = SWITCHES[name];
  return (
    <div className="switch">
      {values === 'flag' ? (
        <label className="check"><input type="checkbox" checked={options[name] === true} aria-describedby={id} onChange={(event) => set({ [name]: event.target.checked })} />{label}</label>
      ) : values === 'u32' ? (
        <SeedField label={label} value={Number(options[name] ?? 0)} describedBy={id} onSeed={(seed) => set({ [name]: seed })} />
      ) : (
        <label className="check">
          {label}
          <select className="select" value={String(options[name] ?? values[0])} aria-describedby={id} onChange={(event) => set({ [name]: event.target.value })}>
            {values.map((value) => <option key={value} value={value}>{outScalingName(value)}</option>)}
          </select>
        </label>
      )}
      <p id={id} className="muted small">{sentence}</p>
    </div>
  );
}

/** The claims of formats.md 10 in the words of the recipe's kind. */
function Simulated({ recipe, options }: { readonly recipe: RecipeName; readonly options: PolicyOptions }) {
  const isPass = RECIPES[recipe].kind === 'pass';
  const order = recipeOptions(recipe, options).floor ? 'with block scales by the OCP rule (rounded down)' : 'in TransformerEngine’s order of operations';
  return (
    <details>
      <summary>What is simulated, what is not</summary>
      <p className="small">
        <strong>Exact:</strong> the rounding. {isPass ? `Every low operand becomes its code, bit for bit ${order}` : 'Every low output is kept as its code and read back from it by all that use it; its arriving gradient and its GEMM weight are rounded too'};
        the rest is BF16 mixed precision, and products are accumulated in FP32.
      </p>
      <p className="small">
        <strong>Not modelled:</strong> the accumulation widths of tensor cores, and speed. {isPass ? 'Head, attention products, norms and residual sums stay BF16.' : 'GEMMs multiply the values read back, as BF16.'}
      </p>
    </details>
  );
}
