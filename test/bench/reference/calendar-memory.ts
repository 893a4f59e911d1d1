import { readCalendarFile } from '../../../src/inventory/calendars/file/read.ts'

/** Prints by how many MiB a process that does nothing else grows at most while it reads a file four times at once. */
const bytes = await Bun.file(process.argv[2] ?? '').bytes()
Bun.gc(true)
const before = process.memoryUsage.rss()
let most = before
const timer = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss())
}, 2)
const read = () => readCalendarFile([bytes], { today: '2026-12-01', country: 'DE' })
for (let round = 0; round < 5; round += 1) await Promise.all([read(), read(), read(), read()])
clearInterval(timer)
console.log((most - before) / 1024 / 1024)
