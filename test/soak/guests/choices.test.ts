import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { userModel } from '../../../src/stays/users/model.ts'
import { admin, adminJson } from '../../support/admin.ts'
import { testApp } from '../../support/app.ts'
import { makeGuest } from '../../support/guests.ts'

const service = await testApp()
const { db } = service.live
const folder = await mkdtemp(join(tmpdir(), 'partner-guests-'))
afterAll(() => rm(folder, { recursive: true }))

test('guests are erased by age, receipts are fully checked first, and conflicting options are refused', async () => {
  const actor = await service.actor()
  const host = ['--host', String(actor.hostId)]
  const past = (year: number) => ({ checkin_at: `${year}-01-01`, checkout_at: `${year}-02-01` })
  const old = await makeGuest(actor, past(2020))
  const recent = await makeGuest(actor, past(2023))
  const open = await makeGuest(actor)
  const idle = (
    await actor.send('POST', '/v1/users', {
      body: { email: 'idle@example.com', first_name: 'I', last_name: 'D' },
    })
  ).body.data.user_id
  const listed = async (day: string) =>
    (await adminJson('guests', 'erase', '--stays-ended-before', day, ...host, '--dry-run')).map(
      ({ user_id }: { user_id: number }) => user_id,
    )
  expect(await listed('2020-02-01')).toEqual([])
  expect(await listed('2020-02-02')).toEqual([old.user_id])
  expect(await listed('2024-01-01')).toEqual([old.user_id, recent.user_id])
  await userModel(db).updateOne({ id: idle }, { $set: { created_at: new Date('2019-03-01') } })
  expect(await listed('2020-02-02')).toEqual([old.user_id, idle])
  const file = join(folder, 'by-age.ndjson')
  const byAge = [
    'guests',
    'erase',
    '--stays-ended-before',
    '2020-02-02',
    ...host,
    '--yes',
    '--receipts',
    file,
  ]
  expect(await adminJson(...byAge)).toHaveLength(2)
  expect(await adminJson(...byAge)).toHaveLength(0)
  expect(await listed('2024-01-01')).toEqual([recent.user_id])
  expect((await userModel(db).findOne({ id: open.user_id }).lean())?.erased_at).toBeNull()

  const lines = (await readFile(file, 'utf8')).trim().split('\n')
  const wrong = join(folder, 'wrong.ndjson')
  const fromReceipts = async (...receipts: string[]) => {
    await writeFile(wrong, `${receipts.join('\n')}\n`)
    return admin('guests', 'erase', '--from-receipts', wrong, '--yes')
  }
  const receiptOf = (of: object) => JSON.stringify({ ...JSON.parse(lines[0] as string), ...of })
  const malformed = await fromReceipts(receiptOf({ user_id: recent.user_id }), '{"user_id":')
  expect({ code: malformed.code, stderr: malformed.stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('Line 2'),
  })
  expect((await fromReceipts(receiptOf({ user_id: recent.user_id }))).code).toBe(1)
  expect((await fromReceipts(receiptOf({ host_id: actor.hostId + 1 }))).code).toBe(1)
  expect((await fromReceipts(receiptOf({ user_id: 99_999_999 }), ...lines)).code).toBe(0)
  expect((await userModel(db).findOne({ id: recent.user_id }).lean())?.erasing_at).toBeNull()
  for (const args of [
    [],
    ['--user', '1', '--stays-ended-before', '2020-01-01'],
    ['--stays-ended-before', '2999-01-01'],
    ['--stays-ended-before', '2020-02-30'],
  ])
    expect({ args, code: (await admin('guests', 'erase', '--yes', ...args)).code }).toEqual({ args, code: 2 })
})
