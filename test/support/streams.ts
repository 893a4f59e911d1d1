import type { Db } from '../../src/platform/mongo/connection.ts'

/** Kills the change streams on a database's hosts' clocks that wait for a change; returns their number. */
export async function killStreams(db: Db): Promise<number> {
  const waiting = { op: 'getmore', ns: `${db.name}.host_clocks` }
  const admin = db.getClient().db('admin')
  const { inprog } = (await admin.command({ currentOp: 1, ...waiting })) as Operations
  const cursors = inprog.map(({ command }) => command.getMore)
  if (cursors.length > 0) await db.db?.command({ killCursors: 'host_clocks', cursors })
  return cursors.length
}

type Operations = { inprog: { command: { getMore: unknown } }[] } & object
