import { useQuery } from '@tanstack/react-query';
import { Field } from '../ui/field.tsx';
import { Options } from '../ui/options.tsx';
import { organizationsQuery } from './queries.ts';

interface HomeFieldProps {
  id: string;
  label: string;
  /** What the caller's own workspace is called. */
  personal: string;
  hint?: string;
}

/** The field `organization` of a form: who owns what is made. It is empty for the caller's own workspace. */
export function HomeField({ id, label, personal, hint }: HomeFieldProps) {
  const homes = useQuery(organizationsQuery).data?.filter(({ isPersonal }) => !isPersonal);
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  return (
    <Field id={id} label={label}>
      <select id={id} className="input" name="organization" defaultValue="" aria-describedby={hintId}>
        <option value="">{personal}</option>
        <Options texts={homes?.map((home) => [home.id, home.name])} />
      </select>
      {hint === undefined ? null : (
        <p id={hintId} className="hint">
          {hint}
        </p>
      )}
    </Field>
  );
}
