/** Polite live region: what a gesture did and the new totals, once the hand rests (ux.md 3.7). */
import { useEffect, useState } from 'react';
import { significant } from '../../base/units';
import { costChoiceOf, costFigureOf, costOf, recipeName, shownNow, totalsOf } from '../../state';
import { costUnit } from '../budget/cost-words';
import { costText } from '../charts/cost-axis';
import { useWorkbench } from '../workbench';

const RESTS_AFTER_MS = 600;

export function Announcer() {
  const { document, facts, view } = useWorkbench();
  const [text, setText] = useState('');
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const say = (words: () => string | null): void => {
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => {
        const said = words();
        if (said !== null) setText(said);
      }, RESTS_AFTER_MS);
    };
    const planWords = (): string | null => {
      const { plan, label, recipe, options } = document.getState();
      const shown = shownNow({ facts, document });
      const totals = plan && totalsOf(shown, plan);
      if (!plan || !totals) return null;
      const choice = costChoiceOf(view.getState());
      const [table, cost] = [costOf(shown, choice), costFigureOf(shown, plan, choice)];
      const costs = table === null || cost === null ? 'cost not known' : `${table.name} ${costText({ unit: costUnit(table.kind) }, cost)}`;
      const predicted = totals.predictedDeg === null ? 'not predicted' : `predicted ${significant(totals.predictedDeg)} degrees`;
      return `${label === '' ? 'Plan' : label}: ${recipeName(recipe, options)}, ${costs}, ${predicted}, ${totals.siteCount.bf16} cells BF16.`;
    };
    const stops = [
      document.subscribe((now, before) => {
        if (now.plan !== null && (now.plan !== before.plan || now.options !== before.options)) say(planWords);
        else if (now.saved !== before.saved) say(() => `${document.getState().label}.`);
      }),
      view.subscribe((now, before) => {
        if (now.pinned !== before.pinned) say(() => (now.pinned === null ? 'No plan is A.' : `${now.pinned.name} is A: other plans are held against it.`));
      }),
    ];
    return () => {
      stops.forEach((stop) => stop());
      if (timer !== null) clearTimeout(timer);
    };
  }, [document, facts, view]);
  return <p className="visually-hidden" role="status" aria-live="polite">{text}</p>;
}
