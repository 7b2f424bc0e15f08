import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { hasLostNetwork } from '../api.ts';
import { tablesQuery, type TableListed } from '../experiments/queries.ts';
import { bytesText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone, sayFailed } from '../shell/toasts.tsx';
import { Field, SelectField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { LeaveQuestion } from '../ui/leave-question.tsx';
import { Options } from '../ui/options.tsx';
import { StillButton } from '../ui/still-button.tsx';
import { words } from '../words.ts';
import { nothingChosen, withFiles, type Chosen } from './chosen.ts';
import { FileChoice } from './file-choice.tsx';
import { Preview, usePreview } from './preview.tsx';
import { isReadAsText, KIND_NAMES, ofNoKind, othersThan, TABLE_NAME, type Kind } from './kinds.ts';
import { renewTables, sendFiles } from './queries.ts';
import { ReadingForm } from './reading-form.tsx';
import type { Sent } from './send.ts';

const said = words.upload;

const refuse = (event: Event) => event.preventDefault();

/** Keeps the browser from opening a file that is dropped beside its place. */
function useGuardedPage(): void {
  useEffect(() => {
    window.addEventListener('dragover', refuse);
    window.addEventListener('drop', refuse);
    return () => {
      window.removeEventListener('dragover', refuse);
      window.removeEventListener('drop', refuse);
    };
  }, []);
}

function Progress({ sent: { bytes, total }, isPaused, cancel }: { sent: Sent; isPaused: boolean; cancel: () => void }) {
  const text = isPaused ? said.paused : total > 0 && bytes >= total ? said.sentAll : said.sending(bytesText(bytes), bytesText(total));
  return (
    <div className="notice progress">
      <p role="status" className="number">
        {text}
      </p>
      <progress aria-label={said.sendingLabel} max={Math.max(total, 1)} value={bytes} />
      <p>
        <button
          type="button"
          className="button"
          onClick={({ currentTarget: { form } }) => {
            // this button goes from the page
            form?.querySelector<HTMLElement>('[type=submit]')?.focus();
            cancel();
          }}
        >
          {said.cancel}
        </button>
      </p>
    </div>
  );
}

interface UploadFormProps {
  id: string;
  /** Whether the caller manages the experiment, and so may make tables. */
  mayMakeTables: boolean;
}

function TargetFields({
  chosen: { tableId, tableName },
  tables,
  mayMakeTables,
  isDisabled,
  change,
}: {
  chosen: Chosen;
  tables: readonly TableListed[];
  mayMakeTables: boolean;
  isDisabled: boolean;
  change: (next: Partial<Chosen>) => void;
}) {
  const isTaken = tables.some(({ displayName }) => displayName === tableName);
  return (
    <>
      <SelectField
        id="upload-target"
        label={said.target}
        hint={!mayMakeTables && tableId === '' ? said.targetHint : undefined}
        value={tableId}
        required={!mayMakeTables}
        disabled={isDisabled}
        onChange={(event) => change({ tableId: event.target.value })}
      >
        {mayMakeTables ? (
          <option value="">{said.targetNew}</option>
        ) : (
          <option value="" disabled hidden>
            {said.targetNone}
          </option>
        )}
        <Options texts={tables.map(({ identifier, displayName }) => [identifier, said.targetExisting(displayName)])} />
      </SelectField>
      {mayMakeTables && tableId === '' ? (
        <Field id="upload-name" label={said.tableName}>
          <input
            id="upload-name"
            className="input"
            aria-describedby="upload-name-hint"
            required
            pattern={TABLE_NAME}
            title={said.tableNameHint}
            maxLength={63}
            autoComplete="off"
            value={tableName}
            disabled={isDisabled}
            onChange={(event) => change({ tableName: event.target.value })}
          />
          <p id="upload-name-hint" className={isTaken ? 'field-error' : 'hint'}>
            {isTaken ? said.tableNameTaken(tableName) : said.tableNameHint}
          </p>
        </Field>
      ) : null}
    </>
  );
}

/** Chooses files and sends them. What was chosen stays until it has arrived. */
export function UploadForm({ id, mayMakeTables }: UploadFormProps) {
  const tables = useSuspenseQuery(tablesQuery(id)).data.filter(({ tableType }) => tableType === 'upload');
  const navigate = useNavigate();
  const [chosen, setChosen] = useState(() => nothingChosen);
  const [sent, setSent] = useState<Sent>({ bytes: 0, total: 0 });
  const canceller = useRef<AbortController>(null);
  const form = useRef<HTMLFormElement>(null);
  const { mutate, isPending, isPaused, error } = useMutation({
    // files wait for the connection, also for one that is lost on the way, and the page says so
    networkMode: 'online',
    retry: hasLostNetwork,
    mutationFn: (sending: { signal: AbortSignal; chosen: Chosen; key: string }) => sendFiles(id, { ...sending, tell: setSent }),
    // who went to another page meanwhile is asked before all pages are closed, and told what came of it
    onMutate: () => window.addEventListener('beforeunload', refuse),
    onSuccess: async () => {
      await renewTables(id);
      if (form.current === null) sayDone(said.arrived);
    },
    onError: (failure) => (form.current === null ? sayFailed(failure) : undefined),
    onSettled: () => window.removeEventListener('beforeunload', refuse),
  });
  useGuardedPage();
  const change = (next: Partial<Chosen>) => setChosen((before) => ({ ...before, ...next }));
  const submit = () => {
    canceller.current = new AbortController();
    setSent({ bytes: 0, total: chosen.files.reduce((sum, { size }) => sum + size, 0) });
    mutate(
      { chosen, signal: canceller.current.signal, key: crypto.randomUUID() },
      {
        onSuccess: ({ uploadId }) =>
          void navigate({ to: '/experiments/$id/uploads/$upload', params: { id, upload: uploadId }, ignoreBlocker: true }),
      },
    );
  };
  const hasPlace = mayMakeTables || chosen.tableId !== '';
  const preview = usePreview(id, hasPlace ? chosen : { ...chosen, files: [] });
  const others = othersThan(chosen.kind, chosen.files);
  const wasCancelled = error instanceof DOMException && error.name === 'AbortError';
  if (!mayMakeTables && tables.length === 0) return <p className="quiet">{said.noTable}</p>;
  return (
    <Form ref={form} className="stack" send={submit}>
      <LeaveQuestion isDirty={chosen.files.length > 0 && !isPending} title={said.leaveAsk} question={said.leaveText} />
      <FileChoice
        files={chosen.files}
        isDisabled={isPending}
        add={(files) => setChosen((before) => withFiles(before, files))}
        remove={(file) => change({ files: chosen.files.filter((each) => each !== file) })}
      />
      {chosen.files.length === 0 ? null : (
        <>
          <Field id="upload-kind" label={said.kind}>
            <select
              id="upload-kind"
              className="input"
              value={chosen.kind}
              disabled={isPending}
              onChange={(event) => change({ kind: event.target.value as Kind })}
            >
              <Options texts={KIND_NAMES.map((kind) => [kind, said.kinds[kind]])} />
            </select>
            {others.length === 0 ? null : (
              <p className="field-error">
                {said.otherKind(others)}
                {ofNoKind(chosen.files).length === 0 ? null : ` ${said.noKind(said.files.hint)}`}
              </p>
            )}
          </Field>
          <TargetFields chosen={chosen} tables={tables} mayMakeTables={mayMakeTables} isDisabled={isPending} change={change} />
          {isReadAsText(chosen.kind) ? <ReadingForm chosen={chosen} isDisabled={isPending} change={change} /> : null}
          <Preview preview={preview} chosen={chosen} isDisabled={isPending} change={setChosen} />
          {isPending ? (
            <Progress sent={sent} isPaused={isPaused} cancel={() => canceller.current?.abort()} />
          ) : wasCancelled ? (
            <p role="status">{said.cancelled}</p>
          ) : (
            <Problem error={error} adviceHere={said.advice} />
          )}
          <p>
            <StillButton type="submit" className="button primary" isStill={isPending || preview.isHopeless}>
              {said.send(chosen.files.length)}
            </StillButton>
          </p>
          {preview.isHopeless ? <p className="hint">{said.hopeless}</p> : null}
        </>
      )}
    </Form>
  );
}
