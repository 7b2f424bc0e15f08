import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { experimentQuery } from '../experiments/queries.ts';
import { choicesQuery } from '../library/queries.ts';
import { momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { ChoiceField, type Named } from '../ui/choice.tsx';
import { SelectField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { findLastError } from '../ui/last-error.ts';
import { Options } from '../ui/options.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { FlowPanel } from './flow.tsx';
import { attachWorkbook, chooseVersion, detachWorkbook, upgradeWorkbook, versionsQuery, workbookQuery } from './queries.ts';
import '../library/library.css';

const route = getRouteApi('/guarded/experiments/$id/workbook');
const said = words.workbooks.attached;

/** Attaches one of the workbooks that the caller may read. */
function AttachForm({ id }: { id: string }) {
  const [chosen, setChosen] = useState<Named>();
  const { mutate, isPending, error } = useMutation({
    mutationFn: (workbookId: string) => attachWorkbook(id, workbookId),
    onSuccess: () => {
      setChosen(undefined);
      sayDone(said.attached);
    },
  });
  return (
    <Form className="inline" send={() => chosen && mutate(chosen.id)}>
      <ChoiceField
        id="attach"
        label={said.which}
        ask={(find) => choicesQuery('workbooks', find)}
        none={words.workbooks.choose}
        required
        chosen={chosen}
        choose={setChosen}
      />
      <SendButton type="submit" className="button primary" isSending={isPending}>
        {said.attach}
      </SendButton>
      <Problem error={error} />
    </Form>
  );
}

interface FollowedProps {
  id: string;
  workbookId: string;
  versionId: string | null;
  mayWrite: boolean;
}

/** The workbook that an experiment follows, and which version of it. */
function Followed({ id, workbookId, versionId, mayWrite }: FollowedProps) {
  const workbook = useQuery(workbookQuery(workbookId));
  const versions = useQuery({ ...versionsQuery(workbookId), enabled: workbook.isSuccess });
  const [chosen, setChosen] = useState<string>();
  const followed = (version: number) => sayDone(said.upgraded(version));
  const upgrade = useMutation({ mutationFn: () => upgradeWorkbook(id), onSuccess: followed });
  const choose = useMutation({ mutationFn: (version: string) => chooseVersion(id, version), onSuccess: followed });
  const isBusy = upgrade.isPending || choose.isPending;
  const current = versions.data?.find((each) => each.id === versionId);
  const name = workbook.data?.workbook.name;
  const wanted = chosen ?? versionId ?? '';
  return (
    <>
      <p>
        {name === undefined ? (
          workbook.error === null ? (
            words.waiting
          ) : (
            said.unreadable
          )
        ) : (
          <Link to="/library/workbooks/$workbook" params={{ workbook: workbookId }}>
            {said.follows(name, current === undefined ? '…' : words.library.code.version(current.version))}
          </Link>
        )}
      </p>
      {workbook.data?.workbook.isUpgradable === true ? <p className="notice">{said.isBehind}</p> : null}
      {mayWrite ? (
        <>
          <div className="inline">
            <SelectField id="follow-version" label={said.version} value={wanted} onChange={(event) => setChosen(event.target.value)}>
              <Options
                texts={versions.data?.map(({ id: each, version, createdAt }) => [
                  each,
                  words.library.versions.when(version, momentText(createdAt)),
                ])}
              />
            </SelectField>
            <SendButton isSending={isBusy} isIdle={wanted === versionId || wanted === ''} onClick={() => choose.mutate(wanted)}>
              {said.choose}
            </SendButton>
          </div>
          <div className="inline">
            <SendButton className="button primary" isSending={isBusy} onClick={() => upgrade.mutate()}>
              {said.upgrade}
            </SendButton>
            <AskFirst
              action={said.detach}
              consequence={said.detachAsk}
              perform={async () => {
                await detachWorkbook(id);
                sayDone(said.detached);
              }}
            />
          </div>
        </>
      ) : null}
      <Problem error={findLastError(upgrade, choose)} />
    </>
  );
}

/** The workbook of an experiment, and the flow that a person walks through. */
export function AttachedPage() {
  const { id } = route.useParams();
  const { experiment, isAdmin } = useSuspenseQuery(experimentQuery(id)).data;
  const { name, status, workbookId, workbookVersionId } = experiment;
  const mayWrite = isAdmin && status !== 'archived';
  return (
    <div className="stack">
      <title>{`${said.title} · ${name} · ${words.name}`}</title>
      <section className="panel" aria-labelledby="workbook">
        <h2 id="workbook">{said.workbook}</h2>
        {workbookId === null ? (
          <div className="empty">
            <h3>{said.none}</h3>
            <p>{said.noneText}</p>
            {mayWrite ? <p>{said.noneYet}</p> : null}
          </div>
        ) : (
          <Followed key={workbookVersionId} id={id} workbookId={workbookId} versionId={workbookVersionId} mayWrite={mayWrite} />
        )}
        {mayWrite ? <AttachForm id={id} /> : null}
      </section>
      <FlowPanel id={id} mayWrite={mayWrite} isWritten={workbookId !== null} />
    </div>
  );
}
