import type { Finding } from '../src/process/inspection.ts'
import { exitCode as failure } from './errors.ts'
import { print, table } from './output.ts'

/** A command's {@link Finding}, with the exit code for a failure if it is not 1. */
export type CommandFinding = Finding & { code?: number }

/** Error thrown when one of a command's checks has failed. */
export class ChecksFailedError extends Error {
  override readonly name = 'ChecksFailedError'
  constructor(
    message: string,
    readonly exitCode: number = failure.failed,
  ) {
    super(message)
  }
}

/** Shows findings, and makes the command fail with `verdict` if any check has failed. */
export function showFindings(
  args: { json?: boolean | undefined },
  findings: CommandFinding[],
  verdict: (failed: string[]) => string,
): void {
  const shown = findings.map(({ check, state, detail }) => ({ check, state, detail }))
  print(args, shown, () =>
    table(
      ['CHECK', 'STATE', 'DETAIL'],
      findings.map(({ check, state, detail }) => [check, state, detail]),
    ),
  )
  const failed = findings.filter(({ state }) => state === 'failed')
  if (failed.length === 0) return
  throw new ChecksFailedError(
    verdict(failed.map(({ check }) => check)),
    failed.find(({ code }) => code)?.code,
  )
}
