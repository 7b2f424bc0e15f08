import { useCallback, useEffect, useRef, type RefObject } from 'react';

/** Gives an element the focus as it comes to stand on the page. A function that is made anew at each drawing would give it the focus at each drawing. */
export const takeFocus = (element: HTMLElement | null): void => element?.focus();

/** Gives an element the focus where what had it went from the page. */
export const takeFocusLeft = (element: HTMLElement | null): void => {
  if (document.activeElement === document.body) element?.focus();
};

/** Lists the parts of the page that hold an element, the innermost first. */
function listParts(element: Element | null): Element[] {
  const part = element?.parentElement?.closest('section, form, main');
  return part ? [part, ...listParts(part)] : [];
}

/** Gives the focus to what names the first of these parts that is still on the page and has a name, its heading or itself, where nothing else has it. */
function focusHeading(parts: readonly Element[]): void {
  const left = parts.filter(({ isConnected }) => isConnected);
  const names = left.map((part) => part.querySelector('h1, h2, h3') ?? (part.ariaLabel === null ? null : part));
  const heading = names.find((name) => name !== null) ?? left[0];
  if (!(heading instanceof HTMLElement) || document.activeElement !== document.body) return;
  heading.tabIndex = -1;
  heading.focus();
}

/**
 * Keeps the focus near a button that goes from the page with what it removed: the heading of its part gets it. Without this the focus falls back to the
 * beginning of the page (WCAG 2.2, 2.4.3). `noteTaken` notes that the button was pressed, or then refused; one that goes for another reason moves no focus.
 */
export function useFocusLeft(): { button: RefObject<HTMLButtonElement | null>; noteTaken: (now: boolean) => void } {
  const button = useRef<HTMLButtonElement>(null);
  const isTaken = useRef(false);
  const noteTaken = useCallback((now: boolean) => {
    isTaken.current = now;
  }, []);
  useEffect(() => {
    const parts = listParts(button.current);
    return () => {
      // a dialog gives the focus back one frame after it closed
      if (isTaken.current) requestAnimationFrame(() => requestAnimationFrame(() => focusHeading(parts)));
    };
  }, []);
  return { button, noteTaken };
}
