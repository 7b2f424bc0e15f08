import { openList } from './open-list.ts';
import { Options, type Texts } from './options.tsx';

interface SendSelectProps {
  label: string;
  value: string;
  /** What was chosen before is not answered yet; another choice is not taken meanwhile. */
  isSending: boolean;
  choose: (value: string) => void;
  texts: Texts;
}

/** A choice that is sent as it is made, and keeps the focus meanwhile. */
export function SendSelect({ label, value, isSending, choose, texts }: SendSelectProps) {
  return (
    <select
      className="input role"
      aria-label={label}
      aria-disabled={isSending}
      value={value}
      onKeyDown={openList}
      onChange={({ target }) => {
        if (!isSending) choose(target.value);
      }}
    >
      <Options texts={texts} />
    </select>
  );
}
