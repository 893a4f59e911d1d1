import { type JSX, render } from 'preact'
import { useCallback, useLayoutEffect, useState } from 'preact/hooks'
import type { KeyView } from '../../../access/keys/schema.ts'
import type { RequestCount } from '../../../access/requests/schema.ts'
import type { CertificationView } from '../../../certification/schema.ts'
import { Api, type ApiError, type Environment } from './api.ts'
import { Calendars } from './calendars.tsx'
import { CertificationPanel, isRunning, useCertification } from './certification.tsx'
import { Changes } from './changes.tsx'
import { Consumers } from './consumers.tsx'
import { Digest } from './digest.tsx'
import { HealthPanel } from './health-panel.tsx'
import { type Loaded, type LoadOptions, useLoaded } from './hooks.ts'
import { type Entered, KeyForm } from './key-form.tsx'
import { KeyPanel } from './key-panel.tsx'
import { DocsLink, EmptyState, Loading, Panel, Switch } from './parts.tsx'
import { RequestPanel } from './request-list.tsx'
import { SandboxPanel } from './sandbox-panel.tsx'
import { TrafficPanel } from './traffic-panel.tsx'
import { Webhooks } from './webhooks.tsx'

/** Session storage entry for the key. The browser deletes it when the tab is closed. */
const keptKey = 'partner-console-key'

function App() {
  const [opened, setOpened] = useState<Opened | null>(() => {
    const key = sessionStorage.getItem(keptKey)
    return key === null ? null : { api: new Api(key), view: null }
  })
  const [refused, setRefused] = useState<ApiError | null>(null)
  const enter = ({ key, api, view }: Entered) => {
    sessionStorage.setItem(keptKey, key)
    setRefused(null)
    setOpened({ api, view })
  }
  const forget = () => {
    sessionStorage.removeItem(keptKey)
    setOpened(null)
  }
  useLayoutEffect(() => {
    if (opened === null) return
    // The first 401 takes every panel away, so nothing on the page says that all is well (decisions §18).
    opened.api.onRefused = (error) => {
      forget()
      setRefused(error)
    }
  }, [opened])
  if (opened === null) return <KeyForm enter={enter} refused={refused} />
  return <Console {...opened} forget={forget} />
}

/** The key in use, and its record (null if it is not known yet). */
interface Opened {
  api: Api
  view: KeyView | null
}

function Console({ api, view, forget }: Opened & { forget: () => void }) {
  const [environment, setEnvironment] = useState<Environment>('live')
  const key = useLoaded(useData<KeyView>(api, '/key'), view)
  const counts = useLoaded(useData<RequestCount[]>(api, '/requests/counts'))
  const connection = { api, environment }
  const isSandbox = environment === 'sandbox'
  const certification = useCertification(api, isSandbox)
  return (
    <>
      <header class="top">
        <h1>Partner console</h1>
        <Switch
          name="environment"
          legend="Environment"
          choices={environments}
          chosen={environment}
          choose={setEnvironment}
        />
        <DocsLink>Documentation</DocsLink>
        <button type="button" onClick={forget}>
          Forget the key
        </button>
      </header>
      <main class="columns">
        <div class="first">
          <HealthPanel key={environment} {...connection} />
        </div>
        <div>
          <KeyPanel loaded={key} retry={key.reload} />
          <RequestPanel {...connection} />
        </div>
        <div>
          <TrafficPanel
            loaded={counts}
            now={api.now()}
            limit={key.data?.rate_limit.limit}
            retry={counts.reload}
          />
          {isSandbox && <CertificationPanel loaded={certification} />}
          {isSandbox && <SandboxPanel api={api} />}
          <Panel id="consumers" title="Consumers">
            {ifReadable(key, 'bookings', <Consumers key={environment} {...connection} />)}
          </Panel>
          <Panel id="webhooks" title="Webhooks">
            {ifReadable(key, 'bookings', <Webhooks key={environment} {...connection} />)}
          </Panel>
          <Panel id="calendars" title="Calendars" note="Nights that were sold elsewhere.">
            {ifReadable(
              key,
              'listings',
              <Calendars
                key={environment}
                mayRead={key.data?.permissions.includes('listings.write') ?? false}
                {...connection}
              />,
            )}
          </Panel>
          <Panel id="changes" title="Latest changes" note="New changes appear automatically.">
            {unlessCertifying(
              isSandbox ? certification : null,
              ifReadable(
                key,
                'bookings',
                <>
                  <Digest key={`digest of ${environment}`} {...connection} />
                  <Changes key={environment} {...connection} />
                </>,
              ),
            )}
          </Panel>
        </div>
      </main>
    </>
  )
}

/** Returns a function that loads one of the key's resources. */
function useData<T>(api: Api, path: string) {
  return useCallback(async (turn: LoadOptions) => (await api.get<T>(path, turn)).data, [api, path])
}

/**
 * Returns `content`, or what to show in its place while a certification runs or it is not known yet whether one does.
 *
 * @param certification null on live data, which has no certifications
 */
function unlessCertifying(
  certification: Loaded<CertificationView[]> | null,
  content: JSX.Element,
): JSX.Element {
  if (certification === null) return content
  if (isRunning(certification.data))
    return (
      <EmptyState>
        While a certification runs, the page does not read the feed, because the reads would be graded. The
        changes appear again when it has ended.
      </EmptyState>
    )
  if (certification.data === null && certification.error === null) return <Loading />
  return content
}

/** Returns `content` if the key may read these resources, otherwise a message that explains why it is not shown. */
function ifReadable(
  { data: key, error }: Loaded<KeyView>,
  resources: 'bookings' | 'listings',
  content: JSX.Element,
): JSX.Element {
  if (key === null && error)
    return (
      <EmptyState>Nothing can be shown until the key can be read. Choose “Try again” below “Key”.</EmptyState>
    )
  if (key === null) return <Loading />
  if (key.permissions.includes(`${resources}.read`)) return content
  return (
    <EmptyState>
      This key may not read {resources}: it lacks the permission {resources}.read. Ask an administrator to{' '}
      <DocsLink to="/guide/keys#permissions">add it</DocsLink>.
    </EmptyState>
  )
}

const environments = { live: { name: 'Live' }, sandbox: { name: 'Sandbox' } }

render(<App />, document.getElementById('console') as HTMLElement)
