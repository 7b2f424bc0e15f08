import { sayDone, sayProblem } from '../shell/toasts.tsx';
import { words } from '../words.ts';

/** Copies a text, and says so. A browser may refuse it, and has no clipboard at all at an address without https. */
export async function copyText(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    sayDone(done);
  } catch {
    sayProblem(words.notCopied);
  }
}
