import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { InputField } from '../ui/field.tsx';
import { Form, type Fields } from '../ui/form.tsx';
import { resetOnceTaken } from '../ui/forms.ts';
import { KeepWritten } from '../ui/leave-question.tsx';
import { Options } from '../ui/options.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { annotateRows, findFlag, FLAGS, LONGEST_TEXT, renewRows, type RowsNamed, type Saying } from './writes.ts';

const said = words.annotations;

/** Flags rows or comments on them. What was typed stays until the service has it. */
export function AnnotateForm({ rows, done }: { rows: RowsNamed; done?: () => void }) {
  const id = useId();
  const [kind, setKind] = useState('comment');
  const flag = findFlag(kind);
  const write = useMutation({
    mutationFn: (saying: Saying) => annotateRows(rows, saying),
    onSuccess: async (count) => {
      await renewRows(rows.experimentId);
      sayDone(said.done(count));
    },
  });
  const submit = (fields: Fields, form: HTMLFormElement) => {
    const text = (fields['text'] ?? '').trim();
    const empty = resetOnceTaken(form, () => {
      form.reset();
      setKind('comment');
    });
    write.mutate(
      { flag, text },
      {
        onSuccess: () => {
          empty();
          done?.();
        },
      },
    );
  };
  return (
    <Form className="stack" send={submit}>
      <KeepWritten shownBy="row" />
      <div className="inline annotate">
        <div className="field annotate-kind">
          <label htmlFor={`${id}-kind`}>{said.kind}</label>
          <select id={`${id}-kind`} className="input" value={kind} onChange={(event) => setKind(event.target.value)}>
            <option value="comment">{said.comment}</option>
            <Options texts={FLAGS.map((each) => [each, said.flags[each]])} />
          </select>
        </div>
        <InputField
          id={`${id}-text`}
          label={flag === null ? said.text : said.textIfAny}
          name="text"
          required={flag === null}
          pattern=".*\S.*"
          maxLength={LONGEST_TEXT}
          autoComplete="off"
        />
        <SendButton type="submit" className="button primary" isSending={write.isPending}>
          {said.submit(rows.rowIds.length)}
        </SendButton>
      </div>
      <Problem error={write.error} />
    </Form>
  );
}
