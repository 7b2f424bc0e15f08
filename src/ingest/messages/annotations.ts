/** Annotations that a message brings with its measurement. Pure. */
import { createHash } from 'node:crypto';
import { FLAG_TYPES } from '../../lakehouse/terms/catalog.ts';
import type { AnnotationChange } from '../annotation-log.ts';
import { cleanText, isRecord } from '../../json.ts';
import { cut } from '../typing/columns.ts';

/** One annotation of one row, before it has its place in the log. */
export type BroughtAnnotation = Omit<AnnotationChange, 'tableId' | 'sequence' | 'deleted'>;

const LONGEST_TEXT = 255;
const MOST = 100;

interface About {
  rowId: string;
  /** Who made the measurement. What the payload says of authors is not believed. */
  createdBy: string | null;
  /** When the measurement was made, ISO 8601. */
  at: string;
}

/** Makes an id of our own, whatever the payload calls the annotation, so that no message can change an annotation that is stored already. */
function idOf(rowId: string, given: unknown): string {
  const hex = createHash('sha256')
    .update(JSON.stringify(['annotation', rowId, given]))
    .digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}

const instant = (value: unknown): string | undefined => {
  const at = typeof value === 'string' ? new Date(value) : undefined;
  return at && !Number.isNaN(at.getTime()) && at.getUTCFullYear() > 1900 && at.getUTCFullYear() < 10_000 ? at.toISOString() : undefined;
};

function contentOf(type: unknown, content: unknown): Pick<BroughtAnnotation, 'type' | 'text' | 'flagType'> | undefined {
  const { text: given, flagType } = isRecord(content) ? content : { text: content, flagType: undefined };
  const text = typeof given === 'string' && given !== '' ? cut(cleanText(given), LONGEST_TEXT) : null;
  if (type === 'flag') {
    const known = FLAG_TYPES.find((each) => each === flagType);
    return known && { type, text, flagType: known };
  }
  return type === 'comment' && text !== null ? { type, text, flagType: null } : undefined;
}

/** Reads `[{id, type, content: {text, flagType}, createdAt, updatedAt}]`. Comments without a text and flags of no known type are passed over. */
export function readAnnotations(list: readonly unknown[], { rowId, createdBy, at }: About): BroughtAnnotation[] {
  return list.slice(0, MOST).flatMap((entry, index) => {
    if (!isRecord(entry)) return [];
    const content = contentOf(entry['type'], entry['content']);
    if (!content) return [];
    const id = idOf(rowId, typeof entry['id'] === 'string' ? entry['id'] : index);
    const createdAt = instant(entry['createdAt']) ?? at;
    return [{ id, rowId, ...content, createdBy, createdAt, updatedAt: instant(entry['updatedAt']) ?? createdAt }];
  });
}
