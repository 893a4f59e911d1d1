import { exitCode as failure } from './errors.ts'
import { print, table } from './output.ts'

/** One thing that a command looked at. */
export interface Finding {
  check: string
  state: 'ok' | 'warning' | 'failed'
  detail: string
  /** Exit code of a failure, where it is not 1. */
  code?: number
}

/** A command that looked and found something failing. */
export class Verdict extends Error {
  override readonly name = 'Verdict'
  constructor(
    message: string,
    readonly exitCode: number = failure.failed,
  ) {
    super(message)
  }
}

/** Shows what was found; ends the command in failure, with `verdict`, where something failed. */
export function showFindings(
  args: { json?: boolean | undefined },
  findings: Finding[],
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
  throw new Verdict(verdict(failed.map(({ check }) => check)), failed.find(({ code }) => code)?.code)
}
