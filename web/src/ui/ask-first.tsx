import { useMutation } from '@tanstack/react-query';
import { Button } from 'react-aria-components/Button';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { useFocusLeft } from './focus.ts';
import { SendButton } from './send-button.tsx';

interface AskFirstProps {
  /** What the button says. */
  action: string;
  /** What the button says to whoever does not see what it stands beside. */
  label?: string;
  /** The action with a question mark where it is absent. */
  question?: string;
  /** What will have happened, and whether it can be undone. */
  consequence: string;
  perform: () => Promise<unknown>;
  isDangerous?: boolean;
}

interface QuestionProps extends AskFirstProps {
  close: () => void;
  /** Notes whether the answer was taken, and is carried out or was. */
  noteTaken: (now: boolean) => void;
}

function Question({ action, question = `${action}?`, consequence, perform, isDangerous = true, close, noteTaken }: QuestionProps) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: perform,
    onMutate: () => noteTaken(true),
    onError: () => noteTaken(false),
    onSuccess: close,
  });
  return (
    <>
      <Heading slot="title">{question}</Heading>
      <p>{consequence}</p>
      <Problem error={error} />
      <div className="inline">
        <SendButton className={`button ${isDangerous ? 'danger' : 'primary'}`} isSending={isPending} onClick={() => mutate()}>
          {action}
        </SendButton>
        <button type="button" className="button" onClick={close}>
          {words.cancel}
        </button>
      </div>
    </>
  );
}

/** A button that asks before it does something. A failure is said where it was asked. */
export function AskFirst(props: AskFirstProps) {
  const { action, label, isDangerous = true } = props;
  const { button, noteTaken } = useFocusLeft();
  return (
    <DialogTrigger>
      <Button ref={button} className={`button ${isDangerous ? 'danger' : ''}`} {...(label === undefined ? {} : { 'aria-label': label })}>
        {action}
      </Button>
      <ModalOverlay className="overlay middle" isDismissable>
        <Modal className="question">
          <Dialog role="alertdialog">{({ close }) => <Question {...props} close={close} noteTaken={noteTaken} />}</Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
