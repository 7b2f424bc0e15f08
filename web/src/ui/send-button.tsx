import { useEffect, type ComponentProps } from 'react';
import { useFocusLeft } from './focus.ts';
import { StillButton } from './still-button.tsx';

interface SendButtonProps extends Omit<ComponentProps<typeof StillButton>, 'isStill'> {
  /** What it sent is not answered yet. */
  isSending: boolean;
  /** There is nothing to send, or not yet. */
  isIdle?: boolean;
}

/** A button that sends something, keeps the focus, and sends nothing more until that is answered. */
export function SendButton({ isSending, isIdle = false, ...rest }: SendButtonProps) {
  const { button, noteTaken } = useFocusLeft();
  useEffect(() => {
    if (isSending) noteTaken(true);
  }, [isSending, noteTaken]);
  return <StillButton {...rest} ref={button} isStill={isSending || isIdle} />;
}
