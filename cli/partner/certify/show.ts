import junit from 'junit-report-builder'
import type { Schemas } from '../../../client/src/index.ts'
import { record, visible } from '../../shared/output.ts'
import { table } from '../../shared/table.ts'

type Certification = Schemas['Certification']

/** Returns a human-readable description of a certification: its cases' states and the next step. */
export function describeCertification(certification: Certification): string {
  const { id, status, seed, cases, next } = certification
  const failed = cases.filter((one) => one.status === 'failed' || one.status === 'skipped')
  return [
    record({ id, status, seed }),
    table(cases, { CASE: 'name', STATUS: 'status', RULE: 'rule' }),
    ...failed.map(describeFailed),
    ...(next ? [describeNext(next)] : []),
  ].join('\n\n')
}

function describeFailed({ name, status, because, request_ids, guide }: Certification['cases'][0]): string {
  const requests = request_ids.length > 0 ? [`Requests: ${request_ids.join(', ')}`] : []
  return [`${name} ${status}: ${because ?? ''}`, ...requests, `Guide: ${guide}`].map(visible).join('\n')
}

/** Describes the next step and the resources it concerns. */
export function describeNext({ action, text, ...about }: NonNullable<Certification['next']>): string {
  const { room_types, ...one } = about
  const fields = Object.entries(one).filter(([, value]) => value !== null)
  const places = room_types?.map((place) => `${place.listing_id}/${place.room_type_id}`).join(', ')
  return [
    `Next: ${action}. ${text}.`,
    ...fields.map(([name, value]) => `  ${name}  ${value}`),
    ...(places ? [`  room types, by listing  ${places}`] : []),
  ]
    .map(visible)
    .join('\n')
}

/** Converts a certification to JUnit XML for a build server, with a suite for each profile and a test for each case. */
export function toJunit({ id, profiles, cases }: Certification): string {
  const report = junit.newBuilder()
  for (const profile of profiles) {
    const suite = report.testSuite().name(`certification ${id}: ${profile}`)
    for (const { name, rule, status, because, request_ids } of cases.filter(
      (one) => one.profile === profile,
    )) {
      const test = suite.testCase().className(profile).name(`${name}: ${rule}`)
      const told = [because, ...request_ids.map((request) => `request ${request}`)].join('\n')
      if (status === 'failed') test.failure(told)
      else if (status !== 'passed') test.skipped()
    }
  }
  return report.build()
}
