import { keepPreviousData, useQuery, type QueryKey } from '@tanstack/react-query';
import { useState } from 'react';
import { countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { InputField, SelectField } from './field.tsx';
import { Options } from './options.tsx';
import { useSettled } from './settled.ts';

/** A thing to choose, by its name. */
export interface Named {
  id: string;
  name: string;
}

/** The first things whose names hold a text, and how many there are of them. */
export interface Offer<T extends Named> {
  items: readonly T[];
  total: number;
}

/** A question for what can be chosen. */
export interface OfferQuery<T extends Named> {
  queryKey: QueryKey;
  queryFn: (context: { signal: AbortSignal }) => Promise<Offer<T>>;
}

interface ChoiceProps<T extends Named> {
  id: string;
  label: string;
  ask: (find: string) => OfferQuery<T>;
  /** What is chosen stays in the list, also where it is not among the first. */
  chosen: Named | undefined;
  /** What the list says where nothing is chosen; without it there is no such line. */
  none?: string;
  /** What is chosen already elsewhere, by its id. */
  without?: ReadonlySet<string>;
  required?: boolean;
  isDisabled?: boolean;
  choose: (item: T | undefined) => void;
}

/** A list to choose one of. Where there are more than it holds, a field above it narrows it by name. */
export function ChoiceField<T extends Named>({ id, label, ask, chosen, none, without, required, isDisabled, choose }: ChoiceProps<T>) {
  const [typed, setTyped] = useState('');
  const find = useSettled(typed.trim());
  const { data, error } = useQuery({ ...ask(find), placeholderData: keepPreviousData, enabled: isDisabled !== true });
  const { items, total } = data ?? { items: [], total: 0 };
  const isCut = total > items.length;
  const isHeld = chosen === undefined || items.some((item) => item.id === chosen.id);
  const open = items.filter((item) => without?.has(item.id) !== true);
  return (
    <>
      {isCut || typed !== '' ? (
        <InputField
          id={`${id}-find`}
          type="search"
          label={words.choice.find(label)}
          hint={isCut ? words.choice.cut(countText(items.length), countText(total)) : undefined}
          value={typed}
          maxLength={200}
          autoComplete="off"
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            // it is no part of the form around it
            if (event.key === 'Enter') event.preventDefault();
          }}
        />
      ) : null}
      <SelectField
        id={id}
        label={label}
        required={required}
        disabled={isDisabled}
        value={chosen?.id ?? ''}
        onChange={({ target }) => choose(items.find((item) => item.id === target.value))}
      >
        {none === undefined ? null : <option value="">{none}</option>}
        <Options texts={[...(isHeld ? [] : [chosen]), ...open].map((item) => [item.id, item.name])} />
      </SelectField>
      <Problem error={error} />
    </>
  );
}
