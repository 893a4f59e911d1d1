import mongoose from 'mongoose'
import { systemClock } from '../../../src/core/clock.ts'
import type { Db } from '../../../src/platform/mongo/connection.ts'
import { eraseGuest } from '../../../src/stays/guests/erase.ts'
import { findUserOfAnyHost } from '../../../src/stays/users/store.ts'

/**
 * Erases a guest and kills itself at the given statement, either before the statement is sent or after its response.
 * Prints the number of statements if it finishes.
 */
const [url, userId, last, at] = process.argv.slice(2) as [string, string, string, 'started' | 'succeeded']
const db = (await mongoose.createConnection(url, { monitorCommands: true }).asPromise()) as Db
const user = await findUserOfAnyHost(db, Number(userId))
let statements = 0
const count = ({ commandName }: { commandName: string }) => {
  if (['hello', 'isMaster', 'ismaster', 'ping', 'endSessions'].includes(commandName)) return
  statements += 1
  if (statements === Number(last)) process.kill(process.pid, 'SIGKILL')
}
if (at === 'started') db.getClient().on('commandStarted', count)
else db.getClient().on('commandSucceeded', count)
await eraseGuest({ db, clock: systemClock }, user)
console.log(statements)
await db.close()
