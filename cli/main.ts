#!/usr/bin/env bun
import { program } from './program.ts'
import { run } from './shared/program.ts'

// The user's paths are relative to the folder in which `bin/partnerctl` was run.
if (process.env.PARTNERCTL_FOLDER) process.chdir(process.env.PARTNERCTL_FOLDER)
delete process.env.PARTNERCTL_FOLDER

process.exit(await run(program, process.argv.slice(2)))
