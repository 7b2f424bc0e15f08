import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient } from '../api.ts';
import { sayDone } from '../shell/toasts.tsx';
import { Conflict } from '../ui/conflict.tsx';
import { isOutdated, useTold } from '../ui/forms.ts';
import { LeaveQuestion } from '../ui/leave-question.tsx';
import { words } from '../words.ts';
import { isSound } from './draft.ts';
import { FormProblem, MetadataForm } from './form.tsx';
import { metadataQuery, replaceMetadata, type Read } from './queries.ts';

const said = words.metadata.form;

interface EditProps {
  id: string;
  /** The table as it was when editing began. Reading it again changes nothing that was typed. */
  begun: Read;
  /** Whether what is not saved is given up already; else whoever stops is asked. */
  stop: (isDecided: boolean) => void;
}

/** Changes a metadata table. What is done stays until it is saved or dropped. */
export function EditMetadata({ id, begun, stop }: EditProps) {
  const { metadataId } = begun.record;
  const [base, setBase] = useState(begun);
  const [draft, setDraft] = useState(begun.record.metadata);
  const isDirty = draft !== base.record.metadata;
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: ({ tag, sent }: { tag: string; sent: typeof draft }) => replaceMetadata({ id, metadataId, tag }, sent),
    onSuccess: (read, { sent }) => {
      setBase(read);
      // changes that were made during the save stay
      setDraft((now) => (now === sent ? read.record.metadata : now));
      sayDone(said.saved);
    },
    // whoever decides writes over nothing newer than what is stored now
    onError: (refusal) => (isOutdated(refusal) ? queryClient.invalidateQueries(metadataQuery(id, metadataId)) : undefined),
  });
  const told = useTold({ error, isPending }, begun.tag);
  const drop = useMutation({
    mutationFn: async () => {
      const read = await queryClient.query({ ...metadataQuery(id, metadataId), staleTime: 0 });
      reset();
      setBase(read);
      if (!isSound(read.record.metadata)) return stop(true);
      setDraft(read.record.metadata);
    },
  });
  const isBusy = isPending || drop.isPending;
  const decide = (isMine: boolean) => (isMine && told !== undefined ? mutate({ tag: told.tag, sent: draft }) : drop.mutate());
  return (
    <>
      <LeaveQuestion isDirty={isDirty} question={said.leaveAsk} />
      <MetadataForm
        id={id}
        draft={draft}
        change={setDraft}
        save={() => mutate({ tag: base.tag, sent: draft })}
        isSending={isBusy}
        isChanged={isDirty}
        problem={
          told === undefined ? (
            <FormProblem error={error} columns={draft.columns} />
          ) : (
            <Conflict sentence={said.conflict} told={told} isSending={isBusy} decide={decide} error={drop.error ?? error} />
          )
        }
        others={
          <button type="button" className="button" onClick={() => stop(false)}>
            {said.stop}
          </button>
        }
      />
    </>
  );
}
