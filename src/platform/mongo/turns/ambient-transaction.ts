import mongoose from 'mongoose'
import type { Db, Session } from '../connection.ts'

/**
 * Runs an administrative action in one transaction, without which an action could be carried out and its audit entry be
 * missing. Every model operation in `work` joins it automatically, because the stores' functions for administrators take
 * no session; a transaction opened within `work` does not join it. A command is the only writer of its process, so it
 * waits in no queue. `work` may run more than once.
 */
export async function inAmbientTransaction<T>(db: Db, work: (session: Session) => Promise<T>): Promise<T> {
  mongoose.set('transactionAsyncLocalStorage', true)
  return db.transaction(work)
}
