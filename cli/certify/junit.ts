import junit from 'junit-report-builder'
import type { CertificationView } from '../../src/sandbox/certification/schema.ts'

/** A certification as JUnit has it, for a build server: a suite for each profile, a test for each case. */
export function toJunit({ id, profiles, cases }: CertificationView): string {
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
