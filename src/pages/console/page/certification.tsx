import { useEffect, useState } from 'preact/hooks'
import type { CertificationView } from '../../../certification/schema.ts'
import { type Api, toApiError } from './api.ts'
import { sleep } from './gate.ts'
import { type Loaded, useVisible } from './hooks.ts'
import { DocsLink, Panel, Shown } from './parts.tsx'

/** With what else the page asks for by itself, no more than it may. */
const whileRunningMilliseconds = 15_000
const otherwiseMilliseconds = 300_000

/**
 * The newest certification of the key, again and again; null where there is none. Not asked for on live data, where there
 * are none.
 */
export function useCertification(api: Api, isAsked: boolean): Loaded<CertificationView[]> {
  const isVisible = useVisible()
  const [loaded, setLoaded] = useState<Loaded<CertificationView[]>>({ data: null, error: null })
  useEffect(() => {
    if (!isVisible || !isAsked) return
    const controller = new AbortController()
    follow(api, controller.signal, setLoaded).catch(() => {})
    return () => controller.abort()
  }, [api, isVisible, isAsked])
  return loaded
}

async function follow(
  api: Api,
  signal: AbortSignal,
  report: (loaded: Loaded<CertificationView[]>) => void,
): Promise<void> {
  for (let isBackground = false, data: CertificationView[] | null = null; ; isBackground = true) {
    let error = null
    try {
      data = (
        await api.get<CertificationView[]>('/certifications', {
          environment: 'sandbox',
          isBackground,
          signal,
        })
      ).data
    } catch (failure) {
      signal.throwIfAborted()
      error = toApiError(failure)
    }
    report({ data, error })
    await sleep(isRunning(data) ? whileRunningMilliseconds : otherwiseMilliseconds, signal)
  }
}

/** True while one plays in the sandbox: its feed is not read meanwhile, which would be graded. */
export function isRunning(certifications: CertificationView[] | null): boolean {
  return certifications?.[0]?.status === 'running'
}

const guide = '/docs#description/certification'

/** The newest certification, with its cases as they are decided. */
export function CertificationPanel({ loaded }: { loaded: Loaded<CertificationView[]> }) {
  return (
    <Panel id="certification" title="Certification" note="Cases appear as they are decided.">
      <Shown loaded={loaded}>
        {([newest]) =>
          newest ? (
            <Newest {...newest} />
          ) : (
            <p class="quiet">
              None yet. <DocsLink to={guide}>How to certify your product</DocsLink>
            </p>
          )
        }
      </Shown>
    </Panel>
  )
}

function Newest({ id, status, profiles, next, cases }: CertificationView) {
  return (
    <div aria-live="polite">
      <p>
        Certification {id} ({profiles.join(', ')}): <span class={`badge ${status}`}>{status}</span>
      </p>
      {next && (
        <p class="note">
          Next: {next.action}. {next.text}.
        </p>
      )}
      <ul class="cases">
        {cases.map((one) => (
          <li key={one.name}>
            <span class={`badge ${one.status}`}>{one.status}</span> <code>{one.name}</code> {one.rule}
            {one.because && <p class="problem">{one.because}</p>}
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
