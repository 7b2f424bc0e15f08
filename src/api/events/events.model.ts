/** What an organization can be told of. */
export type EventKind =
  | 'experiment.created'
  | 'experiment.published'
  | 'experiment.archived'
  | 'experiment.deleted'
  | 'upload.completed'
  | 'upload.failed'
  | 'upload.withdrawn'
  | 'export.completed'
  | 'export.failed';

/** What a test of a webhook sends is an event too, which nobody subscribes to. */
export type SentKind = EventKind | 'webhook.test';
