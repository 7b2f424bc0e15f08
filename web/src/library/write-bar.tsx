import { words } from '../words.ts';

interface WriteBarProps<T extends string> {
  /** What is chosen beside the text: a macro's language, a protocol's instrument. */
  trait: { id: string; label: string; value: T; names: Readonly<Record<T, string>>; choose: (value: T) => void };
  isChanged: boolean;
  mayBeSaved: boolean;
  save: () => void;
  drop: () => void;
  /** What is said while nothing has changed. */
  hint: string;
}

/** What can be done with a text that was written: choose its trait, save it, take it back. */
export function WriteBar<T extends string>({ trait, isChanged, mayBeSaved, save, drop, hint }: WriteBarProps<T>) {
  return (
    <div className="library-bar">
      <div className="field">
        <label htmlFor={trait.id}>{trait.label}</label>
        <select id={trait.id} className="input" value={trait.value} onChange={(event) => trait.choose(event.target.value as T)}>
          {(Object.keys(trait.names) as T[]).map((each) => (
            <option key={each} value={each}>
              {trait.names[each]}
            </option>
          ))}
        </select>
      </div>
      <button type="button" className="button primary" disabled={!isChanged || !mayBeSaved} onClick={save}>
        {words.library.save}
      </button>
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
