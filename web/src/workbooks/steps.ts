import type { FlowGraph } from './queries.ts';

/** What a step is called in a list. A note of a workbook is named by the beginning of its Markdown, whose first line without marks says more. */
export function titleOf({ type, name, content }: FlowGraph['nodes'][number]): string {
  if (type !== 'instruction' || !('text' in content) || typeof content.text !== 'string' || !content.text.trim().startsWith(name))
    return name;
  const line = content.text.split('\n').find((each) => each.trim() !== '') ?? '';
  return (
    line
      .replace(/^[\s#>*+-]+/, '')
      .replaceAll(/\*\*|`/g, '')
      .trim() || name
  );
}
