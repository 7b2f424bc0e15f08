import type { VisualizationSpec } from 'vega-embed';
import { roundedOf, textOf } from '../table/cell.tsx';
import { words } from '../words.ts';

const said = words.charts;

/** A piece of a specification. */
type Part = Record<string, unknown>;
interface Field {
  field?: string;
  type?: string;
  title?: string | null;
}

/** Marks that each stand for a value of their own. */
const SINGLE = new Set(['point', 'circle', 'bar', 'rect', 'arc']);
const CHANNELS = ['x', 'y', 'size', 'color', 'theta'] as const;
/** Lines of more points get no marks that are only there to be read. */
const MOST_POINTS = 2_000;
/** Pixels from a mark to what is read there. A mark taller than so many has it on itself where there is no room above. */
const GAP = 6;
const TALL = 60;
const SPREAD = ['greatest', 'high', 'median', 'low', 'least'] as const;

const typeOf = ({ mark }: Part): string =>
  (typeof mark === 'string' ? mark : ((mark as Part | undefined)?.['type'] as string | undefined)) ?? '';
const encodingOf = ({ encoding }: Part) => (encoding ?? {}) as Readonly<Record<string, Field | undefined>>;
const valuesOf = ({ data }: Part) => (data as { values?: readonly unknown[] } | undefined)?.values;
const isNamed = (field: Field | undefined) => field?.field !== undefined && field.title !== undefined;

/** A specification whose marks can be read, and by the name of each mark what is read there. */
export interface Tipped {
  spec: VisualizationSpec;
  encodings: ReadonlyMap<string, Part>;
}

/** Names the marks of a specification that stand for single values; points of lines become marks that are not seen. */
export function addTips(whole: VisualizationSpec): Tipped {
  const encodings = new Map<string, Part>();
  const name = (part: Part): Part => {
    const own = `tip${encodings.size}`;
    encodings.set(`${own}_marks`, encodingOf(part));
    return { ...part, name: own };
  };
  const add = (part: Part, above: readonly unknown[]): Part => {
    const values = valuesOf(part) ?? above;
    const changed: Part = { ...part };
    for (const kind of ['layer', 'concat']) {
      const parts = part[kind] as Part[] | undefined;
      if (parts === undefined) continue;
      const lines = parts.filter((each) => {
        const { x, y } = encodingOf(each);
        const isFilled = (each['mark'] as Part | undefined)?.['filled'] === true;
        const isLine = ['line', 'area'].includes(typeOf(each)) && !isFilled;
        return kind === 'layer' && isLine && isNamed(x) && isNamed(y) && (valuesOf(each) ?? values).length <= MOST_POINTS;
      });
      const hasPoints = parts.some((each) => typeOf(each) === 'point' && each['transform'] === undefined);
      const points = hasPoints ? [] : lines.map((line) => name({ ...line, mark: { type: 'point', filled: true, size: 90, opacity: 0 } }));
      changed[kind] = [...parts.map((each) => add(each, values)), ...points];
    }
    const { x, theta } = encodingOf(part);
    return SINGLE.has(typeOf(part)) && part['transform'] === undefined && (isNamed(x) || theta !== undefined) ? name(changed) : changed;
  };
  return { spec: add(whole as unknown as Part, []), encodings };
}

function valueText(value: unknown, type: string | undefined): string {
  if (type === 'temporal' && value !== null)
    return new Date(value as string)
      .toISOString()
      .replace('T', ' ')
      .replace(/( 00:00)?(:00)?\.000Z$|Z$/, '');
  return roundedOf(value, 'DOUBLE') ?? textOf(value) ?? said.noValue;
}

/** What is read at a mark: a line for each column. */
function linesOf(datum: Part, encoding: Readonly<Record<string, Field | undefined>>): string[] {
  const { x, y, color } = encoding;
  const column = color?.title === '' ? textOf(datum[color.field ?? '']) : null;
  const isSaid = column === null || [x, y].some((each) => each?.title?.includes(column));
  const titled = (title: string | null | undefined, text: string) => (title ? `${title}: ${text}` : text);
  return CHANNELS.flatMap((channel) => {
    const { field, type, title } = encoding[channel] ?? {};
    if (field === undefined || (title === undefined && channel !== 'theta' && channel !== 'color')) return [];
    if (channel === 'y' && 'median' in datum)
      return SPREAD.filter((part) => part in datum).map((part) => `${said.spread[part]}: ${valueText(datum[part], type)}`);
    // the name of a column that is drawn beside others, or alone
    if (channel === 'color' && title === '') return [];
    const text = valueText(datum[field], type);
    const end = encoding[`${channel}2`]?.field;
    if (end !== undefined) return [titled(title, `${text} – ${valueText(datum[end], type)}`)];
    const own = channel === 'y' && !isSaid ? column : title;
    const error = channel === 'y' && typeof datum['error'] === 'number' ? ` ± ${valueText(datum['error'], type)}` : '';
    return [titled(own, text + error)];
  });
}

type Drawn = Element & { __data__?: { datum?: Part; mark?: { name?: string } } };

/** Shows what stands at the mark under the pointer, or at the one that the arrow keys have come to. */
export function startTips(frame: HTMLElement, place: HTMLElement, tip: HTMLElement, { encodings }: Tipped): () => void {
  let shown: Element | undefined;
  const read = ({ __data__: item }: Drawn): string[] => {
    const encoding = encodings.get(item?.mark?.name ?? '');
    return encoding === undefined || item?.datum === undefined ? [] : linesOf(item.datum, encoding as Readonly<Record<string, Field>>);
  };
  const show = (mark: Element | undefined) => {
    shown?.classList.remove('is-read');
    shown = mark;
    tip.textContent = mark === undefined ? '' : read(mark).join('\n');
    if (mark === undefined) return;
    mark.classList.add('is-read');
    const [at, around] = [mark.getBoundingClientRect(), frame.getBoundingClientRect()];
    const left = at.left + at.width / 2 - around.left - tip.offsetWidth / 2;
    const above = at.top - around.top - tip.offsetHeight - GAP;
    tip.style.left = `${Math.max(0, Math.min(left, around.width - tip.offsetWidth))}px`;
    const below = at.height < TALL ? at.bottom - around.top + GAP : 0;
    tip.style.top = `${above < 0 ? below : above}px`;
  };
  const marks = [...place.querySelectorAll('.role-mark > path')].filter((mark) => read(mark).length > 0);
  // an application gets the arrow keys of whoever hears the page
  const isRead = marks.length > 0;
  frame.role = isRead ? 'application' : null;
  frame.ariaLabel = isRead ? said.values : null;
  if (isRead) frame.tabIndex = 0;
  else frame.removeAttribute('tabindex');
  const end = new AbortController();
  const { signal } = end;
  place.addEventListener('pointerover', ({ target }) => show(marks.find((mark) => mark === target)), { signal });
  place.addEventListener('pointerleave', ({ pointerType }) => (pointerType === 'touch' ? undefined : show(undefined)), { signal });
  frame.addEventListener('blur', () => show(undefined), { signal, capture: true });
  frame.addEventListener(
    'keydown',
    (event) => {
      const now = shown === undefined ? -1 : marks.indexOf(shown);
      const next = { ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1, Home: 0, End: marks.length - 1 }[
        event.key
      ];
      if (event.key === 'Escape') show(undefined);
      if (next === undefined || marks.length === 0) return;
      event.preventDefault();
      show(marks[Math.max(0, Math.min(next, marks.length - 1))]);
    },
    { signal },
  );
  return () => {
    end.abort();
    show(undefined);
  };
}
