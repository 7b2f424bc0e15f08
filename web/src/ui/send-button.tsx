import type { ComponentProps } from 'react';

interface SendButtonProps extends Omit<ComponentProps<'button'>, 'disabled' | 'aria-disabled'> {
  /** What it sent is not answered yet. */
  isSending: boolean;
  /** There is nothing to send, or not yet. */
  isIdle?: boolean;
}

/**
 * A button that sends something, and nothing more until that is answered. A disabled button would lose the focus, and with it the way out of a dialog by
 * Escape. So this button only says that it is disabled, and takes no press, nor the one that a browser makes of Enter in a field of its form.
 */
export function SendButton({ isSending, isIdle = false, type = 'button', className = 'button', onClick, ...rest }: SendButtonProps) {
  const isStill = isSending || isIdle;
  return (
    <button
      {...rest}
      type={type}
      className={className}
      aria-disabled={isStill}
      onClick={(event) => {
        if (isStill) event.preventDefault();
        else onClick?.(event);
      }}
    />
  );
}
