import { useEffect } from 'react';
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

/** Messages whose clocks stand still while the pointer is over one, or the focus in one. The region hears of the pointer only over what takes clicks. */
class Messages extends ToastQueue<Said> {
  #isPointedAt = false;

  notePointer(isPointedAt: boolean): void {
    const wasPointedAt = this.#isPointedAt;
    this.#isPointedAt = isPointedAt;
    if (isPointedAt) this.pauseAll();
    else if (wasPointedAt) this.resumeAll();
  }

  override resumeAll(): void {
    if (this.#isPointedAt || document.querySelector('.toasts :focus') !== null) return;
    // a clock that is resumed twice runs out at the first of both times
    this.pauseAll();
    super.resumeAll();
  }
}

const queue = new Messages({ maxVisibleToasts: 3 });

const isWithin =
  ({ clientX: x, clientY: y }: PointerEvent) =>
  (toast: Element) => {
    const { left, right, top, bottom } = toast.getBoundingClientRect();
    return left <= x && x <= right && top <= y && y <= bottom;
  };

/** A finger that scrolls the page is over nothing. */
const notePointer = (event: PointerEvent) =>
  queue.notePointer(event.pointerType !== 'touch' && [...document.querySelectorAll('.toast')].some(isWithin(event)));
const noteLeft = () => queue.notePointer(false);

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
  useEffect(() => {
    document.addEventListener('pointermove', notePointer);
    document.documentElement.addEventListener('pointerleave', noteLeft);
    return () => {
      document.removeEventListener('pointermove', notePointer);
      document.documentElement.removeEventListener('pointerleave', noteLeft);
    };
  }, []);
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
