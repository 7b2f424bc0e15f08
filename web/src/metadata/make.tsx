import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { experimentQuery } from '../experiments/queries.ts';
import { countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { Field, InputField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { LeaveQuestion } from '../ui/leave-question.tsx';
import { words } from '../words.ts';
import { MOST_CHARACTERS, MOST_COLUMNS, readCells, readText, type Fault } from './delimited.ts';
import { tableOf, type Metadata } from './draft.ts';
import { FormProblem, MetadataForm } from './form.tsx';
import { makeMetadata } from './queries.ts';
import './metadata.css';

const route = getRouteApi('/guarded/experiments/$id/metadata/new');
const said = words.metadata;

function tellFault(fault: Fault): string {
  const { faults } = said.source;
  switch (fault.kind) {
    case 'empty':
    case 'binary':
      return faults[fault.kind];
    case 'long':
      return faults.long(countText(MOST_CHARACTERS));
    case 'many':
      return faults.many(MOST_COLUMNS);
    case 'quote':
      return faults.quote(fault.line);
    case 'wide':
      return faults.wide(fault.line, fault.cells, fault.columns);
  }
}

/** A file's name as a table's: `Plots 2026.csv` gives `Plots 2026`. */
const nameLike = (file: string): string => file.replace(/\.[^.]+$/, '').slice(0, 120);

/** A place to paste rows, or to read them from a file. */
function Source({ read }: { read: (table: Metadata) => void }) {
  const [text, setText] = useState('');
  const [fault, setFault] = useState<Fault>();
  const take = (given: string, name: string) => {
    const cells = readCells(given);
    if ('fault' in cells) setFault(cells.fault);
    else read({ ...tableOf(cells), name });
  };
  const open = useMutation({
    mutationFn: async (file: File) => ({ given: await readText(file), name: nameLike(file.name) }),
    onSuccess: ({ given, name }) => take(given, name),
  });
  return (
    <Form className="panel" send={() => take(text, '')} aria-labelledby="metadata-source">
      <LeaveQuestion isDirty={text !== ''} question={said.source.leaveAsk} />
      <h2 id="metadata-source">{said.source.title}</h2>
      <Field id="metadata-text" label={said.source.text}>
        <textarea
          id="metadata-text"
          className="input metadata-text"
          rows={10}
          spellCheck={false}
          required
          aria-describedby="metadata-text-hint"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <span id="metadata-text-hint" className="hint">
          {said.source.hint}
        </span>
      </Field>
      {fault === undefined ? null : (
        <p className="notice problem" role="alert">
          {tellFault(fault)}
        </p>
      )}
      <Problem error={open.error} />
      <div className="inline">
        <button type="submit" className="button primary">
          {said.source.read}
        </button>
        <InputField
          id="metadata-file"
          label={said.source.file}
          type="file"
          accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values,text/plain"
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file !== undefined) open.mutate(file);
          }}
        />
      </div>
    </Form>
  );
}

/** Makes a metadata table of rows that are pasted or read, which can be changed before they are saved. */
export function MakeMetadataPage() {
  const { id } = route.useParams();
  const navigate = route.useNavigate();
  const { isAdmin, experiment } = useSuspenseQuery(experimentQuery(id)).data;
  const [draft, setDraft] = useState<Metadata>();
  const { mutate, isPending, error } = useMutation({
    mutationFn: (metadata: Metadata) => makeMetadata(id, metadata),
    onSuccess: async (metadataId) => {
      await navigate({ to: '/experiments/$id/metadata/$metadata', params: { id, metadata: metadataId }, search: {}, ignoreBlocker: true });
      sayDone(said.form.made);
    },
  });
  const mayMake = isAdmin && experiment.status !== 'archived';
  return (
    <div className="stack">
      <title>{`${said.source.title} · ${experiment.name} · ${words.name}`}</title>
      <p className="small">
        <Link to="/experiments/$id/metadata" params={{ id }} search={{}}>
          {said.back}
        </Link>
      </p>
      {draft === undefined ? (
        mayMake ? (
          <Source read={setDraft} />
        ) : (
          <p className="quiet">{said.notYours}</p>
        )
      ) : (
        <>
          <LeaveQuestion isDirty question={said.form.leaveAsk} />
          <MetadataForm
            id={id}
            draft={draft}
            change={setDraft}
            save={() => mutate(draft)}
            isSending={isPending}
            problem={<FormProblem error={error} columns={draft.columns} />}
          />
        </>
      )}
    </div>
  );
}
