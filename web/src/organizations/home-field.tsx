import { useQuery } from '@tanstack/react-query';
import { SelectField } from '../ui/field.tsx';
import { Options } from '../ui/options.tsx';
import { organizationsQuery } from './queries.ts';

interface HomeFieldProps {
  id: string;
  label: string;
  /** What the caller's own workspace is called. */
  personal: string;
  hint?: string;
  defaultValue?: string | undefined;
}

/** The field `organization` of a form: who owns what is made. It is empty for the caller's own workspace. */
export function HomeField({ id, label, personal, hint, defaultValue = '' }: HomeFieldProps) {
  const homes = useQuery(organizationsQuery).data?.filter(({ isPersonal }) => !isPersonal);
  return (
    <SelectField id={id} label={label} hint={hint} name="organization" defaultValue={defaultValue}>
      <option value="">{personal}</option>
      <Options texts={homes?.map((home) => [home.id, home.name])} />
    </SelectField>
  );
}
