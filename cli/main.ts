#!/usr/bin/env bun
import { run } from './run.ts'

// The user's paths are relative to the folder in which `bin/partnerctl` was run.
if (process.env.PARTNERCTL_FOLDER) process.chdir(process.env.PARTNERCTL_FOLDER)
delete process.env.PARTNERCTL_FOLDER

const code = await run(process.argv.slice(2))
// Exiting before a slow reader has read all output would truncate the output.
const taken = (stream: NodeJS.WriteStream) => new Promise<void>((resolve) => stream.end(resolve))
await Promise.all([taken(process.stdout), taken(process.stderr)])
process.exit(code)
