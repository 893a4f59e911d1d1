import { createRequire } from 'node:module'

/** Modules of the runtime that few commands use, and that take longer to load than a poll with nothing to do. */
interface RarelyUsed {
  'node:child_process': typeof import('node:child_process')
  'node:net': typeof import('node:net')
  'node:tty': typeof import('node:tty')
  'node:util': typeof import('node:util')
}

const load = createRequire(import.meta.url)

/**
 * Loads a module of the runtime where it is used. Without it, every command would load the module when it starts
 * (`test/cli/start.test.ts`).
 */
export function builtIn<Name extends keyof RarelyUsed>(name: Name): RarelyUsed[Name] {
  return load(name)
}
