/** The badge A: the plan that others are held against. */
import './letter.css';

export function LetterA() {
  return <span className="letter-a" title="A: the plan that others are held against">A</span>;
}
