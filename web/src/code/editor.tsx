import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { NotYet } from '../ui/not-yet.tsx';
import type { OpenEditor } from './codemirror.ts';
import { codemirrorFile } from './file.ts';
import type { CodeLanguage, CodeProblem } from './language.ts';
import './code.css';

/** The shadow root of a place, made when it is first asked for. */
export const rootOf = (place: HTMLElement): ShadowRoot => place.shadowRoot ?? place.attachShadow({ mode: 'open' });

interface EditorProps {
  label: string;
  text: string;
  language: CodeLanguage;
  isReadOnly?: boolean;
  problems?: readonly CodeProblem[];
  /** The place to go to. Another object goes there again, even when it says the same. */
  goTo?: CodeProblem | undefined;
  onChange?: (text: string) => void;
  onRun?: (text: string) => void;
  onSave?: (text: string) => void;
}

const NONE: readonly CodeProblem[] = [];
const ignore = () => {};

/** A text with line numbers and colours, to read or to write. */
export function CodeEditor({
  label,
  text,
  language,
  isReadOnly = false,
  problems = NONE,
  goTo,
  onChange = ignore,
  onRun = ignore,
  onSave = ignore,
}: EditorProps) {
  const holder = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<OpenEditor>();
  const { data: file, error, isLoading, refetch } = useQuery(codemirrorFile);
  const firstText = useEffectEvent(() => text);
  const tell = useEffectEvent(onChange);
  const run = useEffectEvent(onRun);
  const save = useEffectEvent(onSave);
  useEffect(() => {
    if (file === undefined || holder.current === null) return undefined;
    const opened = file.openEditor({
      root: rootOf(holder.current),
      label,
      text: firstText(),
      language,
      isReadOnly,
      tell: (next) => tell(next),
      run: (now) => run(now),
      save: (now) => save(now),
    });
    setEditor(opened);
    return () => {
      setEditor(undefined);
      opened.close();
    };
  }, [file, label, language, isReadOnly]);
  useEffect(() => editor?.setText(text), [editor, text]);
  useEffect(() => editor?.showProblems(problems), [editor, problems]);
  useEffect(() => {
    if (goTo !== undefined) editor?.goTo(goTo);
  }, [editor, goTo]);
  return (
    <>
      {file === undefined ? <NotYet error={error} refetch={refetch} /> : null}
      <div ref={holder} className="code" data-awaited={isLoading} />
    </>
  );
}
