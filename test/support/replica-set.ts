import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mongo } from 'mongoose'
import { findMongod } from '../../src/platform/mongo/server/mongod.ts'
import { freePort } from '../../src/platform/process.ts'

interface Member {
  port: number
  dbpath: string
  process: Bun.Subprocess
}

/** Real `mongod` processes that elect a primary among themselves. */
export interface ReplicaSet {
  url: string
  /** Kills the primary with SIGKILL; returns a function that restarts it and waits until it has caught up. */
  killPrimary(): Promise<() => Promise<void>>
  /** Makes the primary step down, as for maintenance, and waits until another member is primary. */
  stepDown(): Promise<void>
  /** Freezes the primary with SIGSTOP, so its connections stay open and silent; returns a function that resumes it. */
  freezePrimary(): Promise<() => Promise<void>>
  /** Freezes all secondaries, so that no majority acknowledges writes. The primary does not notice at first. */
  freezeSecondaries(): Promise<() => Promise<void>>
  stop(): Promise<void>
}

const electionTimeoutMillis = 2000

/** @param options further options of each server */
export async function startReplicaSet(size = 3, options: string[] = []): Promise<ReplicaSet> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-replicas-'))
  const members: Member[] = []
  for (let index = 0; index < size; index += 1) {
    const port = await freePort()
    const dbpath = join(folder, String(index))
    await Bun.write(join(dbpath, '.keep'), '')
    members.push({ port, dbpath, process: launch(port, dbpath, options) })
  }
  const [first] = members as [Member]
  const config = {
    _id: 'replicas',
    members: members.map(({ port }, _id) => ({ _id, host: `127.0.0.1:${port}` })),
    settings: { electionTimeoutMillis, heartbeatIntervalMillis: 500 },
  }
  await until(() => admin(first.port, { replSetInitiate: config }))
  await until(() => primaryOf(members))
  await until(() => isSettled(members))
  return {
    url: `mongodb://${members.map(({ port }) => `127.0.0.1:${port}`).join(',')}/?replicaSet=replicas`,
    async killPrimary() {
      const primary = await until(() => primaryOf(members))
      primary.process.kill('SIGKILL')
      await primary.process.exited
      return async () => {
        primary.process = launch(primary.port, primary.dbpath, options)
        await until(() => isSettled(members))
      }
    },
    async stepDown() {
      const { port } = await until(() => primaryOf(members))
      // An old server closes the connection on which it is asked.
      const command = { replSetStepDown: 2, secondaryCatchUpPeriodSecs: 1 }
      await until(async () => {
        await admin(port, command).catch(() => {})
        return (await admin(port, { isMaster: 1 })).ismaster ? undefined : true
      })
      await until(() => primaryOf(members))
    },
    async freezePrimary() {
      const primary = await until(() => primaryOf(members))
      primary.process.kill('SIGSTOP')
      return async () => {
        primary.process.kill('SIGCONT')
        await until(() => isSettled(members))
      }
    },
    async freezeSecondaries() {
      const primary = await until(() => primaryOf(members))
      const others = members.filter((member) => member !== primary)
      for (const { process } of others) process.kill('SIGSTOP')
      return async () => {
        for (const { process } of others) process.kill('SIGCONT')
        await until(() => isSettled(members))
      }
    },
    async stop() {
      for (const { process } of members) process.kill('SIGKILL')
      await Promise.all(members.map(({ process }) => process.exited))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function launch(port: number, dbpath: string, options: string[]): Bun.Subprocess {
  const place = ['--dbpath', dbpath, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket']
  const set = ['--replSet', 'replicas', '--oplogSize', '64', '--wiredTigerCacheSizeGB', '0.25']
  const command = [findMongod(), ...place, ...set, '--setParameter', 'transactionLifetimeLimitSeconds=3']
  return Bun.spawn([...command, ...options], { stdout: 'ignore', stderr: 'ignore' })
}

/** Repeats a query until it has a result, for up to four minutes. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 240_000
  for (;;) {
    const result = await ask().catch(() => undefined)
    if (result !== undefined) return result
    if (Date.now() > deadline) throw new Error('The replica set did not settle')
    await Bun.sleep(50)
  }
}

async function admin(port: number, command: object): Promise<mongo.Document> {
  const url = `mongodb://127.0.0.1:${port}/?directConnection=true`
  const client = new mongo.MongoClient(url, { serverSelectionTimeoutMS: 300, connectTimeoutMS: 300 })
  try {
    return await client.db('admin').command(command as mongo.Document)
  } finally {
    await client.close()
  }
}

async function primaryOf(members: Member[]): Promise<Member | undefined> {
  const hellos = await Promise.all(members.map(({ port }) => admin(port, { isMaster: 1 }).catch(() => null)))
  return members[hellos.findIndex((hello) => hello?.ismaster)]
}

async function isSettled(members: Member[]): Promise<true | undefined> {
  const hellos = await Promise.all(members.map(({ port }) => admin(port, { isMaster: 1 })))
  return hellos.every((hello) => hello.ismaster || hello.secondary) && hellos.some((hello) => hello.ismaster)
    ? true
    : undefined
}
