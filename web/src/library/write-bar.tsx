import { SelectField } from '../ui/field.tsx';
import { LeaveQuestion } from '../ui/leave-question.tsx';
import { Options } from '../ui/options.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';

/** What is chosen beside a text: a macro's language, a protocol's instrument. */
export interface Trait<T extends string> {
  id: string;
  label: string;
  value: T;
  names: Readonly<Record<T, string>>;
  choose: (value: T) => void;
}

interface WriteBarProps<T extends string> {
  trait?: Trait<T>;
  isChanged: boolean;
  isSending: boolean;
  /** What was written may be sent as it is. */
  isSound?: boolean;
  save: () => void;
  drop: () => void;
  /** What is said while nothing has changed. */
  hint?: string;
}

/** What can be done with a text that was written: choose its trait, save it, take it back. */
export function WriteBar<T extends string = never>({
  trait,
  isChanged,
  isSending,
  isSound = true,
  save,
  drop,
  hint = '',
}: WriteBarProps<T>) {
  return (
    <div className="library-bar">
      <LeaveQuestion isDirty={isChanged} />
      {trait === undefined ? null : (
        <SelectField id={trait.id} label={trait.label} value={trait.value} onChange={(event) => trait.choose(event.target.value as T)}>
          <Options texts={Object.entries(trait.names)} />
        </SelectField>
      )}
      <SendButton className="button primary" isSending={isSending} isIdle={!isChanged || !isSound} onClick={save}>
        {words.library.save}
      </SendButton>
      {isChanged ? (
        <button type="button" className="button" onClick={drop}>
          {words.library.code.drop}
        </button>
      ) : null}
      <p className="small quiet" role="status">
        {isChanged ? words.library.code.changed : hint}
      </p>
    </div>
  );
}
