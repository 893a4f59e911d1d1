import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/platform/process.ts'
import { root } from './processes.ts'

/** A rule of `deploy/prometheus/alerts.yaml`. */
export interface Rule {
  alert?: string
  record?: string
  expr: string
  labels?: { severity: string }
  annotations?: { summary: string; runbook_url: string }
}

export const prometheusFolder = join(root, 'deploy/prometheus')

/** Returns the shipped rules. */
export async function readRules(): Promise<Rule[]> {
  const text = await readFile(join(prometheusFolder, 'alerts.yaml'), 'utf8')
  const { groups } = Bun.YAML.parse(text) as { groups: { rules: Rule[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

/** A panel of the shipped dashboard. */
export interface Panel {
  title: string
  targets?: { expr: string; legendFormat: string }[]
}

/** Returns the shipped dashboard's panels that have queries. */
export async function readPanels(): Promise<Required<Panel>[]> {
  const { panels } = JSON.parse(await readFile(join(root, 'deploy/grafana/dashboard.json'), 'utf8'))
  return (panels as Panel[]).filter((panel): panel is Required<Panel> => panel.targets !== undefined)
}

/** A running Prometheus with the shipped configuration and alerts. */
export interface Prometheus {
  /** Returns the names of the firing alerts. */
  firing(): Promise<string[]>
  /** Returns the number of series in the query's result whose value is a number. */
  count(query: string): Promise<number>
  /** Scrapes these services from now on, without a restart; the series of all others end. */
  setTargets(services: string[]): Promise<void>
  stop(): Promise<void>
}

const milliseconds = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Divides a shipped file's intervals, ranges and `for` durations by `factor`; thresholds stay unchanged. */
function shorten(text: string, factor: number): string {
  const places = /(?<=_interval: |_timeout: |for: |\[)(\d+)([smhd])(?=\s|\])/g
  return text.replaceAll(
    places,
    (_, count, unit: keyof typeof milliseconds) => `${(Number(count) * milliseconds[unit]) / factor}ms`,
  )
}

/**
 * Starts a Prometheus that scrapes one service.
 *
 * @param factor divisor of all of its times
 */
export async function startPrometheus(service: string, token: string, factor: number): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-prometheus-'))
  const writeShipped = async (file: string, services: string[]) => {
    const shipped = await readFile(join(prometheusFolder, file), 'utf8')
    const targets = services.map((url) => new URL(url).host).join(', ')
    const text = shorten(shipped, factor).replace('localhost:3001, localhost:3002', targets)
    await writeFile(join(folder, file), text)
  }
  await writeShipped('prometheus.yaml', [service])
  await writeShipped('alerts.yaml', [])
  await writeFile(join(folder, 'metrics-token'), token)
  const address = `127.0.0.1:${await freePort()}`
  const config = join(folder, 'prometheus.yaml')
  const data = join(folder, 'data')
  const options = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${data}`,
    `--web.listen-address=${address}`,
  ]
  const child = Bun.spawn(['prometheus', ...options, '--log.level=error'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const ask = async (path: string): Promise<any> => (await fetch(`http://${address}/api/v1/${path}`)).json()
  const isReady = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error('Prometheus did not start')
    await Bun.sleep(50)
  }
  return {
    async firing() {
      const { alerts } = (await ask('alerts')).data as {
        alerts: { state: string; labels: { alertname: string } }[]
      }
      const names = alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname)
      return [...new Set(names)].sort()
    },
    async count(query) {
      const { data, error } = await ask(`query?query=${encodeURIComponent(query)}`)
      if (error) throw new Error(`${query}: ${error}`)
      return data.result.filter(({ value }: { value: [number, string] }) => value[1] !== 'NaN').length
    },
    async setTargets(services) {
      await writeShipped('prometheus.yaml', services)
      child.kill('SIGHUP')
    },
    async stop() {
      child.kill('SIGKILL')
      await child.exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
