import { Button } from 'react-aria-components/Button';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { words } from '../words.ts';
import './confirm.css';

interface ConfirmProps {
  /** What the button says, and is done. */
  action: string;
  /** What follows from it. */
  consequence: string;
  isDisabled?: boolean;
  isDangerous?: boolean;
  onConfirm: () => void;
}

/** A button that asks before it does what cannot be undone. */
export function ConfirmButton({ action, consequence, isDisabled = false, isDangerous = false, onConfirm }: ConfirmProps) {
  const look = isDangerous ? 'button danger' : 'button';
  return (
    <DialogTrigger>
      <Button className={look} isDisabled={isDisabled}>
        {action}
      </Button>
      <ModalOverlay className="overlay centred" isDismissable>
        <Modal className="question">
          <Dialog role="alertdialog">
            {({ close }) => (
              <div className="stack">
                <Heading slot="title">{action}?</Heading>
                <p>{consequence}</p>
                <div className="inline">
                  <Button
                    className={look}
                    onPress={() => {
                      close();
                      onConfirm();
                    }}
                  >
                    {action}
                  </Button>
                  <Button className="button" autoFocus onPress={close}>
                    {words.library.cancel}
                  </Button>
                </div>
              </div>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
