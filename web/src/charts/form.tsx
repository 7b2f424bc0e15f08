import { isAdjusted } from '../../../src/charts/adjusted.ts';
import { findAxisKind, isMeasure, WITH_ERRORS } from '../../../src/api/visualizations/roles.ts';
import { CHART_ERRORS, type ChartType, type SourceRole } from '../../../src/api/visualizations/visualizations.model.ts';
import { BUCKETS, FUNCTIONS } from '../table/aggregates.ts';
import type { Filter } from '../table/search.ts';
import { Field, SelectField } from '../ui/field.tsx';
import { Options } from '../ui/options.tsx';
import { TextInput } from '../ui/text-input.tsx';
import { words } from '../words.ts';
import type { ChartShown, Decide, Look, Source } from './search.ts';
import { drawnSources, FAMILY, rolesOf, sumsUp, type Family } from './types.ts';

const said = words.charts;

interface Choice {
  value: string;
  text: string;
}

/** A list to choose one of. */
function Choose({
  id,
  label,
  value,
  choices,
  onChange,
}: {
  id: string;
  label: string;
  value: string;
  choices: readonly Choice[];
  onChange: (value: string) => void;
}) {
  return (
    <SelectField id={id} label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      <Options texts={choices.map(({ value: each, text }) => [each, text])} />
    </SelectField>
  );
}

/** Leaves the rows out that somebody flagged as outliers. */
const NO_OUTLIERS: Filter = { column: 'annotations', operator: 'has_no_flag', value: ['outlier'] };
const isNoOutliers = (filter: Filter) => JSON.stringify(filter) === JSON.stringify(NO_OUTLIERS);

const choicesOf = (texts: Readonly<Record<string, string>>): Choice[] => Object.entries(texts).map(([value, text]) => ({ value, text }));

/** A text that the picture shows; undefined where none is written. */
function Text({ id, label, value, onChange }: { id: string; label: string; value: string; onChange: (value: string | undefined) => void }) {
  return (
    <Field id={id} label={label}>
      <TextInput id={id} maxLength={255} value={value} take={(text) => onChange(text === '' ? undefined : text)} />
    </Field>
  );
}

/** The columns that are drawn, those of them that are measures, and how these are summed up. */
function measuredOf({ type, sources = [] }: ChartShown) {
  const drawn = drawnSources(type, sources);
  const measures = drawn.filter(({ role }) => isMeasure(type, role));
  return {
    drawn,
    measures,
    summary: measures.find(({ aggregate }) => aggregate !== undefined)?.aggregate,
    error: drawn.find((one) => one.error !== undefined)?.error,
  };
}

/** What is computed of numbers alone. */
const OF_NUMBERS: ReadonlySet<string | undefined> = new Set(['avg', 'median', 'sum']);
/** Types that give each value across a place of its own. */
const OF_PLACES: ReadonlySet<ChartType> = new Set(['box-plot', 'violin-plot', 'heatmap']);

interface FormProps {
  search: ChartShown;
  columns: readonly { name: string; type: string }[];
  /** Several choices may be made before the first of them is drawn. */
  change: (decide: Decide) => void;
}

/** The type of a chart, its columns, and how it looks. What is chosen is drawn at once. */
export function ChartForm({ search, columns, change }: FormProps) {
  const { type, aggregation, filters = [], look = {} } = search;
  const { drawn, measures, summary, error } = measuredOf(search);
  const kindOfColumn = (name: string) => findAxisKind(columns.find((column) => column.name === name)?.type ?? '');
  const moment = drawn.find(({ role, columnName }) => role === 'x' && kindOfColumn(columnName) === 'temporal')?.columnName;
  const bucket = aggregation?.groupBy?.find(({ column }) => column === moment)?.timeBucket;

  const setMeasures = (next: (source: Source) => Source) =>
    change(({ sources = [] }) => ({ sources: sources.map((source) => (isMeasure(type, source.role) ? next(source) : source)) }));
  const setRole = (role: SourceRole, at: number, columnName: string) =>
    change((now) => {
      const { sources = [] } = now;
      const { summary: aggregate, error: bars } = measuredOf(now);
      const playing = sources.filter((source) => source.role === role);
      const more =
        isMeasure(type, role) && aggregate !== undefined
          ? { aggregate, ...(role === 'y' && bars !== undefined ? { error: bars } : {}) }
          : {};
      const next = columnName === '' ? [] : [{ ...more, ...playing[at], role, columnName }];
      return { sources: [...sources.filter((source) => source.role !== role), ...playing.slice(0, at), ...next, ...playing.slice(at + 1)] };
    });
  const setBucket = (value: string) =>
    change(({ aggregation: before }) => {
      const others = (before?.groupBy ?? []).filter(({ column }) => column !== moment);
      const timeBucket = BUCKETS.find((each) => each === value);
      const groupBy = moment === undefined || timeBucket === undefined ? others : [...others, { column: moment, timeBucket }];
      return { aggregation: { ...before, groupBy } };
    });
  const setLook = (next: (look: Look) => Partial<Look>) => change(({ look: before = {} }) => ({ look: { ...before, ...next(before) } }));
  return (
    <form className="panel chart-form" aria-label={said.form} onSubmit={(event) => event.preventDefault()}>
      <SelectField
        id="chart-type"
        label={said.type}
        value={type}
        onChange={({ target }) => change(() => ({ type: target.value as ChartType }))}
      >
        {(Object.keys(said.families) as Family[]).map((family) => (
          <optgroup key={family} label={said.families[family]}>
            {(Object.keys(FAMILY) as ChartType[])
              .filter((each) => FAMILY[each] === family)
              .map((each) => (
                <option key={each}>{each}</option>
              ))}
          </optgroup>
        ))}
      </SelectField>
      {rolesOf(type).flatMap(([role, { required, many, kinds }]) => {
        const playing = drawn.filter((source) => source.role === role);
        const fitting = columns.filter(
          ({ type: of }) =>
            (kinds === undefined || kinds.includes('categorical') || kinds.includes(findAxisKind(of))) &&
            (!OF_NUMBERS.has(summary) || !isMeasure(type, role) || findAxisKind(of) === 'numeric'),
        );
        const slots = many === true ? [...playing, undefined] : [playing[0]];
        return slots.map((source, at) => (
          <Choose
            key={`${role} ${at}`}
            id={`role-${role}-${at}`}
            label={at === 0 ? said.roles[role] : said.another(said.roles[role])}
            value={source?.columnName ?? ''}
            choices={[
              { value: '', text: required === true && at === 0 ? said.choose : said.nothing },
              ...fitting.map(({ name }) => ({ value: name, text: name })),
              // members of a column and columns that are gone stay chosen
              ...(source === undefined || fitting.some(({ name }) => name === source.columnName)
                ? []
                : [{ value: source.columnName, text: source.columnName === '*' ? said.everyRow : source.columnName }]),
            ]}
            onChange={(value) => setRole(role, at, value)}
          />
        ));
      })}
      {moment !== undefined && OF_PLACES.has(type) && (!sumsUp(type) || (measures.length > 0 && summary === undefined)) ? (
        <p className="hint">{said.everyMoment[sumsUp(type) ? 'summed' : 'spread']}</p>
      ) : null}
      {measures.length === 0 || !sumsUp(type) ? null : (
        <Choose
          id="chart-summary"
          label={said.summary}
          value={summary ?? ''}
          choices={[
            ...choicesOf(said.summaries),
            ...(summary === undefined || summary in said.summaries ? [] : [{ value: summary, text: summary }]),
          ]}
          onChange={(value) => {
            const aggregate = FUNCTIONS.find((each) => each === value);
            setMeasures(({ aggregate: _before, error: bars, ...source }) => ({
              ...source,
              ...(aggregate === undefined ? {} : { aggregate }),
              ...(aggregate === 'avg' && bars !== undefined ? { error: bars } : {}),
            }));
          }}
        />
      )}
      {summary === undefined || moment === undefined ? null : (
        <Choose
          id="chart-bucket"
          label={said.bucket}
          value={bucket ?? ''}
          choices={[{ value: '', text: said.anyTime }, ...BUCKETS.map((each) => ({ value: each, text: each }))]}
          onChange={setBucket}
        />
      )}
      {summary === 'avg' && WITH_ERRORS.has(type) ? (
        <Choose
          id="chart-error"
          label={said.error}
          value={error ?? ''}
          choices={choicesOf(said.errors)}
          onChange={(value) => {
            const bars = CHART_ERRORS.find((each) => each === value);
            setMeasures(({ error: _before, ...source }) => ({
              ...source,
              ...(bars === undefined || source.role !== 'y' ? {} : { error: bars }),
            }));
          }}
        />
      ) : null}
      {columns.some(({ name }) => name === NO_OUTLIERS.column) ? (
        <label className="check">
          <input
            type="checkbox"
            checked={filters.some(isNoOutliers)}
            onChange={({ target }) =>
              change(({ filters: before = [] }) => ({
                filters: [...before.filter((filter) => !isNoOutliers(filter)), ...(target.checked ? [NO_OUTLIERS] : [])],
              }))
            }
          />
          {said.noOutliers}
        </label>
      ) : null}
      <h3 className="chart-look">{said.look}</h3>
      <Text id="chart-title" label={said.chartTitle} value={look.title ?? ''} onChange={(title) => setLook(() => ({ title }))} />
      <Text
        id="chart-x"
        label={said.axis.x}
        value={look.x?.title ?? ''}
        onChange={(title) => setLook(({ x }) => ({ x: { ...x, title } }))}
      />
      <Text
        id="chart-y"
        label={said.axis.y}
        value={look.y?.title ?? ''}
        onChange={(title) => setLook(({ y }) => ({ y: { ...y, title } }))}
      />
      {isAdjusted(type, 'log', 'y') ? (
        <label className="check">
          <input
            type="checkbox"
            checked={look.y?.scale === 'log'}
            onChange={({ target }) => setLook(({ y }) => ({ y: { ...y, scale: target.checked ? 'log' : undefined } }))}
          />
          {said.log}
        </label>
      ) : null}
      <label className="check">
        <input
          type="checkbox"
          checked={look.theme === 'dark'}
          onChange={({ target }) => setLook(() => ({ theme: target.checked ? 'dark' : undefined }))}
        />
        {said.dark}
      </label>
    </form>
  );
}
