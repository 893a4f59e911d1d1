import { writeFileSync } from 'node:fs'
import { createHost, listHosts } from '../access/hosts/store.ts'
import { mintKey, revokeKey } from '../access/keys/store.ts'
import { addDays, toDay } from '../core/clock.ts'
import type { AppContext } from '../http/context.ts'
import { normalize } from '../http/input/schema/normalize.ts'
import { permissions } from '../http/permissions.ts'
import { carryOut } from '../http/write.ts'
import { sentListings } from '../inventory/listings/listing-write.ts'
import { newUsers } from '../stays/users/create.ts'
import { UserCreate } from '../stays/users/schema.ts'

/** A demo host with one key, one user and one listing. The key is shown only once. */
export interface Demo {
  hostId: number
  keyId: number
  key: string
  /** Body of a booking request that this host accepts. */
  booking: { user_id: number; listing_id: number; checkin_at: string; checkout_at: string; message: string }
}

/** Returns true if the database has no hosts. */
export async function isEmpty({ db }: Pick<AppContext, 'db'>): Promise<boolean> {
  return (await listHosts(db, { after: 0, limit: 1 })).length === 0
}

/** Creates a demo host from `fixtures/demo`. Each call creates a new host. */
export async function seedDemo(app: Pick<AppContext, 'db' | 'clock' | 'ids'>): Promise<Demo> {
  const { db, clock } = app
  const [listingBody, userBody] = await Promise.all([readFixture('listing'), readFixture('user')])
  const host = await createHost(db, clock, {
    name: 'Demo host',
    email: `demo+${crypto.randomUUID()}@example.com`,
  })
  const { key, record } = await mintKey(db, clock, {
    host: host.id,
    name: 'Demo key',
    permissions: [...permissions],
  })
  const { id: user_id } = await carryOut(app, newUsers, host.id, {
    fields: normalize(UserCreate, userBody),
    origin: { keyId: record.id, address: '127.0.0.1' },
  })
  const { listing: created } = await carryOut(app, sentListings, host.id, listingBody)
  const checkin_at = addDays(toDay(clock()), 30)
  const booking = {
    user_id,
    listing_id: created.id,
    checkin_at,
    checkout_at: addDays(checkin_at, 92),
    message: 'Arriving in the evening',
  }
  return { hostId: host.id, keyId: record.id, key, booking }
}

async function readFixture(name: string): Promise<Record<string, unknown>> {
  return Bun.file(new URL(`../../fixtures/demo/${name}.json`, import.meta.url)).json()
}

/**
 * Prints the welcome on standard output. If that fails, the service keeps running, but the demo key, which nobody has
 * seen, is revoked.
 */
export async function greet(
  { db, clock, log }: Pick<AppContext, 'db' | 'clock' | 'log'>,
  address: string,
  demo: Demo | null,
): Promise<void> {
  try {
    // The runtime's own stream would report the failure later, in an event.
    writeFileSync(1, welcome(address, demo))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (demo) await revokeKey(db, clock, String(demo.keyId))
    const outcome = demo ? ': the key of the demo host was revoked; run partnerctl seed for another one' : ''
    log.warn({ code }, `The welcome could not be written to standard output${outcome}`)
  }
}

/**
 * Returns the message printed once the service is up.
 *
 * @param demo the demo host, whose key the message shows; null if this start did not create a demo host
 */
function welcome(address: string, demo: Demo | null): string {
  const lines = [
    `The partner interface is up at ${address} (guide: ${address}/guide, reference: ${address}/docs)`,
  ]
  if (demo)
    lines.push(
      '',
      'A demo host was created. Its key is shown only now; try these commands next:',
      '',
      ...commands(address, demo),
    )
  return `${lines.join('\n')}\n\n`
}

function commands(address: string, { key, booking }: Demo): string[] {
  const partnerctl = `PARTNER_BASE_URL=${address} PARTNER_API_KEY=${key} bin/partnerctl`
  return [
    `${partnerctl} me`,
    `${partnerctl} api POST /bookings --data '${JSON.stringify(booking)}'`,
    `${partnerctl} feed poll --once`,
  ]
}
