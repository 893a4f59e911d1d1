export type { Answer } from './answer.ts'
export type { CallOptions, Data, List, Result, Schemas, WriteOptions } from './call.ts'
export type { Client, SandboxClient } from './client.ts'
export { createClient } from './client.ts'
export { isCalendarDate, isVersion } from './dates.ts'
export { type DigestedBooking, type DigestSummary, digestBookings, type OwnDigest } from './digest.ts'
export {
  ArgumentError,
  type BulkItem,
  ConnectionError,
  type ErrorType,
  PartnerError,
  type Problem,
} from './errors.ts'
export type { Ahead, Feed, FeedFilters, FeedPace, FeedPage, FeedPosition } from './feed.ts'
export { describeNetworkError, isLasting, type NetworkCause, networkCauseOf } from './network-cause.ts'
export { fetchPublicKeys } from './public-keys.ts'
export { WebhookError } from './secret.ts'
export { signWebhook, type WebhookMessage } from './sign.ts'
export type { Attempt, ClientOptions, RequestOptions } from './transport.ts'
export { type VerifyOptions, verifyWebhook, type WebhookEvent } from './verify.ts'
