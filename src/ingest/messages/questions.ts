/** Questions in a message → columns of `raw_data`. */
import { cleanText, isRecord } from '../../json.ts';
import { cut, MAX_NAME } from '../typing/columns.ts';

/** One answer: the label as it was asked, the column that it goes to, and the answer's text (null: not answered). */
export interface Answer {
  label: string;
  column: string;
  text: string | null;
}

const words = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '_')
    .replace(/_+/g, '_')
    .replace(/^_|_$/g, '');

/** The canonical label: lower case, ASCII letters, digits and single underscores; `question_` before a digit or a reserved name, `question_empty` for nothing. */
function canonicaliseLabel(label: string, reserved: ReadonlySet<string>): string {
  const plain = words(label);
  if (plain === '') return 'question_empty';
  return cut(/^\d/.test(plain) || reserved.has(plain) ? `question_${plain}` : plain, MAX_NAME);
}

const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : typeof value === 'string' ? cleanText(value) : JSON.stringify(value);

/**
 * Reads `[{question_label, question_text, question_answer}]`. A label that comes twice in one message is told apart by its question's text
 * (`plot__which_plot`) where that differs, else by its position (`plot_2`). Entries that are no objects are passed over.
 */
export function readAnswers(questions: readonly unknown[], reserved: ReadonlySet<string>): Answer[] {
  const taken = new Set<string>();
  const asked = new Map<string, string>();
  // a label can come as often as there are columns
  const counts = new Map<string, number>();
  return questions.filter(isRecord).map((question) => {
    const label = textOf(question['question_label']) ?? '';
    const text = textOf(question['question_text']) ?? '';
    const canonical = canonicaliseLabel(label, reserved);
    const first = asked.get(canonical);
    let column = canonical;
    if (first === undefined) asked.set(canonical, text);
    else if (first !== text && words(text) !== '') column = cut(`${canonical}__${words(text)}`, MAX_NAME);
    const base = cut(column, MAX_NAME - 8);
    for (let count = counts.get(base) ?? 2; taken.has(column); count += 1) {
      column = `${base}_${count}`;
      counts.set(base, count);
    }
    taken.add(column);
    return { label, column, text: textOf(question['question_answer']) };
  });
}
