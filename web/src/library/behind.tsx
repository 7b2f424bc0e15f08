import { CodeDifference } from '../code/difference.tsx';
import type { CodeLanguage } from '../code/language.ts';
import { Problem } from '../shell/problem.tsx';
import { isOutdated, type Told } from '../ui/forms.ts';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import type { Saving } from './saving.ts';

const said = words.library.code;

interface BehindProps {
  theirs: string;
  mine: string;
  language: CodeLanguage;
  told: Told;
  saving: Pick<Saving<never, unknown>, 'isSaving' | 'saveOver' | 'drop' | 'error'>;
}

/** Says that somebody else saved meanwhile. Nothing is lost, and both texts can be compared. */
export function Behind({ theirs, mine, language, told, saving }: BehindProps) {
  return (
    <div className="notice problem" role="alert">
      <p key={told.tag}>{told.isAgain ? words.conflict.again : said.behind}</p>
      <p className="small">{said.behindAdvice}</p>
      <CodeDifference label={said.compareTheirs} before={theirs} after={mine} language={language} />
      <div className="inline">
        <SendButton isSending={saving.isSaving} onClick={saving.saveOver}>
          {said.catchUp}
        </SendButton>
        <button type="button" className="button" onClick={saving.drop}>
          {said.drop}
        </button>
      </div>
      <Problem error={isOutdated(saving.error) ? null : saving.error} />
    </div>
  );
}
