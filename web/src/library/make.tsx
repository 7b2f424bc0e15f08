import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components/Button';
import { DialogTrigger } from 'react-aria-components/Dialog';
import { Popover } from 'react-aria-components/Popover';
import { organizationsQuery } from '../organizations/queries.ts';
import { Problem } from '../shell/problem.tsx';
import { InputField, SelectField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Options } from '../ui/options.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { FAMILIES, MACRO_LANGUAGES, type Kind } from './kinds.ts';
import { makeListed } from './first.ts';

const said = words.library;

function Choose({ name, label, texts }: { name: string; label: string; texts: Readonly<Record<string, string>> }) {
  return (
    <SelectField id={`make-${name}`} label={label} name={name}>
      <Options texts={Object.entries(texts)} />
    </SelectField>
  );
}

function MakeForm({ kind }: { kind: Kind }) {
  const navigate = useNavigate();
  const homes = useQuery(organizationsQuery).data ?? [];
  const homeTexts: Record<string, string> = { '': said.ownHome };
  for (const { id, name, isPersonal } of homes) if (!isPersonal) homeTexts[id] = name;
  const { mutate, isPending, error } = useMutation({
    mutationFn: (fields: Record<string, string | undefined>) => {
      const { name = '', home = '', language, family } = fields;
      return makeListed(kind, {
        name,
        ...(home === '' ? {} : { organizationId: home }),
        language: MACRO_LANGUAGES.find((each) => each === language) ?? 'python',
        family: FAMILIES.find((each) => each === family) ?? 'generic',
      });
    },
    onSuccess: async (id) => {
      const params = { macro: id, protocol: id, workbook: id };
      if (kind === 'macros') await navigate({ to: '/library/macros/$macro', params });
      else if (kind === 'protocols') await navigate({ to: '/library/protocols/$protocol', params });
      else await navigate({ to: '/library/workbooks/$workbook', params });
    },
  });
  return (
    <Form className="stack library-make" send={(fields) => mutate(fields)}>
      <InputField id="make-name" label={said.name} name="name" required pattern=".*\S.*" maxLength={255} autoComplete="off" />
      {kind === 'macros' ? <Choose name="language" label={said.language} texts={said.languages} /> : null}
      {kind === 'protocols' ? <Choose name="family" label={said.family} texts={said.families} /> : null}
      <Choose name="home" label={said.home} texts={homeTexts} />
      <Problem error={error} />
      <SendButton type="submit" className="button primary" isSending={isPending}>
        {said.makeIt}
      </SendButton>
    </Form>
  );
}

/** Makes something new, with enough in it to begin. */
export function MakeTool({ kind }: { kind: Kind }) {
  return (
    <DialogTrigger>
      <Button className="button primary">{said.make[kind]}</Button>
      <Popover className="popover" placement="bottom end" aria-label={said.makeTitle[kind]}>
        <h2>{said.makeTitle[kind]}</h2>
        <MakeForm kind={kind} />
      </Popover>
    </DialogTrigger>
  );
}
