/** Gives an element the focus as it comes to stand on the page. A function that is made anew at each drawing would give it the focus at each drawing. */
export const takeFocus = (element: HTMLElement | null): void => element?.focus();
