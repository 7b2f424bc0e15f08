import { render } from 'dom-serializer';
import { DomUtils, ElementType, parseDocument } from 'htmlparser2';
import { createElement, Fragment, type ReactNode } from 'react';
import { words } from '../words.ts';

type Tree = ReturnType<typeof parseDocument>;
type Part = Tree['children'][number];

/** Elements that are shown as they are. Of all others only the content is shown. */
const SHOWN: ReadonlySet<string> = new Set(
  'p div span blockquote pre code kbd samp em strong b i u s del ins sub sup small mark ul ol li dl dt dd table thead tbody tfoot tr th td caption'.split(
    ' ',
  ),
);
const EMPTY: ReadonlySet<string> = new Set(['br', 'hr']);
const HIDDEN: ReadonlySet<string> = new Set(['title', 'template']);
const HEADING = /^h[1-6]$/;

/** Levels of elements within each other that are read. Each level that is shown takes some of the browser's stack. */
const DEEPEST = 100;

/** Reads HTML, without what is nested deeper than is shown. */
function read(html: string): Tree {
  const tree = parseDocument(html);
  let level: Extract<Part, { children: Part[] }>[] = [tree];
  for (let depth = 0; depth < DEEPEST; depth += 1)
    level = level.flatMap(({ children }) => children.flatMap((part) => ('children' in part ? [part] : [])));
  for (const part of level) part.children = [];
  return tree;
}

const linkTo = (href: string, children: ReactNode, key: number): ReactNode => (
  <a key={key} href={href} target="_blank" rel="noopener noreferrer">
    {children}
  </a>
);

/** A picture that the text holds. One from elsewhere is a link: nothing leaves the machine unless somebody asks for it. */
function pictureOf({ src = '', alt = '' }: Record<string, string>, key: number): ReactNode {
  if (/^data:image\/(png|jpeg|gif|webp);/i.test(src)) return <img key={key} src={src} alt={alt} />;
  return /^https?:/i.test(src) ? linkTo(src, words.dashboards.image(alt), key) : null;
}

function shown(part: Part, key: number, levels: readonly string[]): ReactNode {
  if (part.type === ElementType.Text) return part.data;
  // scripts, styles and comments are no text
  if (part.type !== ElementType.Tag || HIDDEN.has(part.name)) return null;
  const { name, attribs, children: parts } = part;
  const children = parts.map((each, at) => shown(each, at, levels));
  if (name === 'a' && /^(https?:|mailto:)/i.test(attribs['href'] ?? '')) return linkTo(attribs['href'] ?? '', children, key);
  if (name === 'img') return pictureOf(attribs, key);
  if (EMPTY.has(name)) return createElement(name, { key });
  // headings begin at level 3: the page has two levels of its own
  if (HEADING.test(name)) return createElement(`h${3 + levels.indexOf(name)}`, { key }, ...children);
  return SHOWN.has(name) ? createElement(name, { key }, ...children) : <Fragment key={key}>{children}</Fragment>;
}

const headingsIn = (tree: Tree): string[] =>
  DomUtils.getElementsByTagName((name) => HEADING.test(name), tree, true).map(({ name }) => name);

/** Shows text that somebody wrote as HTML. It is parsed and built anew from elements of text, so that none of its markup gets into the page. */
export function RichText({ html }: { html: string }) {
  const tree = read(html);
  const levels = [...new Set(headingsIn(tree))].sort().slice(0, 4);
  return <div className="rich-text">{tree.children.map((part, at) => shown(part, at, [...levels, 'h5', 'h6']))}</div>;
}

/** The words of HTML. */
export const wordsIn = (html: string): string =>
  read(html)
    .children.map((part) => DomUtils.textContent(part).trim())
    .join(' ');

/** The HTML without attributes that the policy of the page refuses wherever they are parsed. */
export function withoutStyles(html: string): string {
  const tree = read(html);
  for (const { attribs } of DomUtils.getElementsByTagName('*', tree, true)) delete attribs['style'];
  return render(tree);
}
