import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testApp } from '../support/app.ts'
import { root } from '../support/processes.ts'
import { prometheusFolder, readPanels, readRules } from '../support/prometheus.ts'

const METRICS_TOKEN = 'a-token-of-the-operator'
const rules = await readRules()
const alerts = rules.filter(({ alert }) => alert !== undefined)

async function promtool(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await Bun.$`promtool ${args}`.quiet().nothrow()
  return exitCode === 0 ? 'passed' : `${stdout}${stderr}`
}

test('promtool accepts the configuration beside a token, and the rules', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-prometheus-'))
  await cp(prometheusFolder, folder, { recursive: true })
  await writeFile(join(folder, 'metrics-token'), METRICS_TOKEN)
  expect(await promtool('check', 'config', '--lint-fatal', join(folder, 'prometheus.yaml'))).toBe('passed')
  expect(await promtool('check', 'rules', '--lint-fatal', join(folder, 'alerts.yaml'))).toBe('passed')
})

test('alerts.test.yaml passes, and knows every alert', async () => {
  const file = join(prometheusFolder, 'alerts.test.yaml')
  expect(await promtool('test', 'rules', file)).toBe('passed')
  const text = await readFile(file, 'utf8')
  for (const { alert } of alerts) expect(text).toContain(`alertname="${alert}"`)
})

test('every alert leads to its section of the runbooks, which says what it means, how to see it, what to do and when it is over', async () => {
  const [, ...sections] = (await readFile(join(root, 'docs/runbooks.md'), 'utf8')).split('\n## ')
  const byAnchor = new Map(sections.map((text) => [text.split('\n')[0]?.toLowerCase(), text]))
  expect([...byAnchor.keys()].sort()).toEqual(alerts.map(({ alert }) => alert?.toLowerCase()).sort())
  for (const { alert, labels, annotations } of alerts) {
    expect(annotations?.runbook_url).toBe(`docs/runbooks.md#${alert?.toLowerCase()}`)
    expect(annotations?.summary).toMatch(/\w/)
    const section = byAnchor.get(alert?.toLowerCase())
    expect(section).toContain(`\n\n\`${labels?.severity}\`. **It means** `)
    for (const part of ['**See it', '**Over** ']) expect(section).toContain(part)
    expect(section).toMatch(/\*\*(Do\.|See it\*\* and \*\*do)/)
  }
})

/** Metrics missing from `/metrics`: Prometheus's own, and one that exists only if the service terminates TLS. */
const others = new Set(['up', 'tls_certificate_expiry_timestamp_seconds'])

/** Returns the names of the metrics in an expression. All names except `up` and `calendars` contain an underscore. */
function metricsIn(expr: string): string[] {
  const bare = expr.replaceAll(/\{[^}]*\}|\[[^\]]*\]|\b(by|without)\s*\([^)]*\)/g, ' ')
  const words = bare.match(/\b(up|calendars|[a-z]\w*[_:][\w:]*)\b(?!\s*\()/g) ?? []
  return words.map((name) => name.replace(/_seconds_(bucket|count|sum)$/, '_seconds'))
}

test('every metric of the rules and of the dashboard is one that the service exposes', async () => {
  const service = await testApp({ METRICS_TOKEN })
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const { text } = await service.send('GET', '/metrics', { headers })
  const exposed = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  const known = new Set([...exposed, ...rules.map(({ record }) => record), ...others])
  const panels = await readPanels()
  for (const { expr } of [...rules, ...panels.flatMap(({ targets }) => targets)]) {
    const names = metricsIn(expr)
    expect(names.length).toBeGreaterThan(0)
    for (const name of names) expect([...known]).toContain(name)
  }
})

test('the table of the metrics in the documentation names metrics that exist', async () => {
  const service = await testApp({ METRICS_TOKEN })
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const { text } = await service.send('GET', '/metrics', { headers })
  const operations = await readFile(join(root, 'docs/operations.md'), 'utf8')
  const tables = operations.split('### Webhooks\n')[1]?.split('### Logs\n')[0] ?? ''
  const named = [...tables.matchAll(/^\| (`[a-z_]+(?:\{[a-z,]+\})?`[^|]*)\|/gm)]
    .flatMap(([, cell = '']) => [...cell.matchAll(/`([a-z]+_[a-z_]+)(?:\{[a-z,]+\})?`/g)])
    .map(([, name]) => name)
  expect(named.length).toBeGreaterThan(15)
  const types = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  for (const name of named) expect(types).toContain(name)
})
