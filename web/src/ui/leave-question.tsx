import { useBlocker } from '@tanstack/react-router';
import { useCallback, useLayoutEffect, useRef } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { queryClient } from '../api.ts';
import { words } from '../words.ts';

interface LeaveQuestionProps {
  /** Whether something is not saved, or what answers that as it is asked. */
  isDirty: boolean | (() => boolean);
  /** The member of the address that shows the form. */
  shownBy?: string | undefined;
  /** What is not saved, and what the buttons say, where that is not the usual. */
  question?: string;
  title?: string;
  leave?: string;
  stay?: string;
}

/** Whether an address shows the form of its page. */
const isEdited = ({ search }: { search: object }) => 'edit' in search && search.edit === true;

const memberOf = ({ search }: { search: object }, name: string) => (search as Record<string, unknown>)[name];

/** For how long whoever leaves waits for what is being saved, before they are asked. */
const PATIENCE_MS = 3_000;

/** Waits until nothing is being sent, and what came of it is drawn. */
async function waitForSaves(): Promise<void> {
  const isSending = () => queryClient.isMutating() > 0;
  if (!isSending()) return;
  await new Promise<void>((resolve) => {
    const settle = () => {
      stop();
      clearTimeout(deadline);
      resolve();
    };
    const deadline = setTimeout(settle, PATIENCE_MS);
    const stop = queryClient.getMutationCache().subscribe(() => (isSending() ? undefined : settle()));
  });
  await new Promise(requestAnimationFrame);
}

/** Asks before a page, or the form on it, is left while something is not saved. */
export function LeaveQuestion({ isDirty, shownBy, question, title, leave, stay }: LeaveQuestionProps) {
  const latest = useRef(isDirty);
  useLayoutEffect(() => {
    latest.current = isDirty;
  }, [isDirty]);
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: async ({ current, next }) => {
      const isLeft =
        current.pathname !== next.pathname ||
        (isEdited(current) && !isEdited(next)) ||
        (shownBy !== undefined && memberOf(current, shownBy) !== memberOf(next, shownBy));
      const isUnsaved = () => (typeof latest.current === 'function' ? latest.current() : latest.current);
      if (!isLeft || !isUnsaved()) return false;
      await waitForSaves();
      return isUnsaved();
    },
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <ModalOverlay className="overlay middle" isOpen={status === 'blocked'} isDismissable onOpenChange={() => reset?.()}>
      <Modal className="question">
        <Dialog role="alertdialog">
          <Heading slot="title">{title ?? words.leave.title}</Heading>
          <p>{question ?? words.leave.text}</p>
          <div className="inline">
            <button type="button" className="button danger" onClick={proceed}>
              {leave ?? words.leave.action}
            </button>
            <button type="button" className="button" onClick={reset}>
              {stay ?? words.cancel}
            </button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Controls hold line ends of one kind, and what is stored may have others. */
const withOneEnd = (text: string) => text.replaceAll(/\r\n?/g, '\n');

/** Whether a control holds something else than what is stored. */
function isWrittenIn(control: Element): boolean {
  if (control instanceof HTMLSelectElement) {
    const options = Array.from(control.options);
    return control.selectedOptions[0] !== (options.find(({ defaultSelected }) => defaultSelected) ?? options[0]);
  }
  if (control instanceof HTMLTextAreaElement) return control.value !== withOneEnd(control.defaultValue);
  if (!(control instanceof HTMLInputElement)) return false;
  return control.type === 'checkbox' ? control.checked !== control.defaultChecked : control.value !== control.defaultValue;
}

/** Asks before the page is left while the form around this holds something else than what is stored. */
export function KeepWritten({ shownBy }: Pick<LeaveQuestionProps, 'shownBy'>) {
  const place = useRef<HTMLSpanElement>(null);
  const isDirty = useCallback(() => Array.from(place.current?.closest('form')?.elements ?? []).some(isWrittenIn), []);
  return (
    <>
      <span ref={place} hidden />
      <LeaveQuestion isDirty={isDirty} shownBy={shownBy} />
    </>
  );
}
