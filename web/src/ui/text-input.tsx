import type { ComponentProps } from 'react';
import { useTyped } from './typed.ts';

interface TextInputProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'onBlur' | 'onKeyDown'> {
  value: string;
  take: (text: string) => void;
}

/** A field whose text counts when the focus leaves it, or by Enter. */
export function TextInput({ value, take, ...rest }: TextInputProps) {
  const [text, type] = useTyped(value);
  const give = () => {
    if (text !== value) take(text);
  };
  return (
    <input
      {...rest}
      className="input"
      value={text}
      onChange={({ target }) => type(target.value)}
      onBlur={give}
      onKeyDown={({ key }) => {
        if (key === 'Enter') give();
      }}
    />
  );
}
