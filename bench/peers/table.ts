/** What was measured, as one Markdown table. */
import type { PeerName } from './peer.ts';
import { QUESTIONS, type Question } from './questions.ts';

export interface Line {
  question: Question;
  peer: PeerName;
  /** Median of the rounds. */
  milliseconds: number;
  /** Of processor, of all its processes, a round. */
  processor: number;
  peakMib: number;
}

export interface Outcome {
  rows: number;
  versions: readonly { peer: PeerName; version: string }[];
  lines: readonly Line[];
  /** What could not be measured, and why. */
  missing: readonly { peer: PeerName; why: string }[];
}

const digits = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });

/** What a bar comes to beside what was measured. */
function judge({ lines }: Outcome, question: Question): string {
  const { bar } = QUESTIONS[question];
  const find = (name: PeerName) => lines.find((line) => line.question === question && line.peer === name)?.milliseconds;
  const [ours, theirs] = [find('fieldlake'), bar && find(bar.peer)];
  if (!bar || ours === undefined) return '';
  if (theirs === undefined) return `no ${bar.peer} to compare with`;
  const most = bar.times * theirs + bar.plus;
  return `${ours <= most ? 'held' : 'not held'}: at most ${digits(most)}`;
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** Prints one table of everything, and what each peer was. */
export function printTable(outcome: Outcome): string {
  const head = ['question', 'who', 'ms', 'times ours', 'processor, ms', 'peak memory, MiB', 'bar'];
  const body = outcome.lines.map(({ question, peer, milliseconds, processor, peakMib }) => {
    const ours = outcome.lines.find((line) => line.question === question && line.peer === 'fieldlake');
    const isOurs = peer === 'fieldlake';
    return row([
      isOurs || !ours ? `${question}: ${QUESTIONS[question].says}` : '',
      peer,
      digits(milliseconds),
      isOurs || !ours ? '' : (milliseconds / ours.milliseconds).toFixed(2),
      digits(processor),
      digits(peakMib),
      isOurs ? judge(outcome, question) : '',
    ]);
  });
  const versions = outcome.versions.map(({ peer, version }) => `${peer} ${version}`).join('; ');
  return [
    `${outcome.rows.toLocaleString('en')} rows. ${versions}.`,
    ...outcome.missing.map(({ peer, why }) => `Not measured: ${peer}, ${why}.`),
    '',
    row(head),
    row(head.map((_, at) => (at < 2 || at === 6 ? '---' : '---:'))),
    ...body,
    '',
  ].join('\n');
}
