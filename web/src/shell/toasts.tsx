import { Button } from 'react-aria-components/Button';
import { Text } from 'react-aria-components/Text';
import {
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components/Toast';
import { words } from '../words.ts';
import { tellProblem } from './problem.tsx';
import './toasts.css';

interface Said {
  text: string;
  kind: 'good' | 'problem';
}

const queue = new ToastQueue<Said>({ maxVisibleToasts: 3 });

const SHOWN_MS = 6_000;

/** Says what was done. */
export const sayDone = (text: string): void => {
  queue.add({ text, kind: 'good' }, { timeout: SHOWN_MS });
};

/** Says in a sentence what did not work. It stays until it is closed. */
export const sayProblem = (text: string): void => {
  queue.add({ text, kind: 'problem' });
};

/** Says what failed. It stays until it is closed. */
export const sayFailed = (error: unknown): void => {
  const { sentence, advice } = tellProblem(error);
  sayProblem([sentence, advice].filter((part) => part !== null).join(' '));
};

/** Shows both kinds of message, and has them read to whoever does not see them. */
export function Toasts() {
  return (
    <ToastRegion queue={queue} className="toasts">
      {({ toast }) => (
        <Toast toast={toast} className={`toast ${toast.content.kind}`}>
          <ToastContent className="toast-text">
            <Text slot="title">{toast.content.text}</Text>
          </ToastContent>
          <Button slot="close" className="button bare" aria-label={words.close}>
            ×
          </Button>
        </Toast>
      )}
    </ToastRegion>
  );
}
