import type { KeyboardEvent } from 'react';

/** Opens a list by the arrow keys, which choose in a closed one: for a list that acts on what is chosen. WebKit opens it by itself, and has no showPicker for it. */
export function openList(event: KeyboardEvent<HTMLSelectElement>): void {
  if (!/^Arrow(Up|Down)$/.test(event.key) || !('showPicker' in event.currentTarget)) return;
  event.preventDefault();
  event.currentTarget.showPicker();
}
