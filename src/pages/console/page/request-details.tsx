import type { RequestView } from '../../../access/requests/schema.ts'
import { showAge, showTime } from './format.ts'
import { DocsLink, Marked } from './parts.tsx'

/** Scrolls expanded details into view. Otherwise, details that open below the bottom of the window would look empty. */
function showWhole({ currentTarget }: Event): void {
  const details = currentTarget as HTMLDetailsElement
  if (details.open) details.scrollIntoView({ block: 'nearest' })
}

/** Shows a request that expands to a description of its errors. */
export function RequestDetails({ row, isOpen = false }: { row: RequestView; isOpen?: boolean }) {
  const { error } = row
  const isAnswered = row.status !== 0
  const isGood = isAnswered && row.status < 400
  return (
    <details class="request" open={isOpen} onToggle={showWhole}>
      <summary>
        <span class={`badge ${isGood ? 'good' : 'bad'}`}>{isAnswered ? row.status : 'unanswered'}</span>
        <code>
          {row.method} {row.path}
        </code>
        <time dateTime={row.at} title={showTime(row.at)}>
          {showAge(row.at)}
        </time>
      </summary>
      <div class="errors">
        {error && (
          <p class="message">
            <Marked text={error.message} />
          </p>
        )}
        {!error && (
          <p>{isAnswered ? 'The request succeeded.' : 'A fault of the sandbox lost the request.'}</p>
        )}
        {error && error.errors.length > 0 && (
          <ul>
            {error.errors.map((problem) => (
              <li key={problem.path}>
                {problem.path === 'retry_after' ? (
                  `Try again after ${problem.message} s`
                ) : (
                  <>
                    <code>{problem.path}</code> <Marked text={problem.message} />
                  </>
                )}
              </li>
            ))}
          </ul>
        )}
        {error && (
          <p>
            <DocsLink to={guideFor(error.type)}>What “{error.type}” means, and when to try again</DocsLink>
          </p>
        )}
        <dl class="facts small">
          <dt>Request id</dt>
          <dd>
            <code>{row.request_id ?? 'none'}</code>
          </dd>
          <dt>Time</dt>
          <dd>
            {showTime(row.at)}, took {row.duration_ms} ms{row.replayed && ', replay of an earlier response'}
          </dd>
          <dt>From</dt>
          <dd>
            {row.address}
            {row.sandbox && ', to the sandbox'}
          </dd>
          {row.fault && (
            <>
              <dt>Fault</dt>
              <dd>
                <code>{row.fault}</code>, played by the sandbox
              </dd>
            </>
          )}
        </dl>
      </div>
    </details>
  )
}

/** Returns the address of the guide's section on an error type. */
export function guideFor(type: string): string {
  return `/guide/errors#${type}`
}
