import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { NotYet } from '../ui/not-yet.tsx';
import { rootOf } from './editor.tsx';
import { codemirrorFile } from './file.ts';
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
  const { data: file, error, refetch } = useQuery(codemirrorFile);
  useEffect(() => {
    if (file === undefined || holder.current === null) return undefined;
    return file.openDifference({ root: rootOf(holder.current), label, before, after, language });
  }, [file, label, before, after, language]);
  return (
    <>
      {file === undefined ? <NotYet error={error} refetch={refetch} /> : null}
      <div ref={holder} className="code" />
    </>
  );
}
