import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** Colours and letters as in the rest of the console. The variables that are named here follow its theme. */
const theme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--paper)', fontSize: '0.9rem', maxHeight: 'min(60vh, 38rem)' },
  '&.cm-focused': { outline: '3px solid var(--accent)', outlineOffset: '-3px' },
  // line numbers would cover the outline
  '&.cm-focused::after': {
    content: '""',
    position: 'absolute',
    inset: '0',
    border: '3px solid var(--accent)',
    pointerEvents: 'none',
    zIndex: '250',
  },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--code-chosen)',
  },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--code-line)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--soft)', borderRight: '1px solid var(--line)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--accent-wash)', color: 'var(--ink)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--sunken)', borderColor: 'var(--line-strong)', color: 'var(--soft)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-wash)' },
  '.cm-tooltip, .cm-panels': { backgroundColor: 'var(--paper)', color: 'var(--ink)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--accent-ink)' },
  '.cm-textfield': { backgroundColor: 'var(--paper)', color: 'var(--ink)', borderColor: 'var(--line-strong)' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--sunken)', color: 'var(--ink)', borderColor: 'var(--line-strong)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-wash)' },
  '.cm-diagnostic': { borderLeftColor: 'var(--danger)' },
  '.cm-lineWrong': { backgroundColor: 'var(--danger-wash)' },
  '&.cm-merge-b .cm-changedLine, .cm-changedLine': { backgroundColor: 'var(--accent-wash)' },
  '&.cm-merge-b .cm-changedText, .cm-changedText': { background: 'var(--code-added)' },
  '.cm-deletedChunk': { backgroundColor: 'var(--danger-wash)' },
  '.cm-deletedChunk .cm-deletedText': { background: 'var(--code-gone)' },
  '.cm-collapsedLines': { background: 'var(--sunken)', color: 'var(--soft)' },
});

// each colour has a contrast of 4.5 or more on paper, and on the backgrounds of changes
const words = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-number)' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--code-name)' },
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: tags.invalid, color: 'var(--danger)' },
]);

export const look = [theme, syntaxHighlighting(words)];
