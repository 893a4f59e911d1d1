import { toTimestampOrNull } from '../core/clock.ts'
import type { Access } from '../http/access.ts'
import { Confirmation, created, Envelope, ok } from '../http/answer/envelope.ts'
import { output, responseObject } from '../http/input/schema/fields.ts'
import { routes } from '../http/route.ts'
import type { SandboxContext } from '../sandbox/sandbox-context.ts'
import { courseOf } from './course/course.ts'
import { judgeState } from './course/uploaded-state.ts'
import { endCertification, isStarted } from './engine.ts'
import type { Certification } from './model.ts'
import { findLastRecord } from './record/store.ts'
import { reportOf } from './report.ts'
import { CertificationStart, CertificationState, CertificationView } from './schema.ts'
import { serializeCertification } from './serialize.ts'
import { newFillings, startCertification } from './start.ts'
import { findCertification, listCertifications } from './store.ts'

/** Routes for certifying a partner's product by playing a course in the partner's sandbox (decisions §25). */
export function certificationRoutes(app: SandboxContext) {
  const fillings = newFillings()
  const access: Access = { permission: 'any', window: 'insight', environment: 'skips' }
  const accessToOne: Access = { ...access, errors: ['not_found'] }
  const find = ({ caller, params }: { caller: { keyId: number }; params: { id: number | undefined } }) =>
    findCertification(app.db, caller.keyId, params.id)
  const read = async (certification: Certification) =>
    serializeCertification(certification, await progressOf(app, certification))
  return routes(app, { prefix: '/certifications', tags: ['Sandbox'] })
    .get(
      '',
      {
        access,
        response: {
          200: Envelope(output.list('Certifications of the key, newest first', CertificationView)),
        },
        detail: { operationId: 'listSandboxCertifications', summary: 'List the certifications' },
      },
      async (context) =>
        ok(context, await Promise.all((await listCertifications(app.db, context.caller.keyId)).map(read))),
    )
    .post(
      '',
      {
        access: { ...access, body: 'json', errors: ['forbidden', 'conflict'] },
        body: CertificationStart,
        response: { 201: Envelope(CertificationView) },
        detail: {
          operationId: 'startSandboxCertification',
          summary: 'Start a certification',
          description:
            'Clears the sandbox of this key, fills it with 130 bookings, and plays a course of changes and faults. Point your product at the sandbox, and follow `next`.',
        },
      },
      async (context) => {
        const { profiles, seed = null } = context.body
        const started = await startCertification({ app, fillings }, context.caller, { profiles, seed })
        return created(context, serializeCertification(started))
      },
    )
    .get(
      '/:id',
      {
        access: accessToOne,
        response: { 200: Envelope(CertificationView) },
        detail: { operationId: 'getSandboxCertification', summary: 'Read a certification' },
      },
      async (context) => ok(context, await read(await find(context))),
    )
    .delete(
      '/:id',
      {
        access: accessToOne,
        response: { 200: Envelope(Confirmation) },
        detail: { operationId: 'endSandboxCertification', summary: 'End a certification' },
      },
      async (context) => {
        const certification = await find(context)
        if (certification.status === 'running')
          await endCertification(app, certification, 'failed', 'The certification was deleted')
        return ok(context, { message: 'The certification has ended' })
      },
    )
    .put(
      '/:id/state',
      {
        access: { ...accessToOne, body: 'bookings', errors: ['not_found', 'conflict'] },
        body: CertificationState,
        response: { 200: Envelope(CertificationView) },
        detail: {
          operationId: 'uploadSandboxCertificationState',
          summary: 'Upload the bookings that the product holds',
          description:
            'Accepted only once, when `next` asks for it; sent as JSON, or as ndjson with one booking per line',
        },
      },
      async (context) => {
        const { bookings } = context.body
        return ok(context, serializeCertification(await judgeState(app, await find(context), bookings)))
      },
    )
    .get(
      '/:id/report',
      {
        access: { ...accessToOne, errors: ['not_found', 'conflict'] },
        response: {
          200: Envelope(
            responseObject(
              { report: output.text('Report as a compact JWS signed with Ed25519, valid for one year') },
              'The report',
            ),
          ),
        },
        detail: {
          operationId: 'getSandboxCertificationReport',
          summary: 'Read the signed report of a certification',
        },
      },
      async (context) => ok(context, { report: await reportOf(app, context.caller, await find(context)) }),
    )
}

/** Maximum number of missing bookings whose ids are returned. */
const namedBookings = 5

/**
 * Returns a running certification's progress, or null if the sandbox is not filled yet or the certification has ended.
 * The progress is not stored but derived from the recorded requests and deliveries.
 */
async function progressOf(
  app: SandboxContext,
  certification: Certification,
): Promise<CertificationView['progress']> {
  if (certification.status !== 'running' || !isStarted(certification)) return null
  const { _id, profiles, step } = certification
  const [last, missing = []] = await Promise.all([
    findLastRecord(app.db, _id),
    courseOf(profiles)[step.index]?.missing?.({ app, certification }),
  ])
  return {
    last_request_at: toTimestampOrNull(last?.at),
    last_operation: last?.operation ?? null,
    missing_count: missing.length,
    missing_booking_ids: missing.slice(0, namedBookings).map(({ id }) => id),
  }
}
