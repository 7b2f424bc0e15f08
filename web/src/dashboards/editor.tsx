import { EditorContent, useEditor, useEditorState, type Editor } from '@tiptap/react';
import StarterKit from '@tiptap/starter-kit';
import { words } from '../words.ts';
import { withoutStyles } from './rich-text.tsx';

const said = words.dashboards.text;

type Mark = keyof typeof said.marks;

const HEADING = { level: 2 } as const;

/** What each button of the toolbar does. */
const TOGGLES: Readonly<Record<Mark, (editor: Editor) => boolean>> = {
  bold: (editor) => editor.chain().focus().toggleBold().run(),
  italic: (editor) => editor.chain().focus().toggleItalic().run(),
  heading: (editor) => editor.chain().focus().toggleHeading(HEADING).run(),
  bulletList: (editor) => editor.chain().focus().toggleBulletList().run(),
  orderedList: (editor) => editor.chain().focus().toggleOrderedList().run(),
};
const MARKS = Object.keys(TOGGLES) as Mark[];

/** Writes text that is kept as HTML. Loaded when the first text is edited. */
export function TextEditor({ id, html, change }: { id: string; html: string; change: (html: string) => void }) {
  const editor = useEditor({
    extensions: [StarterKit.configure({ link: { openOnClick: false } })],
    content: withoutStyles(html),
    // the policy of the page lets no style be injected
    injectCSS: false,
    editorProps: { attributes: { id, role: 'textbox', 'aria-multiline': 'true', 'aria-label': said.label, class: 'rich-text' } },
    onUpdate: ({ editor: written }) => change(written.getHTML()),
  });
  const active = useEditorState({
    editor,
    selector: ({ editor: shown }) => Object.fromEntries(MARKS.map((mark) => [mark, shown.isActive(mark)])),
  });
  return (
    <div className="text-editor">
      <div className="inline" role="group" aria-label={said.toolbar}>
        {MARKS.map((mark) => (
          <button key={mark} type="button" className="button" aria-pressed={active[mark] ?? false} onClick={() => TOGGLES[mark](editor)}>
            {said.marks[mark]}
          </button>
        ))}
      </div>
      <EditorContent editor={editor} className="input text-area" />
      <p className="hint">{said.hint}</p>
    </div>
  );
}
