import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { claimFile } from '../../../cli/partner/file-claim.ts'

/** Claims a file again and again, and reports each time at which another process held it too. */
const [file = ''] = process.argv.slice(2)
const holder = `${file}.holder`
for (;;) {
  const claim = await claimFile(file, 60_000)
  const other = readHolder()
  if (other !== undefined && isRunning(other)) appendFileSync(`${file}.overlaps`, `${process.pid} ${other}\n`)
  writeFileSync(holder, String(process.pid))
  appendFileSync(`${file}.turns`, `${process.pid}\n`)
  await setTimeout(Math.random() * 4)
  if (readHolder() !== process.pid) appendFileSync(`${file}.overlaps`, `${process.pid}\n`)
  rmSync(holder, { force: true })
  await claim.release()
  await setTimeout(Math.random() * 10)
}

function readHolder(): number | undefined {
  try {
    return Number(readFileSync(holder, 'utf8'))
  } catch {
    return undefined
  }
}

/** True unless the process has ended, whether or not its parent has noticed. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
