import { exitCode } from '../shared/errors.ts'
import { noteIfPossible } from '../shared/output.ts'
import { run } from '../shared/program.ts'
import { findAdministratorsCommand, program } from './program.ts'

/** Entry of `partnerctl.mjs`, the partners' commands as one file for Node and Bun (decisions §30). */
const rawArgs = process.argv.slice(2)
const unavailable = findAdministratorsCommand(rawArgs)
if (unavailable !== undefined) {
  noteIfPossible(`"${unavailable}" is an administrator's command; it belongs to the service's installation`)
  process.exit(exitCode.usage)
}
process.exit(await run(program, rawArgs))
