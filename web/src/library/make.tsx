import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useRef, useState, type RefObject } from 'react';
import { Button } from 'react-aria-components/Button';
import { DialogTrigger } from 'react-aria-components/Dialog';
import { Popover } from 'react-aria-components/Popover';
import { HomeField } from '../organizations/home-field.tsx';
import { InputField, SelectField } from '../ui/field.tsx';
import { Form, SendLine, type Fields } from '../ui/form.tsx';
import { fieldsOf } from '../ui/forms.ts';
import { LeaveQuestion } from '../ui/leave-question.tsx';
import { Options } from '../ui/options.tsx';
import { words } from '../words.ts';
import { FAMILIES, MACRO_LANGUAGES, PAGES, type Kind } from './kinds.ts';
import { makeListed } from './first.ts';

const said = words.library;

interface ChooseProps {
  name: string;
  label: string;
  texts: Readonly<Record<string, string>>;
  begun: Fields;
}

function Choose({ name, label, texts, begun }: ChooseProps) {
  return (
    <SelectField id={`make-${name}`} label={label} name={name} defaultValue={begun[name]}>
      <Options texts={Object.entries(texts)} />
    </SelectField>
  );
}

interface MakeFormProps {
  kind: Kind;
  form: RefObject<HTMLFormElement | null>;
  /** What was written before the form was closed. */
  begun: Fields;
}

function MakeForm({ kind, form, begun }: MakeFormProps) {
  const navigate = useNavigate();
  const make = useMutation({
    mutationFn: (fields: Record<string, string | undefined>) => {
      const { name = '', organization = '', language, family } = fields;
      return makeListed(kind, {
        name,
        ...(organization === '' ? {} : { organizationId: organization }),
        language: MACRO_LANGUAGES.find((each) => each === language) ?? 'python',
        family: FAMILIES.find((each) => each === family) ?? 'generic',
      });
    },
    onSuccess: async (id) => {
      await navigate({ to: PAGES[kind], params: { macro: id, protocol: id, workbook: id }, ignoreBlocker: true });
    },
  });
  return (
    <Form ref={form} className="stack library-make" send={(fields) => make.mutate(fields)}>
      <InputField
        id="make-name"
        label={said.name}
        name="name"
        defaultValue={begun['name']}
        required
        pattern=".*\S.*"
        maxLength={255}
        autoComplete="off"
      />
      {kind === 'macros' ? <Choose name="language" label={said.language} texts={said.languages} begun={begun} /> : null}
      {kind === 'protocols' ? <Choose name="family" label={said.family} texts={said.families} begun={begun} /> : null}
      <HomeField id="make-home" label={said.home} personal={said.ownHome} defaultValue={begun['organization']} />
      <SendLine sent={make} says={said.makeIt} />
    </Form>
  );
}

/** Makes something new, with enough in it to begin. */
export function MakeTool({ kind }: { kind: Kind }) {
  const form = useRef<HTMLFormElement>(null);
  const [begun, setBegun] = useState<Fields>({});
  const isDirty = useCallback(() => ((form.current === null ? begun : fieldsOf(form.current))['name'] ?? '') !== '', [begun]);
  return (
    <>
      <LeaveQuestion isDirty={isDirty} />
      <DialogTrigger onOpenChange={(isOpen) => !isOpen && form.current !== null && setBegun(fieldsOf(form.current))}>
        <Button className="button primary">{said.make[kind]}</Button>
        <Popover className="popover" placement="bottom end" aria-label={said.makeTitle[kind]}>
          <h2>{said.makeTitle[kind]}</h2>
          <MakeForm kind={kind} form={form} begun={begun} />
        </Popover>
      </DialogTrigger>
    </>
  );
}
