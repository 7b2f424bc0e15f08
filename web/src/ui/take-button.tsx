import type { ComponentProps } from 'react';
import { useFocusLeft } from './focus.ts';

/** A button that goes from the page with what it takes away, or what went wrong, and leaves the focus near it. */
export function TakeButton({ className = 'button bare', onClick, ...rest }: Omit<ComponentProps<'button'>, 'type' | 'ref'>) {
  const { button, noteTaken } = useFocusLeft();
  return (
    <button
      {...rest}
      ref={button}
      type="button"
      className={className}
      onClick={(event) => {
        noteTaken(true);
        onClick?.(event);
      }}
    />
  );
}
