import { z } from 'zod/mini';

const page = z.catch(z.optional(z.int().check(z.minimum(1), z.maximum(1_000_000))), undefined);

export const organizationsSearch = z.object({ search: z.catch(z.optional(z.string().check(z.maxLength(200))), undefined) });
const uuid = z.catch(z.optional(z.uuid()), undefined);
const day = z.catch(z.optional(z.iso.date()), undefined);

/** Which page of what an organization owns is shown. */
export const resourcesSearch = z.object({ page });

/** What is shown of an audit log, as the address says it. */
export const auditSearch = z.object({
  page,
  /** A person, by their UUID. */
  actor: uuid,
  action: z.catch(z.optional(z.string().check(z.maxLength(64))), undefined),
  /** What something was done to, by its UUID. */
  resource: uuid,
  /** The first day. */
  from: day,
  /** The last day. */
  to: day,
});
export type AuditSearch = z.infer<typeof auditSearch>;

export const deliveriesSearch = z.object({ status: z.catch(z.optional(z.enum(['pending', 'delivered', 'failed'])), undefined), page });
export type DeliveriesSearch = z.infer<typeof deliveriesSearch>;
