import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient } from '../api.ts';
import { chartsQuery } from '../charts/queries.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { Conflict } from '../ui/conflict.tsx';
import { InputField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { isOutdated, useTold } from '../ui/forms.ts';
import { LeaveQuestion } from '../ui/leave-question.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { AddParts } from './add-parts.tsx';
import { inOrder, placeInOrder } from './arrange.ts';
import { Board } from './board.tsx';
import { PartList } from './part-list.tsx';
import type { BoardShown } from './part.tsx';
import { changeDashboard, dashboardQuery, type Read } from './queries.ts';

const said = words.dashboards.form;

interface EditProps {
  /** The dashboard as it was when editing began. Reading it again changes nothing that was typed. */
  begun: Read;
  board: Omit<BoardShown, 'widgets'>;
  stop: () => void;
}

/** Changes the name, the parts and their places. What is done stays until it is saved or dropped. */
export function EditDashboard({ begun, board, stop }: EditProps) {
  const { id, tables } = board;
  const [base, setBase] = useState(begun);
  const [draft, setDraft] = useState(begun.dashboard);
  const { id: dashboardId, layout } = base.dashboard;
  const charts = useQuery(chartsQuery(id)).data ?? [];
  const isDirty = draft !== base.dashboard;
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: ({ tag, sent }: { tag: string; sent: typeof draft }) => {
      const { name, description, widgets } = sent;
      return changeDashboard({ id, dashboardId, tag }, { name, description, widgets });
    },
    onSuccess: (read, { sent }) => {
      setBase(read);
      // changes that were made during the save stay
      setDraft((now) => (now === sent ? read.dashboard : now));
      sayDone(said.saved);
    },
    // whoever decides writes over nothing newer than what is stored now
    onError: (refusal) => (isOutdated(refusal) ? queryClient.invalidateQueries(dashboardQuery(id, dashboardId)) : undefined),
  });
  const told = useTold({ error, isPending }, begun.tag);
  const drop = useMutation({
    mutationFn: async () => {
      const read = await queryClient.query({ ...dashboardQuery(id, dashboardId), staleTime: 0 });
      reset();
      setBase(read);
      setDraft(read.dashboard);
    },
  });
  const isBusy = isPending || drop.isPending;
  const decide = (isMine: boolean) => (isMine && told !== undefined ? mutate({ tag: told.tag, sent: draft }) : drop.mutate());
  const change = (next: Partial<typeof draft>) => setDraft((before) => ({ ...before, ...next }));
  return (
    <>
      <LeaveQuestion isDirty={isDirty} question={said.leaveAsk} />
      <Form className="panel dashboard-form" aria-label={said.title} send={() => mutate({ tag: base.tag, sent: draft })}>
        <div className="inline">
          <InputField
            id="dashboard-name"
            label={said.name}
            required
            maxLength={255}
            value={draft.name}
            onChange={({ target }) => change({ name: target.value })}
          />
          <InputField
            id="dashboard-description"
            label={said.description}
            maxLength={10_000}
            value={draft.description ?? ''}
            onChange={({ target }) => change({ description: target.value === '' ? null : target.value })}
          />
        </div>
        <AddParts
          columns={layout.columns}
          charts={charts}
          tables={tables}
          add={(widget) => change({ widgets: placeInOrder([...inOrder(draft.widgets), widget], layout.columns) })}
        />
        {draft.widgets.length === 0 ? null : (
          <div>
            <h3>{said.parts}</h3>
            <PartList
              widgets={draft.widgets}
              columns={layout.columns}
              charts={charts}
              tables={tables}
              change={(widgets) => change({ widgets })}
            />
          </div>
        )}
        {told === undefined ? (
          <Problem error={error} />
        ) : (
          <Conflict sentence={said.conflict} told={told} isSending={isBusy} decide={decide} error={drop.error ?? error} />
        )}
        <div className="inline">
          <SendButton type="submit" className="button primary" isSending={isBusy} isIdle={!isDirty}>
            {said.save}
          </SendButton>
          <button type="button" className="button" onClick={stop}>
            {said.stop}
          </button>
        </div>
      </Form>
      <Board layout={layout} board={{ ...board, widgets: draft.widgets }} />
    </>
  );
}
