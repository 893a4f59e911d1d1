import { expect, test } from 'vitest'
import { recordAction } from '../../src/access/audit/store.ts'
import { createHost } from '../../src/access/hosts/store.ts'
import { mintKey } from '../../src/access/keys/store.ts'
import { readConfig } from '../../src/core/config.ts'
import { inTransaction } from '../../src/platform/mongo/turns/transactions.ts'
import { enqueueJob } from '../../src/platform/outbox/outbox.ts'
import { openDatabase } from '../../src/process/open-context.ts'
import { partnerctlHere as partnerctl } from '../support/admin.ts'
import { testEnvironment } from '../support/app.ts'
import { ownDatabase } from '../support/databases.ts'

const environment = testEnvironment({ MONGODB_URL: await ownDatabase() })
const { db, close } = await openDatabase(readConfig(environment))
const clock = () => new Date()

for (let at = 0; at < 5; at += 1) {
  const host = await createHost(db, clock, { name: `Host ${at}`, email: `h${at}@example.com` })
  await mintKey(db, clock, { host: host.id, name: `Key ${at}`, permissions: ['bookings.read'] })
  await recordAction(db, { owner_id: null, at: new Date(at * 1000), action: 'test', target: `act ${at}` })
  await inTransaction(db, 'test', (session) =>
    enqueueJob(db, session, new Date(at * 1000), { topic: 'Test', owner_id: host.id, payload: { at } }),
  )
}
await close()

async function list(...args: string[]) {
  const { code, stdout, stderr } = await partnerctl([...args, '--json'], environment)
  return { code, rows: code === 0 ? JSON.parse(stdout) : stdout, stderr }
}

test.each([
  ['hosts', 'name', ['Host 0', 'Host 1'], /more than 2; continue with --after \d+/],
  ['keys', 'name', ['Key 0', 'Key 1'], /more than 2; continue with --after \d+/],
  ['audit', 'target', ['act 4', 'act 3'], /more than 2; continue with --after [0-9a-f]{24}/],
  ['jobs', 'created_at', ['1970-01-01T00:00:00.000000Z', '1970-01-01T00:00:01.000000Z'], /more than 2/],
])(
  'partnerctl %s list --limit shows the first entries and says that there are more',
  async (name, field, first, hint) => {
    const cut = await list(name, 'list', '--limit', '2')
    expect(cut.rows.map((row: Record<string, unknown>) => row[field])).toEqual(first)
    expect(cut.stderr).toMatch(hint)
    for (const all of [await list(name, 'list'), await list(name, 'list', '--limit', '5')]) {
      expect({ rows: all.rows.length, stderr: all.stderr }).toEqual({ rows: 5, stderr: '' })
    }
  },
)

test.each(['0', '1001', 'x'])('partnerctl hosts list --limit %s is refused', async (limit) => {
  const refused = await list('hosts', 'list', '--limit', limit)
  expect(refused).toMatchObject({ code: 2, rows: '' })
  expect(refused.stderr).toContain('--limit must be an integer from 1 to 1000')
})

test.each(['hosts', 'keys'])('partnerctl %s list --after continues where a list ended', async (name) => {
  const { rows } = await list(name, 'list', '--limit', '2')
  const rest = await list(name, 'list', '--after', String(rows[1].id))
  expect({ rows: rest.rows.length, firstName: rest.rows[0].name, stderr: rest.stderr }).toEqual({
    rows: 3,
    firstName: rows[0].name.replace('0', '2'),
    stderr: '',
  })
})
