import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/processes.ts'

const read = (name: string) => readFile(join(root, name), 'utf8')

/** Each way in which a shipped file or a document names a file with settings or a secret. */
const mentions = [
  /Copy to (\.env) /g,
  /--from-file=(\w+)/g,
  /^LoadCredential=(\w+):/gm,
  /> \/etc\/partner-api\/(secret_key)/g,
  /_FILE: \/run\/secrets\/partner-api\/(\w+)/g,
  /> (metrics-token)$/gm,
  /[\w-]+_file: (metrics-token)/g,
  /[= /]([\w-]+\.(?:pem|crt|key))\b/g,
]
const sources = [
  '.env.example',
  'README.md',
  'deploy/README.md',
  'docs/operations.md',
  'deploy/systemd/partner-api@.service',
  'deploy/kubernetes/settings.yaml',
  'deploy/nginx/nginx.conf',
  'deploy/prometheus/prometheus.yaml',
]
const text = (await Promise.all(sources.map(read))).join('\n')
const names = [
  ...new Set(mentions.flatMap((mention) => [...text.matchAll(mention)].map(([, name]) => name as string))),
].sort()
const folders = ['', 'deploy/', 'deploy/kubernetes/', 'deploy/prometheus/', 'deploy/nginx/']
const paths = folders.flatMap((folder) => [...names, '.env.production'].map((name) => folder + name))

test('the documents name the files with settings and secrets that this test looks for', () => {
  expect(names).toEqual([
    '.env',
    'certificate.pem',
    'key.pem',
    'metrics-token',
    'metrics_token',
    'mongodb_password',
    'redis_password',
    'secret_key',
    'tls.crt',
    'tls.key',
  ])
})

test('git ignores every file with settings or a secret that the documents tell people to create', async () => {
  const { stdout } = await Bun.$`git check-ignore ${paths}`.cwd(root).quiet().nothrow()
  const ignored = stdout.toString().trim().split('\n')
  expect(paths.filter((path) => !ignored.includes(path))).toEqual([])
  const example = await Bun.$`git check-ignore .env.example`.cwd(root).quiet().nothrow()
  expect(example.exitCode).toBe(1)
})

test('the build of the image gets no file with settings or a secret that the documents tell people to create', async () => {
  const patterns = (await read('.dockerignore')).split('\n').filter((line) => line && !line.startsWith('#'))
  const globs = patterns.map((pattern) => new Bun.Glob(pattern))
  expect(paths.filter((path) => !globs.some((glob) => glob.match(path)))).toEqual([])
})
