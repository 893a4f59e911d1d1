import { runCommand } from 'citty'
import { exitCode } from './errors.ts'
import { note, noteIfPossible, show } from './output.ts'
import { helpOf, type Program, version } from './program.ts'
import { OutputError } from './streams.ts'

/**
 * Runs the command that the arguments name. Prints the command's error, if it fails, and returns its exit code. Any
 * command fails if its output cannot be written.
 */
export async function run(program: Program, rawArgs: string[]): Promise<number> {
  try {
    return await runOrExplain(program, rawArgs)
  } catch (error) {
    if (!(error instanceof OutputError)) throw error
    if (!error.isReaderGone) noteIfPossible(error.message)
    return exitCode.failed
  }
}

async function runOrExplain(program: Program, rawArgs: string[]): Promise<number> {
  if (rawArgs[0] === '--version' || rawArgs[0] === '-v') {
    show(version)
    return exitCode.done
  }
  if (rawArgs.length === 0 || rawArgs.includes('--help') || rawArgs.includes('-h')) {
    show(await helpOf(program, rawArgs))
    return exitCode.done
  }
  try {
    await runCommand(program.main, { rawArgs })
    return exitCode.done
  } catch (error) {
    if (error instanceof OutputError) throw error
    const { text, code } = await program.explain(error)
    note(text)
    return code
  }
}
