import { z } from 'zod/mini';

const page = z.catch(z.optional(z.int().check(z.minimum(1), z.maximum(1_000_000))), undefined);

export const organizationsSearch = z.object({ search: z.catch(z.optional(z.string().check(z.maxLength(200))), undefined) });
export const auditSearch = z.object({ page });
export const deliveriesSearch = z.object({ status: z.catch(z.optional(z.enum(['pending', 'delivered', 'failed'])), undefined), page });
export type DeliveriesSearch = z.infer<typeof deliveriesSearch>;
