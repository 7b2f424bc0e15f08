import { CodeDifference } from '../code/difference.tsx';
import type { CodeLanguage } from '../code/language.ts';
import { words } from '../words.ts';

const said = words.library.code;

interface BehindProps {
  theirs: string;
  mine: string;
  language: CodeLanguage;
  save: () => void;
  drop: () => void;
}

/** What is said when somebody else saved meanwhile: nothing is lost, and both can be compared. */
export function Behind({ theirs, mine, language, save, drop }: BehindProps) {
  return (
    <div className="notice problem" role="alert">
      <p>{said.behind}</p>
      <p className="small">{said.behindAdvice}</p>
      <CodeDifference label={said.compareTheirs} before={theirs} after={mine} language={language} />
      <div className="inline">
        <button type="button" className="button" onClick={save}>
          {said.catchUp}
        </button>
        <button type="button" className="button" onClick={drop}>
          {said.drop}
        </button>
      </div>
    </div>
  );
}
