import type { ComponentProps } from 'react';

interface StillButtonProps extends Omit<ComponentProps<'button'>, 'disabled' | 'aria-disabled'> {
  /** A press does nothing now. */
  isStill: boolean;
}

/**
 * A button that may come to do nothing while somebody is at it. A disabled button would lose the focus, and with it the way out of a dialog by Escape. So
 * this one only says that it is disabled, and takes no press, nor the one that a browser makes of Enter in a field of its form.
 */
export function StillButton({ isStill, type = 'button', className = 'button', onClick, ...rest }: StillButtonProps) {
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
