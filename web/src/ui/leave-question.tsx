import { useBlocker } from '@tanstack/react-router';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { words } from '../words.ts';

interface LeaveQuestionProps {
  isDirty: boolean;
  question: string;
  /** What is not saved, and what the buttons say, where that is not the usual. */
  title?: string;
  leave?: string;
  stay?: string;
}

/** Whether an address shows the form of its page. */
const isEdited = ({ search }: { search: object }) => 'edit' in search && search.edit === true;

/** Asks before a page, or the form on it, is left while something is not saved. */
export function LeaveQuestion({ isDirty, question, title, leave, stay }: LeaveQuestionProps) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && (current.pathname !== next.pathname || (isEdited(current) && !isEdited(next))),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <ModalOverlay className="overlay middle" isOpen={status === 'blocked'} isDismissable onOpenChange={() => reset?.()}>
      <Modal className="question">
        <Dialog role="alertdialog">
          <Heading slot="title">{title ?? words.leave.title}</Heading>
          <p>{question}</p>
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
