import { useEffect, useRef, useState } from 'react';
import { Problem } from '../shell/problem.tsx';
import { rootOf } from './editor.tsx';
import type { CodeLanguage } from './language.ts';

interface DifferenceProps {
  label: string;
  before: string;
  after: string;
  language: CodeLanguage;
}

/** What changed from one text to another. */
export function CodeDifference({ label, before, after, language }: DifferenceProps) {
  const holder = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let isGone = false;
    let close = () => {};
    import('./codemirror.ts').then(
      ({ openDifference }) => {
        if (!isGone && holder.current !== null) close = openDifference({ root: rootOf(holder.current), label, before, after, language });
      },
      (problem: unknown) => {
        if (!isGone) setError(problem);
      },
    );
    return () => {
      isGone = true;
      close();
    };
  }, [label, before, after, language]);
  return (
    <>
      <Problem error={error} />
      <div ref={holder} className="code" />
    </>
  );
}
