/** Collections that the service also uses in the background, so their commands are no part of what a request costs. */
export const backgroundCollections: ReadonlySet<unknown> = new Set([
  'alarms',
  'outbox',
  'keys',
  'sandboxes',
  'requests',
  'request_counts',
  'webhooks',
  'webhook_deliveries',
  'leases',
  // A process looks for due work every four seconds (`turns/work-watch.ts`).
  'schema_version',
])
