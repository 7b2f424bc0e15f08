import type { ReactNode } from 'react';

interface FieldProps {
  /** The id of the control. */
  id: string;
  label: string;
  children: ReactNode;
}

/** A control below its name. */
export const Field = ({ id, label, children }: FieldProps) => (
  <div className="field">
    <label htmlFor={id}>{label}</label>
    {children}
  </div>
);
