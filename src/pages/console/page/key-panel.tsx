import type { KeyView } from '../../../access/keys/schema.ts'
import { showAge, showCount, showTime } from './format.ts'
import type { Loaded } from './hooks.ts'
import { LoadedContent, Panel } from './parts.tsx'

/** Shows the key's host, its permissions and what remains of its rate limit. */
export function KeyPanel({ loaded, retry }: { loaded: Loaded<KeyView>; retry: () => void }) {
  return (
    <Panel id="key" title="Key">
      <LoadedContent loaded={loaded} retry={retry}>
        {(key) => <KeyFacts {...key} />}
      </LoadedContent>
      <InATerminal />
    </Panel>
  )
}

/** The service's address as partners must write it, because npm refuses packages of another origin. */
function publicUrl(): string {
  return document.querySelector<HTMLElement>('[data-public-url]')?.dataset.publicUrl ?? location.origin
}

/** Says how to get the command line and the client. */
function InATerminal() {
  return (
    <details>
      <summary>In a terminal and in your code</summary>
      <p>
        One line in <code>.npmrc</code> leads npm to this service, which serves the command line and the
        client:
      </p>
      <pre>{`@partner-interface:registry=${publicUrl()}/npm/`}</pre>
      <p>
        Then <code>npx -y @partner-interface/partnerctl login</code> asks for the key, and{' '}
        <code>npm install @partner-interface/client</code> installs the client. The guide has{' '}
        <a href="/guide/command-line#get-it">other ways</a>.
      </p>
    </details>
  )
}

function KeyFacts({
  id,
  name,
  host,
  permissions,
  status,
  allowed_from,
  rate_limit,
  usage,
  ...ends
}: KeyView) {
  const { limit, remaining, window_seconds } = rate_limit
  return (
    <dl class="facts">
      <dt>Name</dt>
      <dd>
        {name} <span class="quiet">(key {id})</span>
      </dd>
      <dt>Host</dt>
      <dd>
        {host.name} <span class="quiet">{host.email}</span>
      </dd>
      <dt>Status</dt>
      <dd>
        <span class={`badge ${status === 'active' ? 'good' : 'bad'}`}>{status}</span>
      </dd>
      <dt>Expires</dt>
      <dd>{ends.expires_at ? showTime(ends.expires_at) : 'Never'}</dd>
      {ends.previous_expires_at && (
        <>
          <dt>Rotation</dt>
          <dd>The previous secret works until {showTime(ends.previous_expires_at)}</dd>
        </>
      )}
      <dt>Permissions</dt>
      <dd>
        {permissions.length === 0 && 'None'}
        {permissions.map((permission) => (
          <span key={permission} class="badge">
            {permission}
          </span>
        ))}
      </dd>
      <dt>Accepted from</dt>
      <dd>{allowed_from.join(', ') || 'Anywhere'}</dd>
      <dt>Used</dt>
      <dd>
        {usage.count === 1 ? 'Once' : `${showCount(usage.count)} times`}
        {usage.last_used_at && <>, last {showAge(usage.last_used_at)}</>}
      </dd>
      <dt id="limit-name">Limit</dt>
      <dd>
        <meter aria-labelledby="limit-name" min={0} max={limit} low={limit / 5} value={remaining} />
        <br />
        {showCount(remaining)} of {showCount(limit)} requests left in {window_seconds} s
      </dd>
    </dl>
  )
}
