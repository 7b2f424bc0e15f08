import type { ComponentProps, ReactNode } from 'react';

interface Named {
  /** The id of the control. */
  id: string;
  label: string;
  /** What is said below the control, and read out with it. */
  hint?: string;
}

const hintOf = (id: string, hint: string | undefined) => (hint === undefined ? undefined : `${id}-hint`);

/** A control below its name. */
export const Field = ({ id, label, hint, children }: Named & { children: ReactNode }) => (
  <div className="field">
    <label htmlFor={id}>{label}</label>
    {children}
    {hint === undefined ? null : (
      <p id={hintOf(id, hint)} className="hint">
        {hint}
      </p>
    )}
  </div>
);

/** A text of one line below its name. */
export const InputField = ({ label, hint, ...rest }: Named & ComponentProps<'input'>) => (
  <Field id={rest.id} label={label} hint={hint}>
    <input className="input" aria-describedby={hintOf(rest.id, hint)} {...rest} />
  </Field>
);

/** A list to choose one of, below its name. */
export const SelectField = ({ label, hint, ...rest }: Named & ComponentProps<'select'>) => (
  <Field id={rest.id} label={label} hint={hint}>
    <select className="input" aria-describedby={hintOf(rest.id, hint)} {...rest} />
  </Field>
);

/** A text of several lines below its name. */
export const TextField = ({ label, hint, ...rest }: Named & ComponentProps<'textarea'>) => (
  <Field id={rest.id} label={label} hint={hint}>
    <textarea className="input" aria-describedby={hintOf(rest.id, hint)} {...rest} />
  </Field>
);
