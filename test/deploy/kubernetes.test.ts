import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { BlockList } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as operator from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import * as apps from 'kubernetes-models/apps/v1'
import * as autoscaling from 'kubernetes-models/autoscaling/v2'
import * as batch from 'kubernetes-models/batch/v1'
import * as networking from 'kubernetes-models/networking.k8s.io/v1'
import * as policy from 'kubernetes-models/policy/v1'
import * as core from 'kubernetes-models/v1'
import { expect, onTestFinished, test } from 'vitest'
import { shutdownLimitMilliseconds } from '../../src/process/shutdown.ts'
import { testApp } from '../support/app.ts'
import { settingNames } from '../support/environment.ts'
import { root } from '../support/processes.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind, which the first test checks
type Manifest = any

const folder = join(root, 'deploy/kubernetes')
const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml'))
const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
const manifests: Manifest[] = texts.flatMap((text) => Bun.YAML.parse(text) as Manifest[])

/** The package that defines an API version's kinds, and the package's content, by API version. */
const packages: Record<string, [name: string, kinds: object]> = {
  v1: ['kubernetes-models/v1', core],
  'apps/v1': ['kubernetes-models/apps/v1', apps],
  'autoscaling/v2': ['kubernetes-models/autoscaling/v2', autoscaling],
  'batch/v1': ['kubernetes-models/batch/v1', batch],
  'networking.k8s.io/v1': ['kubernetes-models/networking.k8s.io/v1', networking],
  'policy/v1': ['kubernetes-models/policy/v1', policy],
  'monitoring.coreos.com/v1': ['@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1', operator],
}

/** Returns the only manifest of a kind, apart from those of the Ingress controller. */
function named(kind: string): Manifest {
  const found = manifests.filter(
    ({ kind: given, metadata }) => given === kind && metadata.namespace === undefined,
  )
  expect(found).toHaveLength(1)
  return found[0]
}
const [deployment, job, settings] = ['Deployment', 'Job', 'ConfigMap'].map(named)
const pods = [deployment, job].map(({ spec }) => spec.template)

/**
 * Compiles manifests as objects of the models' types; returns the compiler's errors. Unlike the models' own check, the
 * compiler refuses unknown fields.
 */
async function typeErrors(checked: Manifest[]): Promise<string[]> {
  const project = await mkdtemp(join(tmpdir(), 'partner-manifests-'))
  onTestFinished(() => rm(project, { recursive: true }))
  await symlink(join(root, 'node_modules'), join(project, 'node_modules'))
  const objects = checked.map((manifest) => {
    const [name] = packages[manifest.apiVersion] ?? []
    return `const _: import('${name}').I${manifest.kind} = ${JSON.stringify(manifest)}`
  })
  await Promise.all(objects.map((text, index) => Bun.write(join(project, `${index}.ts`), `export ${text}`)))
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'preserve', '--types', '']
  const compiler = join(root, 'node_modules/typescript-7/bin/tsc')
  const { stdout } = await Bun.$`${compiler} ${options} ${objects.map((_, index) => `${index}.ts`)}`
    .cwd(project)
    .quiet()
    .nothrow()
  return stdout.toString().split('\n').filter(Boolean)
}

test('every manifest is valid, and has no field that Kubernetes does not know', async () => {
  for (const manifest of manifests) {
    const [, kinds = {}] = packages[manifest.apiVersion] ?? []
    const Model = (kinds as Record<string, new (data: Manifest) => { validate(): void }>)[manifest.kind]
    expect(Model, `${manifest.apiVersion} ${manifest.kind}`).toBeDefined()
    if (Model) new Model(manifest).validate()
  }
  const misspelled = structuredClone(deployment)
  const [container] = misspelled.spec.template.spec.containers
  container.readinesProbe = container.readinessProbe
  const errors = await typeErrors([...manifests, misspelled])
  expect(errors).toEqual([
    expect.stringMatching(`^${manifests.length}\\.ts.*readinesProbe.* does not exist in type`),
  ])
})

test('the configuration reads every variable of the manifests, and secrets are files of the mounted Secret', () => {
  const read = settingNames()
  const given: Record<string, string> = settings.data
  expect(Object.keys(given).filter((name) => !read.has(name))).toEqual([])
  const monitor = named('ServiceMonitor').spec.endpoints[0]
  for (const { spec } of pods) {
    const [container] = spec.containers
    expect(container.env).toBeUndefined()
    expect(container.envFrom).toEqual([{ configMapRef: { name: settings.metadata.name } }])
    const { mountPath } = container.volumeMounts.find(({ name }: Manifest) => name === 'secrets')
    const paths = Object.entries(given).filter(([name]) => name.endsWith('_FILE'))
    for (const [name, path] of paths)
      expect(path).toBe(`${mountPath}/${name.replace('_FILE', '').toLowerCase()}`)
    const { secret } = spec.volumes.find(({ name }: Manifest) => name === 'secrets')
    expect(monitor.authorization.credentials).toEqual({ name: secret.secretName, key: 'metrics_token' })
  }
})

test('probes and scrapes use existing paths, and the Ingress has every route except those for the cluster', async () => {
  const service = await testApp({ METRICS_TOKEN: 'a token for this test' })
  const [container] = deployment.spec.template.spec.containers
  for (const probe of ['readinessProbe', 'livenessProbe', 'startupProbe'])
    expect((await service.send('GET', container[probe].httpGet.path)).status).toBe(200)
  const { path } = named('ServiceMonitor').spec.endpoints[0]
  const headers = { authorization: 'Bearer a token for this test' }
  expect((await service.send('GET', path, { headers })).status).toBe(200)

  const paths: Manifest[] = named('Ingress').spec.rules[0].http.paths
  const isReached = (route: string) =>
    paths.some(({ path, pathType }) =>
      pathType === 'Exact' ? route === path : `${route}/`.startsWith(`${path}/`),
    )
  // An Ingress sees repeated slashes as one.
  const routes = service.app.routes.map(({ path }) => path).filter((route) => route !== '//*')
  const closed = routes.filter((route) => !isReached(route))
  expect([...new Set(closed)].sort()).toEqual(['/healthz', '/metrics', '/readyz'])
  expect(isReached('/metrics/')).toBe(false)
})

test('the Ingress has the limits of the shipped nginx', async () => {
  const nginx = await readFile(join(root, 'deploy/nginx/nginx.conf'), 'utf8')
  const { annotations } = named('Ingress').metadata
  const limits = {
    'proxy-body-size': /client_max_body_size (\w+);/,
    'proxy-request-buffering': /proxy_request_buffering (\w+);/,
    'proxy-max-temp-file-size': /proxy_max_temp_file_size (\w+);/,
  }
  for (const [name, pattern] of Object.entries(limits)) {
    const shipped = pattern.exec(nginx)?.[1]
    expect({ name, value: annotations[`nginx.ingress.kubernetes.io/${name}`] }).toEqual({
      name,
      value: shipped,
    })
  }
})

test('the controller of the Ingress has the limits of the shipped nginx, and the Ingress none that counts held polls with other requests', async () => {
  const nginx = await readFile(join(root, 'deploy/nginx/nginx.conf'), 'utf8')
  const { data } = manifests.find(({ metadata }) => metadata.namespace === 'ingress-nginx')
  const unindented = (text: string) => text.replaceAll(/^ +/gm, '')
  const shipped = unindented(nginx)
  for (const snippet of ['http-snippet', 'server-snippet'])
    for (const paragraph of unindented(data[snippet]).split(/^(?=#|map|limit_conn_zone|location)/m))
      expect(shipped).toContain(paragraph.trim())
  const { annotations } = named('Ingress').metadata
  expect(Object.keys(annotations).filter((name) => name.includes('limit-'))).toEqual([])
})

test('objects find each other by their labels, names and ports', () => {
  const target = { kind: 'Deployment', name: deployment.metadata.name }
  expect(named('HorizontalPodAutoscaler').spec).toMatchObject({ scaleTargetRef: target, minReplicas: 3 })
  expect(deployment.spec.replicas).toBeUndefined()
  const service = named('Service')
  const [served, migrated] = pods.map(({ metadata }) => metadata.labels)
  const ofService = [
    deployment.spec.selector.matchLabels,
    named('PodDisruptionBudget').spec.selector.matchLabels,
    service.spec.selector,
  ]
  for (const selector of ofService) expect(selector).toEqual(served)
  // Otherwise the Service would send requests to a migration.
  expect(migrated).not.toMatchObject(service.spec.selector)
  for (const labels of [served, migrated])
    expect(labels).toMatchObject(named('NetworkPolicy').spec.podSelector.matchLabels)
  expect(service.metadata.labels).toMatchObject(named('ServiceMonitor').spec.selector.matchLabels)
  expect(service.spec.ports[0].targetPort).toBe(deployment.spec.template.spec.containers[0].ports[0].name)
  for (const { backend } of named('Ingress').spec.rules[0].http.paths)
    expect(backend.service).toEqual({
      name: service.metadata.name,
      port: { name: service.spec.ports[0].name },
    })
})

test('pods trust no whole private network as proxies, and reach no address that leads into one', () => {
  const trusted: string[] = settings.data.TRUSTED_PROXIES.split(',')
  expect(trusted.filter((network) => Number(network.split('/')[1]) < 16)).toEqual([])
  const blocks: Manifest[] = named('NetworkPolicy').spec.egress.flatMap(({ to = [] }: Manifest) => to)
  const closed = new BlockList()
  for (const network of blocks.flatMap(({ ipBlock }) => ipBlock.except as string[])) {
    const [address = '', bits] = network.split('/')
    closed.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4')
  }
  const inside = ['10.1.2.3', '100.64.0.1', '169.254.169.254', '168.63.129.16', '172.31.0.1', '192.168.1.1']
  const inside6 = ['fd00::1', 'fe80::1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::a01:203', '2002:a01:203::1']
  expect(inside.filter((address) => !closed.check(address))).toEqual([])
  expect(inside6.filter((address) => !closed.check(address, 'ipv6'))).toEqual([])
  expect(closed.check('203.0.113.7')).toBe(false)
  expect(closed.check('2606:4700::1', 'ipv6')).toBe(false)
})

test('pods run without privileges and have enough time to shut down', () => {
  for (const { spec } of pods) {
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
    expect(spec.containers[0].securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      privileged: false,
      capabilities: { drop: ['ALL'] },
    })
  }
  const { spec } = deployment.spec.template
  const [, seconds] = spec.containers[0].lifecycle.preStop.exec.command
  const needed = Number(seconds) + shutdownLimitMilliseconds / 1000
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(needed)
})
