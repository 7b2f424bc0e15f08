import { useMutation } from '@tanstack/react-query';
import { useRef, type ReactNode } from 'react';
import { queryClient } from '../api.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { words } from '../words.ts';
import { Conflict } from './conflict.tsx';
import { Form, type Fields } from './form.tsx';
import { fieldsOf, isOutdated, resetOnceTaken, useBegun, useTold } from './forms.ts';
import { KeepWritten } from './leave-question.tsx';
import { SendButton } from './send-button.tsx';

interface SettingsFormProps<T> {
  /** What it changes, as it is stored, and the tag of that. */
  stored: Readonly<Record<string, unknown>>;
  tag: string;
  /** Makes what is wanted of the texts of the controls. */
  read: (fields: Fields) => T;
  save: (tag: string, wanted: T) => Promise<unknown>;
  says: string;
  /** What is said once it is saved. */
  done: string;
  /** The named controls. */
  children: ReactNode;
  /** What stands beside the button. */
  beside?: ReactNode;
}

/**
 * A form that changes what is stored. It asks before what was written is lost, and writes nothing over that somebody else saved meanwhile: then it lets the
 * person decide.
 */
export function SettingsForm<T>({ stored, tag, read, save, says, done, children, beside }: SettingsFormProps<T>) {
  const form = useRef<HTMLFormElement>(null);
  const begun = useBegun(tag, stored);
  const { mutate, reset, error, isPending } = useMutation({
    mutationFn: ({ over, wanted }: { over: string; wanted: T }) => save(over, wanted),
    onSuccess: () => {
      begun.end();
      sayDone(done);
    },
    // whoever decides sees what is stored now, and writes over nothing newer
    onError: (refusal) => (isOutdated(refusal) ? queryClient.invalidateQueries() : undefined),
  });
  const told = useTold({ error, isPending }, tag);
  const send = (over: string) => {
    if (form.current !== null) mutate({ over, wanted: read(fieldsOf(form.current)) }, { onSuccess: resetOnceTaken(form.current) });
  };
  const decide = (isMine: boolean) => {
    if (isMine) return send(told?.tag ?? begun.tag);
    form.current?.reset();
    begun.end();
    reset();
  };
  return (
    <Form ref={form} className="stack" send={() => send(begun.tag)} onChange={begun.begin}>
      <KeepWritten />
      {children}
      {told === undefined ? (
        <Problem error={error} />
      ) : (
        <Conflict sentence={words.conflict.settings} told={told} isSending={isPending} decide={decide} error={error} />
      )}
      <div className="inline">
        <SendButton type="submit" className="button primary" isSending={isPending}>
          {says}
        </SendButton>
        {beside}
      </div>
    </Form>
  );
}
