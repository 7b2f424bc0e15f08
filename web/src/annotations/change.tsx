import { useMutation } from '@tanstack/react-query';
import { isMissing } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { InputField, SelectField } from '../ui/field.tsx';
import { takeFocus } from '../ui/focus.ts';
import { Form, type Fields } from '../ui/form.tsx';
import { resetOnceTaken } from '../ui/forms.ts';
import { KeepWritten } from '../ui/leave-question.tsx';
import { Options } from '../ui/options.tsx';
import { SaveOrCancel } from '../ui/save-or-cancel.tsx';
import { words } from '../words.ts';
import { changeAnnotation, findFlag, FLAGS, LONGEST_TEXT, renewRows, type Annotation, type Saying } from './writes.ts';

const said = words.annotations;

interface ChangeFormProps {
  experimentId: string;
  annotation: Annotation;
  /** Called when it is changed, or is to stay as it was. */
  close: () => void;
}

/** Changes the words of an annotation, and what a flag says. A comment stays a comment. */
export function ChangeForm({ experimentId, annotation: { id, content }, close }: ChangeFormProps) {
  const isFlag = content.flagType !== null;
  const change = useMutation({
    mutationFn: (saying: Saying) => changeAnnotation(experimentId, id, saying),
    onSuccess: async () => {
      await renewRows(experimentId);
      sayDone(said.changed);
    },
  });
  const submit = (fields: Fields, form: HTMLFormElement) => {
    const saying = { flag: findFlag(fields['flag']), text: (fields['text'] ?? '').trim() };
    change.mutate(saying, { onSuccess: resetOnceTaken(form, close) });
  };
  return (
    <Form className="stack" aria-label={said.change} send={submit}>
      <KeepWritten shownBy="row" />
      <div className="inline annotate">
        {isFlag ? (
          <SelectField id={`${id}-flag`} label={said.kind} name="flag" defaultValue={content.flagType ?? ''}>
            <Options texts={FLAGS.map((each) => [each, said.flags[each]])} />
          </SelectField>
        ) : null}
        <InputField
          ref={takeFocus}
          id={`${id}-text`}
          label={isFlag ? said.textIfAny : said.text}
          name="text"
          required={!isFlag}
          pattern=".*\S.*"
          maxLength={LONGEST_TEXT}
          autoComplete="off"
          defaultValue={content.text ?? ''}
        />
      </div>
      <SaveOrCancel
        change={change}
        save={said.save}
        adviceHere={{ ANNOTATION_NOT_FOUND: said.goneAdvice }}
        close={() => {
          close();
          if (isMissing(change.error)) void renewRows(experimentId);
        }}
      />
    </Form>
  );
}
