import { type Static, Type } from '@sinclair/typebox'
import { nullable, output, responseObject, withTitle } from '../../http/input/schema/fields.ts'
import { feedNames } from '../feeds.ts'
import { countedRefusals, countedUnread, findingCodes } from './findings.ts'

const severity = ['failing', 'warning'] as const

/** A finding, as partners see it. The fields after `guide` depend on its code (decisions §29). */
export const FindingView = withTitle(
  'Finding',
  responseObject(
    {
      code: output.literal('Kind of finding', ...findingCodes),
      severity: output.literal(
        '`failing` needs somebody now, `warning` can wait until the morning',
        ...severity,
      ),
      since: output.timestampOrNull(
        'Time at which the threshold was crossed; null for `limit_reached`, `requests_refused`, `listing_without_price`, `calendar_conflict`, `calendar_incomplete` and `nights_open`',
      ),
      message: output.text('What is wrong, in a sentence'),
      guide: output.text('Address of the section of the guide that says what to do', 'uri'),
      feed: Type.Optional(output.literal('Feed that the finding is about', ...feedNames)),
      unread: Type.Optional(
        output.integer(`Number of unread changes; ${countedUnread} means that many or more`, 'count'),
      ),
      consumer: Type.Optional(output.text('Name of the consumer that is behind')),
      pending: Type.Optional(
        output.integer(`Number of pending changes; ${countedUnread} means that many or more`, 'count'),
      ),
      webhook_id: Type.Optional(output.integer('Id of the webhook', 'id')),
      operation_id: Type.Optional(output.text('Operation that is refused, such as `createBooking`')),
      expires_at: Type.Optional(output.timestamp('Time at which the key expires')),
      limited: Type.Optional(
        output.integer('Number of requests of the last 60 minutes that exceeded the rate limit', 'count'),
      ),
      refused: Type.Optional(
        output.integer(
          `Number of refused requests: of the last 60 minutes or, for \`writes_refused\`, since the last success, up to ${countedRefusals}, which means that many or more`,
          'count',
        ),
      ),
      listing_ids: Type.Optional(
        output.list('Ids of the listings, ascending, at most 20', output.integer('Id of a listing', 'id')),
      ),
      room_ids: Type.Optional(
        output.list(
          'Ids of the rooms whose calendars it is about, ascending, at most 20',
          output.integer('Id of a room', 'id'),
        ),
      ),
      count: Type.Optional(output.integer('Number of such listings or rooms', 'count')),
    },
    'Something that is wrong with the integration',
  ),
)
export type FindingView = Static<typeof FindingView>

const FeedHealthView = withTitle(
  'FeedHealth',
  responseObject(
    {
      newest_version: output.textOrNull('Version of the newest change; null if there is none', 'version'),
      read_version: output.textOrNull(
        'Version up to which this key has read the feed without filters; null if it has been shown nothing yet',
        'version',
      ),
      read_at: output.timestampOrNull(
        'Time at which this key last read the feed without filters; null if it never did',
      ),
      unread: output.integerOrNull(
        `Number of changes after \`read_version\`; ${countedUnread} means that many or more, and null that this key has never read the feed`,
      ),
      oldest_unread_at: output.timestampOrNull('Time of the oldest of them; null if there is none'),
    },
    'How far this key has read the feed',
  ),
)

/** Response of `GET /v1/health`. */
export const HealthView = withTitle(
  'Health',
  responseObject({
    status: output.literal('The worst severity among the findings', 'ok', 'warning', 'failing'),
    findings: output.list('What is wrong, worst first, then oldest first; empty if all is well', FindingView),
    feeds: responseObject(
      {
        bookings: nullable(FeedHealthView, {
          description: 'Booking feed; null if the key lacks the permission `bookings.read`',
        }),
        messages: nullable(FeedHealthView, {
          description: 'Message feed; null if the key lacks the permission `bookings.read`',
        }),
      },
      'Positions of this key in the feeds',
    ),
    requests: responseObject(
      {
        succeeded: output.integer('Number of requests that succeeded', 'count'),
        refused: output.integer('Number of requests that got 4xx other than 429', 'count'),
        limited: output.integer('Number of requests that got 429', 'count'),
        failed: output.integer('Number of requests that got 5xx', 'count'),
        unanswered: output.integer(
          'Number of requests that a sandbox fault left without a response',
          'count',
        ),
      },
      'Requests of the last 60 minutes that count towards the rate limit, live and in the sandbox',
    ),
  }),
)
export type HealthView = Static<typeof HealthView>
