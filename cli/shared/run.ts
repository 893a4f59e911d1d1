import { runCommand } from 'citty'
import packageJson from '../../package.json' with { type: 'json' }
import { exitCode } from './errors.ts'
import { note, noteIfPossible, show } from './output.ts'
import { helpOf, main } from '../program.ts'
import { OutputError } from './streams.ts'

/**
 * Runs the command that the arguments name. Prints the command's error, if it fails, and returns its exit code. Output
 * that cannot be written is a failure of any command.
 */
export async function run(rawArgs: string[]): Promise<number> {
  try {
    return await runOrExplain(rawArgs)
  } catch (error) {
    if (!(error instanceof OutputError)) throw error
    if (!error.isReaderGone) noteIfPossible(error.message)
    return exitCode.failed
  }
}

async function runOrExplain(rawArgs: string[]): Promise<number> {
  if (rawArgs[0] === '--version' || rawArgs[0] === '-v') {
    show(packageJson.version)
    return exitCode.done
  }
  if (rawArgs.length === 0 || rawArgs.includes('--help') || rawArgs.includes('-h')) {
    show(await helpOf(rawArgs))
    return exitCode.done
  }
  try {
    await runCommand(main, { rawArgs })
    return exitCode.done
  } catch (error) {
    if (error instanceof OutputError) throw error
    // Loaded only after an error, because the module imports the service's error classes.
    const { formatError } = await import('./format-error.ts')
    const { text, code } = formatError(error)
    note(text)
    return code
  }
}
