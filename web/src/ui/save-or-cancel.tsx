import { Problem, type ProblemProps } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { SendButton } from './send-button.tsx';

interface SaveOrCancelProps extends Pick<ProblemProps, 'adviceHere'> {
  change: { error: Error | null; isPending: boolean };
  save: string;
  close: () => void;
}

/** The end of a form that changes something: why it was not taken, and the buttons. */
export function SaveOrCancel({ change: { error, isPending }, save, close, adviceHere }: SaveOrCancelProps) {
  return (
    <>
      <Problem error={error} {...(adviceHere === undefined ? {} : { adviceHere })} />
      <div className="inline">
        <SendButton type="submit" className="button primary" isSending={isPending}>
          {save}
        </SendButton>
        <button type="button" className="button" onClick={close}>
          {words.cancel}
        </button>
      </div>
    </>
  );
}
