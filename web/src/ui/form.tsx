import type { ComponentProps } from 'react';
import { Problem } from '../shell/problem.tsx';
import { fieldsOf } from './forms.ts';
import { SendButton } from './send-button.tsx';

/** The text of each named control of a form. */
export type Fields = Readonly<Record<string, string | undefined>>;

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  send: (fields: Fields, form: HTMLFormElement) => void;
}

/** A form that is sent without leaving the page. */
export const Form = ({ send, ...rest }: FormProps) => (
  <form
    {...rest}
    onSubmit={(event) => {
      event.preventDefault();
      send(fieldsOf(event.currentTarget), event.currentTarget);
    }}
  />
);

interface SendLineProps {
  sent: { error: unknown; isPending: boolean };
  says: string;
}

/** The button that sends a form, below why it could not be sent. */
export const SendLine = ({ sent: { error, isPending }, says }: SendLineProps) => (
  <>
    <Problem error={error} />
    <p>
      <SendButton type="submit" className="button primary" isSending={isPending}>
        {says}
      </SendButton>
    </p>
  </>
);
