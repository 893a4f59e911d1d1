import { useLayoutEffect, useState } from 'preact/hooks'
import type { CertificationView } from '../../../certification/schema.ts'
import { type Api, toApiError } from './api.ts'
import { showAge, showCount } from './format.ts'
import { sleep } from './gate.ts'
import { type Loaded, useVisible } from './hooks.ts'
import { DocsLink, EmptyState, LoadedContent, Marked, Panel } from './parts.tsx'

/**
 * Polling interval while a certification is running, long enough that all background requests together stay within the
 * page's request limit.
 */
const whileRunningMilliseconds = 15_000
const otherwiseMilliseconds = 300_000

/**
 * Polls the key's certifications, newest first. The data is null until the first response.
 *
 * @param isEnabled false for live data, which has no certifications
 */
export function useCertification(api: Api, isEnabled: boolean): Loaded<CertificationView[]> {
  const isVisible = useVisible()
  const [loaded, setLoaded] = useState<Loaded<CertificationView[]>>({ data: null, error: null })
  // Before the panels' own effects, so that its request is the first: until its response, no panel reads the feed.
  useLayoutEffect(() => {
    if (!isVisible || !isEnabled) return
    const controller = new AbortController()
    follow(api, controller.signal, setLoaded).catch(() => {})
    return () => controller.abort()
  }, [api, isVisible, isEnabled])
  return loaded
}

async function follow(
  api: Api,
  signal: AbortSignal,
  report: (loaded: Loaded<CertificationView[]>) => void,
): Promise<void> {
  let isBackground = false
  let data: CertificationView[] | null = null
  while (true) {
    let error = null
    try {
      const options = { environment: 'sandbox', isBackground, signal } as const
      const response = await api.get<CertificationView[]>('/certifications', options)
      data = response.data
    } catch (failure) {
      signal.throwIfAborted()
      error = toApiError(failure)
    }
    isBackground = true
    report({ data, error })
    await sleep(isRunning(data) ? whileRunningMilliseconds : otherwiseMilliseconds, signal)
  }
}

/**
 * Returns true while a certification is running. Meanwhile, the page must not read the sandbox's feed, because the
 * certification would grade the page's requests.
 */
export function isRunning(certifications: CertificationView[] | null): boolean {
  return certifications?.[0]?.status === 'running'
}

const guide = '/guide/certification'

/** Shows the newest certification and its cases as they are decided. */
export function CertificationPanel({ loaded }: { loaded: Loaded<CertificationView[]> }) {
  return (
    <Panel id="certification" title="Certification" note="Cases appear as they are decided.">
      <LoadedContent loaded={loaded}>
        {([newest]) =>
          newest ? (
            <Newest {...newest} />
          ) : (
            <EmptyState>
              None yet. When your product works in the sandbox, <DocsLink to={guide}>certify it</DocsLink>.
            </EmptyState>
          )
        }
      </LoadedContent>
    </Panel>
  )
}

function Newest({ id, status, profiles, next, progress, cases }: CertificationView) {
  return (
    <div aria-live="polite">
      <p>
        Certification {id} ({profiles.join(', ')}): <span class={`badge ${status}`}>{status}</span>
      </p>
      {next && (
        <p class="note">
          Next: <code>{next.action}</code>. <Marked text={next.text} />.
        </p>
      )}
      {progress && <p class="note">{describeProgress(progress)}</p>}
      <ul class="cases">
        {cases.map((one) => (
          <li key={one.name}>
            <span class={`badge ${one.status}`}>{one.status}</span> <code>{one.name}</code>{' '}
            <Marked text={one.rule} />
            {one.because && (
              <p class="problem">
                <Marked text={one.because} />
              </p>
            )}
            {one.request_ids.length > 0 && (
              <p class="quiet">
                Requests: <code>{one.request_ids.join(', ')}</code>
              </p>
            )}
          </li>
        ))}
      </ul>
      <DocsLink to={guide}>What each case asks for</DocsLink>
    </div>
  )
}

const feed = 'GET /sandbox/integrations/:provider/bookings'

/**
 * Describes the last request and the missing bookings, for example "Reading continued 3 seconds ago; waiting for …".
 */
function describeProgress(progress: NonNullable<CertificationView['progress']>): string {
  const { last_request_at: at, last_operation, missing_count: count, missing_booking_ids: ids } = progress
  const last = last_operation === feed ? 'Reading continued' : `${last_operation} was seen`
  const seen = at === null ? 'Nothing has been seen yet' : `${last} ${showAge(at)}`
  if (count === 0) return `${seen}.`
  const more = count > ids.length ? ` and ${showCount(count - ids.length)} more` : ''
  return `${seen}; waiting for booking${count > 1 ? 's' : ''} ${ids.join(', ')}${more}.`
}
