import { isMissing, Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { isOutdated, type Told } from './forms.ts';
import { SendButton } from './send-button.tsx';

const said = words.conflict;

interface ConflictProps {
  /** What somebody else changed meanwhile. */
  sentence: string;
  told: Told;
  isSending: boolean;
  decide: (isMine: boolean) => void;
  /** Where theirs is seen: the address without the form, unless another one is given. */
  see?: string;
  /** Why the saving or the decision failed last. */
  error: unknown;
}

/** Lets a person decide between what they wrote and what somebody else saved meanwhile. */
export function Conflict({ sentence, told, isSending, decide, see = location.pathname, error }: ConflictProps) {
  // what was deleted meanwhile leaves nothing to decide
  if (isMissing(error)) return <Problem error={error} />;
  return (
    <div className="notice problem" role="alert">
      <p key={told.tag}>{told.isAgain ? said.again : sentence}</p>
      <div className="inline">
        <SendButton isSending={isSending} onClick={() => decide(true)}>
          {said.mine}
        </SendButton>
        <SendButton isSending={isSending} onClick={() => decide(false)}>
          {said.theirs}
        </SendButton>
        <a className="button" href={see} target="_blank" rel="noopener">
          {said.see}
        </a>
      </div>
      <Problem error={isOutdated(error) ? null : error} />
    </div>
  );
}
