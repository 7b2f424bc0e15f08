import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { words } from '../words.ts';
import { SendButton } from './send-button.tsx';
import './confirm.css';

interface ConfirmProps {
  /** What the button says and does. */
  action: string;
  /** What follows from it. */
  consequence: string;
  isSending?: boolean;
  isDangerous?: boolean;
  onConfirm: () => void;
}

/** A button that asks before it does what cannot be undone. */
export function ConfirmButton({ action, consequence, isSending = false, isDangerous = false, onConfirm }: ConfirmProps) {
  const [isAsked, setAsked] = useState(false);
  const look = isDangerous ? 'button danger' : 'button';
  return (
    <>
      <SendButton className={look} aria-haspopup="dialog" isSending={isSending} onClick={() => setAsked(true)}>
        {action}
      </SendButton>
      <ModalOverlay className="overlay centred" isDismissable isOpen={isAsked} onOpenChange={setAsked}>
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
    </>
  );
}
