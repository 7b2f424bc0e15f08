import { CodeDifference } from '../code/difference.tsx';
import type { CodeLanguage } from '../code/language.ts';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';

const said = words.library.code;

interface BehindProps {
  theirs: string;
  mine: string;
  language: CodeLanguage;
  isSending: boolean;
  save: () => void;
  drop: () => void;
}

/** Says that somebody else saved meanwhile. Nothing is lost, and both texts can be compared. */
export function Behind({ theirs, mine, language, isSending, save, drop }: BehindProps) {
  return (
    <div className="notice problem" role="alert">
      <p>{said.behind}</p>
      <p className="small">{said.behindAdvice}</p>
      <CodeDifference label={said.compareTheirs} before={theirs} after={mine} language={language} />
      <div className="inline">
        <SendButton isSending={isSending} onClick={save}>
          {said.catchUp}
        </SendButton>
        <button type="button" className="button" onClick={drop}>
          {said.drop}
        </button>
      </div>
    </div>
  );
}
