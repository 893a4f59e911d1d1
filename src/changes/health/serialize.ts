import { toTimestamp, toTimestampOrNull } from '../../core/clock.ts'
import { toVersion } from '../../host-clock/format.ts'
import { type FeedHealth, type Finding, findingsOf, type HealthFacts, statusOf } from './findings.ts'
import type { FindingView, HealthView } from './schema.ts'

/** The chapter of the guide that has a section for each code. */
const chapter = 'quiet-or-broken'

/** Returns a finding as partners see it. */
export function serializeFinding(finding: Finding, publicUrl: string): FindingView {
  const { code, severity, since, message, details } = finding
  const { expires_at, ...others } = details
  return {
    code,
    severity,
    since: toTimestampOrNull(since),
    message,
    guide: `${publicUrl}/guide/${chapter}#${code}`,
    ...others,
    ...(expires_at === undefined ? {} : { expires_at: toTimestamp(expires_at) }),
  }
}

/** Returns a key's health as partners see it. */
export function serializeHealth(facts: HealthFacts, publicUrl: string): HealthView {
  const findings = findingsOf(facts)
  return {
    status: statusOf(findings),
    findings: findings.map((finding) => serializeFinding(finding, publicUrl)),
    feeds: {
      bookings: facts.feeds && serializeFeed(facts.feeds.bookings),
      messages: facts.feeds && serializeFeed(facts.feeds.messages),
    },
    requests: {
      succeeded: facts.requests.succeeded,
      refused: facts.requests.refused,
      limited: facts.requests.limited,
      failed: facts.requests.failed,
      unanswered: facts.requests.unanswered,
    },
  }
}

function serializeFeed({ newest, read }: FeedHealth): HealthView['feeds']['bookings'] {
  return {
    newest_version: newest && toVersion(newest),
    read_version: read?.version ? toVersion(read.version) : null,
    read_at: toTimestampOrNull(read?.at),
    unread: read ? read.unread.count : null,
    oldest_unread_at: toTimestampOrNull(read?.unread.oldest),
  }
}
