import { type FileAnswer, fetchFile } from '../../../src/platform/outgoing/file.ts'

/**
 * Fetches a file four times at once, again and again, and reads its content up to 8 MiB; prints the outcomes, and the most memory above that after small
 * files, in the first round and in all.
 */
const [url = '', repetitions = '1'] = process.argv.slice(2)

const fetchOnce = (address = url): Promise<FileAnswer> =>
  fetchFile({
    url: new URL(address),
    headers: {},
    allowsPrivate: true,
    maxBytes: 2 * 1024 * 1024,
    timeoutMilliseconds: 20_000,
    maxRedirects: 3,
  })

async function outcomeOf(answer: FileAnswer): Promise<string> {
  if (answer.kind === 'failed') return answer.error
  let bytes = 0
  for await (const piece of answer.content.pieces()) {
    bytes += piece.length
    if (bytes > 8 * 1024 * 1024) return 'too_large'
  }
  return `${answer.status} ${bytes}`
}

for (let count = 0; count < 20; count += 1) await fetchOnce(new URL('/small', url).href)
Bun.gc(true)
const before = process.memoryUsage.rss()
let most = before
const timer = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss())
}, 2)
const megabytes = () => Math.round((most - before) / 1024 / 1024)
const outcomes = new Set<string>()

async function fetchFour(): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 4 }, () => fetchOnce()))
  for (const outcome of await Promise.all(answers.map(outcomeOf))) outcomes.add(outcome)
}

await fetchFour()
const first = megabytes()
for (let count = 1; count < Number(repetitions); count += 1) await fetchFour()
clearInterval(timer)
console.log(JSON.stringify({ outcomes: [...outcomes], first, all: megabytes() }))
process.exit(0)
