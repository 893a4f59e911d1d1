import { randomBytes } from 'node:crypto'
import { DomainError } from '../core/errors.ts'
import { type Permission, requirePermission } from '../http/permissions.ts'
import type { Caller } from '../http/request.ts'
import { KeyedQueue } from '../platform/keyed-queue.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { busy, isDuplicate } from '../platform/mongo/errors.ts'
import { clearSandboxes } from '../sandbox/lifecycle/end.ts'
import { whileOpen } from '../sandbox/lifecycle/lifetime.ts'
import { openSandbox } from '../sandbox/lifecycle/open-sandbox.ts'
import type { SandboxContext } from '../sandbox/sandbox-context.ts'
import { book, makeGuest, placesFor, type Stage, stayFrom } from '../sandbox/scenarios/stage.ts'
import { beginObservation, endObservation, isOpen } from '../sandbox/store.ts'
import { casesOf, inOrder, type Profile } from './course/cases.ts'
import { endCertification, firstStep } from './engine.ts'
import type { Certification } from './model.ts'
import { changeCertification, findRunning, insertCertification, removeCertification } from './store.ts'

/** Permissions that a key needs for each profile. */
const needed: Record<Profile, Permission[]> = {
  feed: ['bookings.read'],
  inventory: ['listings.read', 'listings.write'],
  bookings: ['bookings.write'],
  webhooks: ['bookings.read'],
}

/** Number of bookings created at the start; more than the feed's largest page can hold. */
const bookingsAtStart = 130
const concurrentBookings = 16
/**
 * Returns the queue in which the starts of a process wait for each other, because creating 130 bookings is expensive and
 * would slow down other requests.
 */
export function newFillings(): KeyedQueue {
  return new KeyedQueue(30_000, busy)
}

/**
 * Starts a certification: clears the key's sandbox and fills it with 130 bookings.
 *
 * @throws DomainError `forbidden` if the key lacks a permission that a profile needs; `conflict` if another
 * certification of the key is running or, with a retry time, if the sandbox was cleared too often or too many
 * certifications are starting
 */
export async function startCertification(
  { app, fillings }: { app: SandboxContext; fillings: KeyedQueue },
  caller: Caller,
  { profiles, seed }: { profiles: readonly Profile[]; seed: string | null },
): Promise<Certification> {
  for (const permission of profiles.flatMap((profile) => needed[profile]))
    requirePermission(permission, caller.permissions)
  await endCleared(app, caller.keyId)
  const certification = await insert(app, caller, inOrder(profiles), seed ?? randomBytes(6).toString('hex'))
  try {
    return await fillings.run('fill', () => fill(app, certification))
  } catch (error) {
    // A certification that never began must not cause an earlier, passed certification to be deleted.
    await removeCertification(app.db, certification._id)
    throw error
  }
}

/** Ends the key's running certification if its sandbox was cleared and the leader has not noticed yet. */
async function endCleared(app: SandboxContext, keyId: number): Promise<void> {
  const running = await findRunning(app.db, keyId)
  if (running && running.sandbox_id !== null && !(await isOpen(app.db, running.sandbox_id)))
    await endCertification(app, running, 'failed', 'The sandbox was cleared')
}

async function insert(
  { db, ids, clockWatch }: SandboxContext,
  { keyId, host }: Caller,
  profiles: Profile[],
  seed: string,
): Promise<Certification> {
  const now = clockWatch.databaseNow()
  const certification = newCertification({
    _id: await ids('certification'),
    key_id: keyId,
    host_id: host.id,
    seed,
    profiles,
    started_at: now,
    secret: randomBytes(32).toString('base64url'),
  })
  try {
    await insertCertification(db, certification)
  } catch (error) {
    if (!isDuplicate(error)) throw error
    throw await runningAlready(db, keyId)
  }
  return certification
}

/** What is known of a certification when it starts. */
type NewCertification = Pick<
  Certification,
  '_id' | 'key_id' | 'host_id' | 'seed' | 'profiles' | 'started_at' | 'secret'
>

/** How long a certification is kept. */
const keptMilliseconds = 396 * 86_400_000

/** Returns a new certification, whose sandbox is not filled yet. */
function newCertification(start: NewCertification): Certification {
  return {
    _id: start._id,
    key_id: start.key_id,
    host_id: start.host_id,
    sandbox_id: null,
    seed: start.seed,
    profiles: start.profiles,
    status: 'running',
    started_at: start.started_at,
    ended_at: null,
    cases: casesOf(start.profiles).map((name) => ({
      name,
      status: 'waiting',
      because: null,
      request_ids: [],
    })),
    step: null,
    next: null,
    facts: {},
    secret: start.secret,
    requests: 0,
    revision: 0,
    sweep_at: null,
    expires_at: new Date(start.started_at.getTime() + keptMilliseconds),
  }
}

/** Names the running certification, so that ending it needs no `DELETE /sandbox`, which also clears the data. */
async function runningAlready(db: Db, keyId: number): Promise<DomainError> {
  const running = await findRunning(db, keyId)
  if (!running) return busy()
  const { _id } = running
  return new DomainError(
    'conflict',
    `Certification ${_id} of this key is running; wait until it ends, or end it with DELETE /sandbox/certifications/${_id}`,
  )
}

async function fill(app: SandboxContext, certification: Certification): Promise<Certification> {
  const { key_id: keyId } = certification
  await clearSandboxes(app, { key_id: keyId })
  const { _id: sandboxId } = await openSandbox(app, keyId)
  return whileOpen(app.db, sandboxId, () => begin({ app, sandboxId, keyId }, certification))
}

/** Creates the bookings and stores the first step. */
async function begin(stage: Stage, certification: Certification): Promise<Certification> {
  const { app, sandboxId } = stage
  const guest = await makeGuest(stage)
  const stay = stayFrom(stage, null)
  const places = await placesFor(stage, null, stay, bookingsAtStart)
  // Bookings that are created concurrently share transactions.
  for (let start = 0; start < places.length; start += concurrentBookings)
    await Promise.all(
      places
        .slice(start, start + concurrentBookings)
        .map((place) => book(stage, { user_id: guest, place, stay })),
    )
  await beginObservation(app.db, sandboxId, certification._id)
  const begun = { sandbox_id: sandboxId, ...firstStep(app.clockWatch.databaseNow()) }
  const filled = await changeCertification(app.db, certification, begun)
  if (filled) return filled
  // The certification has ended, perhaps before its observation began.
  await endObservation(app.db, certification.key_id, certification._id)
  throw new DomainError('conflict', 'The certification has ended in the meantime')
}
