import { open, readFile, rm } from 'node:fs/promises'
import { isAlive } from '../../src/infra/process.ts'

const settleMilliseconds = 50

/**
 * Takes a state file for this process alone, and gives the function that leaves it again. A lock whose process
 * is gone (killed, say) is taken over.
 *
 * @throws Error when a living process has it
 */
export async function lockState(stateFile: string): Promise<() => Promise<void>> {
  const file = `${stateFile}.lock`
  for (;;) {
    const holder = await create(file)
    if (holder === null) break
    if (isAlive(holder))
      throw new Error(`Another poll (process ${holder}) uses "${stateFile}"; choose another --state`)
    await rm(file, { force: true })
  }
  // Two processes may have removed the same dead lock: only the one whose lock stays goes on.
  await Bun.sleep(settleMilliseconds)
  if ((await holderOf(file)) !== process.pid)
    throw new Error(`Another poll has just begun with "${stateFile}"`)
  return () => rm(file, { force: true })
}

/** Null when the lock is ours now, else the process that has it. */
async function create(file: string): Promise<number | null> {
  try {
    const handle = await open(file, 'wx', 0o600)
    await handle.writeFile(String(process.pid))
    await handle.close()
    return null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return holderOf(file)
  }
}

async function holderOf(file: string): Promise<number> {
  return Number(await readFile(file, 'utf8').catch(() => ''))
}
