import { useQuery } from '@tanstack/react-query';
import { useMemo, useState, type ReactNode } from 'react';
import { ProblemError } from '../../../clients/typescript/src/problem.ts';
import { tablesQuery } from '../experiments/queries.ts';
import { countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { InputField, SelectField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Options } from '../ui/options.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { countUnfit, DEVICE, findNameFault, type Metadata } from './draft.ts';
import { EditGrid } from './edit-grid.tsx';

const said = words.metadata.form;
const OTHER = 'other';

/** What identifiers are matched with: the device, a question that was answered, or one that will be. */
function Matched({ id, value, change }: { id: string; value: string; change: (question: string) => void }) {
  const tables = useQuery(tablesQuery(id)).data ?? [];
  const measurements = tables.find(({ identifier }) => identifier === 'raw_data');
  // columns that not every experiment has are those of questions
  const asked = (measurements?.columns ?? []).filter(({ firstSeenAt }) => firstSeenAt !== null).map(({ name }) => name);
  const known = [DEVICE, ...asked];
  const [isTyped, setTyped] = useState(value !== '');
  const chosen = known.includes(value) ? value : isTyped ? OTHER : '';
  const choose = (next: string) => {
    setTyped(next === OTHER);
    change(next === OTHER ? '' : next);
  };
  return (
    <>
      <SelectField id="metadata-matched" label={said.matched} required value={chosen} onChange={({ target }) => choose(target.value)}>
        <option value="">{words.workbooks.choose}</option>
        <option value={DEVICE}>{words.metadata.device}</option>
        <Options texts={asked.map((question) => [question, words.metadata.answer(question)])} />
        <option value={OTHER}>{said.other}</option>
      </SelectField>
      {chosen === OTHER ? (
        <InputField
          id="metadata-question"
          label={said.question}
          hint={said.questionHint}
          required
          maxLength={64}
          autoComplete="off"
          value={value}
          onChange={({ target }) => change(target.value)}
        />
      ) : null}
    </>
  );
}

/** Says what was refused, and names the columns that a refusal is about. */
export function FormProblem({ error, columns }: { error: unknown; columns: Metadata['columns'] }) {
  const complaints = error instanceof ProblemError ? error.complaints : [];
  const told = complaints.flatMap(({ path, message }) => {
    const name = columns[Number(/^\/metadata\/columns\/(\d+)\/name$/.exec(path)?.[1] ?? NaN)]?.name;
    return name === undefined ? [] : [said.refusedName(name, message)];
  });
  if (told.length === 0 || told.length < complaints.length) return <Problem error={error} />;
  return (
    <div className="notice problem" role="alert">
      {told.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <p className="small">{said.refusedAdvice}</p>
    </div>
  );
}

interface MetadataFormProps {
  id: string;
  draft: Metadata;
  change: (next: Metadata) => void;
  save: () => void;
  isSending: boolean;
  isChanged?: boolean;
  /** What went wrong when it was saved. */
  problem: ReactNode;
  /** What else can be done, beside the button that saves. */
  others?: ReactNode;
}

/** A metadata table to be written in: its name, what it is matched with, its columns and cells. */
export function MetadataForm({ id, draft, change, save, isSending, isChanged = true, problem, others = null }: MetadataFormProps) {
  const { name, columns, identifierColumnId, experimentQuestionId } = draft;
  const fault = findNameFault(draft);
  const unfit = useMemo(() => countUnfit(draft), [draft]);
  return (
    <Form className="panel metadata-form" aria-label={said.label} send={() => save()}>
      <div className="inline">
        <InputField
          id="metadata-name"
          label={said.name}
          required
          maxLength={120}
          autoComplete="off"
          value={name}
          onChange={({ target }) => change({ ...draft, name: target.value })}
        />
        <SelectField
          id="metadata-identifier"
          label={said.identifier}
          value={identifierColumnId}
          onChange={({ target }) => change({ ...draft, identifierColumnId: target.value })}
        >
          <Options texts={columns.map((column) => [column.id, column.name])} />
        </SelectField>
        <Matched id={id} value={experimentQuestionId} change={(question) => change({ ...draft, experimentQuestionId: question })} />
      </div>
      <EditGrid metadata={draft} label={words.metadata.grid(name)} change={change} />
      <div className="small" role="status">
        {unfit === 0 ? null : <p className="notice">{said.unfit(countText(unfit))}</p>}
        {fault === null ? null : (
          <p className="field-error">{fault.kind === 'twice' ? said.nameTwice(fault.name) : said.nameOdd(fault.name)}</p>
        )}
      </div>
      {problem}
      <div className="inline">
        <SendButton type="submit" className="button primary" isSending={isSending} isIdle={!isChanged || fault !== null}>
          {said.save}
        </SendButton>
        {others}
      </div>
    </Form>
  );
}
