import { expect, test } from 'vitest'
import { openLog } from '../../../src/platform/log.ts'
import { leaseModel } from '../../../src/platform/mongo/turns/lease.ts'
import { WorkWatch } from '../../../src/platform/mongo/turns/work-watch.ts'
import { testApp } from '../../support/app.ts'
import { onScopeEnd, ownDatabase } from '../../support/databases.ts'

const log = openLog('silent')
const hour = 3_600_000

/** A watch on a database of its own that asks often, and a sleeper that is shown by leases of a name. */
async function openWatch() {
  // The service's own watches, whose questions would be counted, ask nothing meanwhile.
  const service = await testApp({ MONGODB_URL: await ownDatabase() }, undefined, { workInterval: hour })
  const { db } = service.live
  const watch = new WorkWatch(db, log, 20)
  onScopeEnd(async () => watch.close())
  const sleeper = (names: string[]) => {
    const state = { isAsleep: true, answers: [] as boolean[] }
    const added = watch.add({
      shownBy: names.map((name) => ({ model: leaseModel, filter: () => ({ _id: name }) })),
      isAsleep: () => state.isAsleep,
      onAnswer: (isFound) => state.answers.push(isFound),
    })
    return Object.assign(state, added)
  }
  const show = (name: string) => leaseModel(db).create({ _id: name, owner: 'somebody', until: new Date() })
  return { db, watch, sleeper, show }
}

test('everyone who sleeps learns whether there is a document for them, whichever of their sources shows it', async () => {
  const { sleeper, show } = await openWatch()
  const one = sleeper(['first', 'second'])
  const other = sleeper(['third'])
  await expect.poll(() => other.answers.length).toBeGreaterThan(1)
  expect(new Set([...one.answers, ...other.answers])).toEqual(new Set([false]))
  await show('second')
  await expect.poll(() => one.answers.at(-1)).toBe(true)
  expect(new Set(other.answers)).toEqual(new Set([false]))
})

test('nothing is asked for those who are awake or have gone, and one command serves everyone else', async () => {
  const { db, sleeper } = await openWatch()
  const commands: string[] = []
  db.getClient().on('commandStarted', ({ commandName, command }) => {
    if (commandName === 'aggregate' && command.aggregate === 'schema_version') commands.push(commandName)
  })
  const awake = sleeper(['first'])
  const gone = sleeper(['first'])
  const sleepers = [sleeper(['first']), sleeper(['second'])]
  awake.isAsleep = false
  gone.end()
  await expect.poll(() => sleepers.map(({ answers }) => answers.length >= 3)).toEqual([true, true])
  expect({ awake: awake.answers, gone: gone.answers }).toEqual({ awake: [], gone: [] })
  expect(commands.length).toBeLessThanOrEqual(Math.max(...sleepers.map(({ answers }) => answers.length)) + 1)
  for (const one of sleepers) one.isAsleep = false
  const asked = commands.length
  awake.isAsleep = true
  await expect.poll(() => awake.answers.length).toBeGreaterThan(2)
  expect(commands.length).toBeGreaterThan(asked)
})

test('a database that cannot be asked makes everyone look for themselves', async () => {
  const { db, sleeper } = await openWatch()
  await db.collection('schema_version').deleteMany({})
  const one = sleeper(['first'])
  await expect.poll(() => one.answers.at(-1)).toBe(true)
})
