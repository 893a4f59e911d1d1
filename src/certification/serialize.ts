import { toTimestamp, toTimestampOrNull } from '../core/clock.ts'
import { profileOf, rules } from './cases.ts'
import type { Certification } from './model.ts'
import type { CertificationView } from './schema.ts'

/** Link to the guide's description of all cases. */
const guide = '/docs#description/certification'

/** Serializes a certification with the state of its cases. */
export function serializeCertification(certification: Certification): CertificationView {
  const { _id, status, profiles, seed, started_at, ended_at, next, cases } = certification
  return {
    ...{ id: _id, status, profiles, seed },
    started_at: toTimestamp(started_at),
    ended_at: toTimestampOrNull(ended_at),
    next: next && { ...emptyNext, ...next },
    cases: cases.map(({ name, status: state, because, request_ids }) => ({
      ...{ name, profile: profileOf(name), rule: rules[name], status: state, because, request_ids },
      guide,
    })),
  }
}

const emptyNext = {
  ...{ booking_id: null, user_id: null, listing_id: null, room_type_id: null, room_types: null },
  ...{ checkin_at: null, checkout_at: null, start_date: null, end_date: null, available: null },
}
