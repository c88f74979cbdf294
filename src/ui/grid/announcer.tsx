/** Polite live region: what a gesture did and the new totals, once the hand rests (ux.md 3.7). */
import { useEffect, useState } from 'react';
import { formatPercent, significant } from '../../base/units';
import { costWords, recipeName, shownNow, totalsOf } from '../../state';
import { useWorkbench } from '../workbench';

const RESTS_AFTER_MS = 600;

export function Announcer() {
  const { document, facts } = useWorkbench();
  const [text, setText] = useState('');
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const stop = document.subscribe((now, before) => {
      if ((now.plan === before.plan && now.options === before.options) || now.plan === null) return;
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => {
        const { plan, label, recipe, options } = document.getState();
        const totals = plan ? totalsOf(shownNow({ facts, document }), plan) : null;
        if (!totals) return;
        const predicted = totals.predictedDeg === null ? 'not predicted' : `predicted ${significant(totals.predictedDeg)} degrees`;
        setText(`${label === '' ? 'Plan' : label}: ${recipeName(recipe, options)}, ${costWords(recipe).name} ${formatPercent(totals.hpShare)}, ${predicted}, ${totals.siteCount.bf16} cells BF16.`);
      }, RESTS_AFTER_MS);
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, [document, facts]);
  return <p className="visually-hidden" role="status" aria-live="polite">{text}</p>;
}
