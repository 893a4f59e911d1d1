import { print, table } from './output.ts'

/** One thing that a command looked at. */
export interface Finding {
  check: string
  state: 'ok' | 'warning' | 'failed'
  detail: string
}

/** Shows what was found; ends the command in failure, with `verdict`, where something failed. */
export function showFindings(
  args: { json?: boolean | undefined },
  findings: Finding[],
  verdict: (failed: string[]) => string,
): void {
  print(args, findings, () =>
    table(
      ['CHECK', 'STATE', 'DETAIL'],
      findings.map(({ check, state, detail }) => [check, state, detail]),
    ),
  )
  const failed = findings.filter(({ state }) => state === 'failed').map(({ check }) => check)
  if (failed.length > 0) throw new Error(verdict(failed))
}
