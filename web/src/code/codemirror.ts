import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { python } from '@codemirror/lang-python';
import { StreamLanguage, type LanguageSupport } from '@codemirror/language';
import { r } from '@codemirror/legacy-modes/mode/r';
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { Annotation, EditorState, Prec, type Extension, type Text } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { basicSetup } from 'codemirror';
import type { CodeLanguage, CodeProblem } from './language.ts';
import { look } from './look.ts';

/**
 * The languages of the editor. It is loaded with the first page that shows code. Its styles go into a sheet of its shadow root, which the policy of the page
 * allows.
 */
const LANGUAGES: Readonly<Record<CodeLanguage, () => LanguageSupport | StreamLanguage<unknown>>> = {
  python: () => python(),
  r: () => StreamLanguage.define(r),
  javascript: () => javascript(),
  json: () => json(),
};

const labelled = (label: string, isReadOnly: boolean): Extension => [
  EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0', ...(isReadOnly ? { 'aria-readonly': 'true' } : {}) }),
  EditorState.readOnly.of(isReadOnly),
  EditorState.tabSize.of(2),
  EditorView.lineWrapping,
];

/** Marks a change that the page itself made, which is told to nobody. */
const given = Annotation.define<true>();

/** Handles typing over a selection. A browser would keep the look of the old text as inline styles, which the policy of the page forbids. */
const typeOver = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data }, view) => {
    const { state } = view;
    const { from, to, empty } = state.selection.main;
    if (inputType !== 'insertText' || data === null || empty || view.composing || state.readOnly) return false;
    const insert = () => state.update(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    if (!state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
    return true;
  },
});

interface EditorSettings {
  root: ShadowRoot;
  label: string;
  text: string;
  language: CodeLanguage;
  isReadOnly: boolean;
  tell: (text: string) => void;
  /** Both are handed the text: the page may not have drawn yet what was typed last. */
  run: (text: string) => void;
  save: (text: string) => void;
}

/** An editor that stands on the page. */
export interface OpenEditor {
  setText: (text: string) => void;
  showProblems: (problems: readonly CodeProblem[]) => void;
  goTo: (problem: CodeProblem) => void;
  close: () => void;
}

/** Where a problem is; a line beyond the end counts as the last. */
function placeOf(text: Text, { line, column }: CodeProblem): { from: number; to: number } {
  const { from, to } = text.line(Math.min(Math.max(1, line), text.lines));
  return { from: Math.min(to, from + Math.max(0, (column ?? 1) - 1)), to };
}

const diagnosticOf = (text: Text, problem: CodeProblem): Diagnostic => ({
  ...placeOf(text, problem),
  severity: 'error',
  message: problem.message,
});

/** Opens an editor. Tab leaves it, as in any field; Ctrl Enter runs and Ctrl S saves. */
export function openEditor({ root, label, text, language, isReadOnly, tell, run, save }: EditorSettings): OpenEditor {
  const act = (what: (text: string) => void) => (target: EditorView) => {
    what(target.state.doc.toString());
    return true;
  };
  const view = new EditorView({
    parent: root,
    root,
    doc: text,
    extensions: [
      Prec.high(
        keymap.of([
          { key: 'Mod-Enter', run: act(run) },
          { key: 'Mod-s', run: act(save), preventDefault: true },
        ]),
      ),
      basicSetup,
      typeOver,
      lintGutter(),
      EditorView.theme({ '&': { minHeight: '14rem' } }),
      LANGUAGES[language](),
      look,
      labelled(label, isReadOnly),
      EditorView.updateListener.of(({ docChanged, state, transactions }) => {
        if (docChanged && transactions.every((each) => each.annotation(given) === undefined)) tell(state.doc.toString());
      }),
    ],
  });
  return {
    setText: (next) => {
      if (next !== view.state.doc.toString())
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next }, annotations: given.of(true) });
    },
    showProblems: (problems) => {
      const { state } = view;
      view.dispatch(
        setDiagnostics(
          state,
          problems.map((problem) => diagnosticOf(state.doc, problem)),
        ),
      );
    },
    goTo: (problem) => {
      view.dispatch({ selection: { anchor: placeOf(view.state.doc, problem).from }, scrollIntoView: true });
      view.focus();
    },
    close: () => view.destroy(),
  };
}

interface DifferenceSettings {
  root: ShadowRoot;
  label: string;
  before: string;
  after: string;
  language: CodeLanguage;
}

/** Shows the text `after`. Above each change stands what `before` said there. */
export function openDifference({ root, label, before, after, language }: DifferenceSettings): () => void {
  const view = new EditorView({
    parent: root,
    root,
    doc: after,
    extensions: [
      basicSetup,
      LANGUAGES[language](),
      look,
      labelled(label, true),
      unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } }),
    ],
  });
  return () => view.destroy();
}
