import { toTimestamp, toTimestampOrNull } from '../core/clock.ts'
import { profileOf, rules } from './course/cases.ts'
import type { Certification } from './model.ts'
import type { CertificationView } from './schema.ts'

/** Serializes a certification with the state of its cases. */
export function serializeCertification(
  certification: Certification,
  progress: CertificationView['progress'] = null,
): CertificationView {
  const { next } = certification
  return {
    id: certification._id,
    status: certification.status,
    profiles: certification.profiles,
    seed: certification.seed,
    started_at: toTimestamp(certification.started_at),
    ended_at: toTimestampOrNull(certification.ended_at),
    next: next ? { ...emptyNext, ...next } : null,
    progress,
    cases: certification.cases.map(({ name, status, because, request_ids }) => ({
      name,
      profile: profileOf(name),
      rule: rules[name],
      status,
      because,
      request_ids,
      guide,
    })),
  }
}

const emptyNext = {
  booking_id: null,
  user_id: null,
  listing_id: null,
  room_type_id: null,
  room_types: null,
  checkin_at: null,
  checkout_at: null,
  start_date: null,
  end_date: null,
  available: null,
  as_of: null,
}

/** Link to the guide's description of all cases. */
const guide = '/guide/certification'
