import type { ComponentProps } from 'react';
import { fieldsOf } from './forms.ts';

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
