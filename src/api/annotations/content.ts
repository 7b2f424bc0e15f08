import { z } from 'zod';
import { FLAG_TYPES } from '../../lakehouse/terms/catalog.ts';

const flagType = z.enum(FLAG_TYPES);
const comment = z.object({ type: z.literal('comment'), text: z.string().min(1).max(255), flagType: flagType.optional() });
const flag = z.object({ type: z.literal('flag'), flagType, text: z.string().max(255).optional() });

/** The content of an annotation, by type. The published API document is made from this shape. */
export const contentShape = z.discriminatedUnion('type', [comment, flag]);

/** An annotation: its type, and a content of that type. */
export const annotationShape = z.discriminatedUnion('type', [
  z.object({ type: z.literal('comment'), content: comment }),
  z.object({ type: z.literal('flag'), content: flag }),
]);
