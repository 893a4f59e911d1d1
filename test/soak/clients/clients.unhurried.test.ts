import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sharedServices, testApp } from '../../support/app.ts'
import { root } from '../../support/processes.ts'

/*
 * The HTTP clients that partners have without installing anything, each with its usual settings, against a real
 * process. Java, Go, PHP and Ruby are here because the receivers of the guide need their interpreters anyway, Python
 * and Perl because they are on every Debian. Left out are Tcl, Mono and Python's requests, which would need packages of
 * their own and brought nothing up that these do not.
 */
const service = await testApp()
const [{ url }] = sharedServices()
const programs = join(root, 'test/soak/clients/programs')
let built = ''

beforeAll(async () => {
  built = await mkdtemp(join(tmpdir(), 'partner-clients-'))
  const home = { ...process.env, HOME: built }
  await Bun.$`go build -o ${built}/partner main.go`.cwd(programs).env(home).quiet()
  await Bun.$`javac -encoding UTF-8 -d ${built} Partner.java`.cwd(programs).quiet()
})
afterAll(() => rm(built, { recursive: true, force: true }))

const clients: [name: string, command: () => string[]][] = [
  ["Python's urllib", () => ['python3', 'urllib.py']],
  ["Ruby's Net::HTTP", () => ['ruby', 'net_http.rb']],
  ["PHP's streams", () => ['php', 'streams.php']],
  ["PHP's curl", () => ['php', 'curl.php']],
  ["Perl's HTTP::Tiny", () => ['perl', 'tiny.pl']],
  ["Go's net/http", () => [join(built, 'partner')]],
  ["Java's HttpClient", () => ['java', '-cp', built, 'Partner', 'HttpClient']],
  ["Java's HttpURLConnection", () => ['java', '-cp', built, 'Partner', 'HttpURLConnection']],
]

test.each(clients)(
  '%s books once, changes a listing, waits, and understands 422 and 304',
  async (name, command) => {
    const { key } = await service.actor()
    const child = Bun.spawn(command(), {
      cwd: programs,
      env: {
        PATH: process.env.PATH ?? '',
        LANG: 'C.UTF-8',
        PARTNER_BASE_URL: url,
        PARTNER_API_KEY: key,
      },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    // The guide names this limit, and the client that has none.
    const cannotPatch = name === "Java's HttpURLConnection"
    expect({ stderr, lines: stdout.trim().split('\n') }).toEqual({
      stderr: '',
      lines: [
        'user\t201\tŁucja',
        'booking\t201\tnew',
        'repeat\t201\ttrue',
        'same\tTrue',
        cannotPatch ? 'patch\tInvalid HTTP method: PATCH' : 'patch\t200\tŁódź',
        'poll\t200\t0\theld',
        'invalid\t422\temail',
        'unchanged\t304',
      ],
    })
  },
)
