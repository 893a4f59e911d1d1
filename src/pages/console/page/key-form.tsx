import { useEffect, useRef, useState } from 'preact/hooks'
import type { KeyView } from '../../../access/keys/schema.ts'
import { Api, ApiError } from './api.ts'
import { DocsLink } from './parts.tsx'

/** An accepted key. */
export interface Entered {
  key: string
  api: Api
  view: KeyView
}

interface KeyFormProps {
  enter: (entered: Entered) => void
  /** Why the service no longer accepts the key that the page had; null if it had none. */
  refused: ApiError | null
}

/** Asks for a key until the service accepts one. */
export function KeyForm({ enter, refused }: KeyFormProps) {
  const [error, setError] = useState<string | null>(refused && describeRefusal(refused))
  const [isChecking, setChecking] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  const check = async (event: SubmitEvent) => {
    event.preventDefault()
    const key = String(new FormData(event.currentTarget as HTMLFormElement).get('key')).trim()
    setChecking(true)
    setError(null)
    try {
      const api = new Api(key)
      enter({ key, api, view: (await api.get<KeyView>('/key')).data })
    } catch (failure) {
      setChecking(false)
      setError(failure instanceof ApiError ? failure.message : 'The page could not read the response')
    }
  }
  return (
    <main class="entry">
      <h1>Partner console</h1>
      <p>See what your API key does: its requests and why they failed, its consumers, the latest changes.</p>
      <form onSubmit={check}>
        <label for="api-key">API key</label>
        {/* Browsers do not offer to store a one-time code. */}
        <input
          ref={input}
          id="api-key"
          name="key"
          type="password"
          autocomplete="one-time-code"
          required
          spellcheck={false}
          aria-describedby={error ? 'key-error key-hint' : 'key-hint'}
          aria-invalid={error !== null}
        />
        {error && (
          <p id="key-error" class="problem" role="alert">
            {error}
          </p>
        )}
        <button type="submit" disabled={isChecking}>
          {isChecking ? 'Checking…' : 'Open'}
        </button>
        <p id="key-hint" class="quiet">
          The key stays in this tab and is gone when you close it. No key yet? Ask your administrator, and
          read <DocsLink>the documentation</DocsLink>.
        </p>
      </form>
    </main>
  )
}

function describeRefusal({ message, requestId }: ApiError): string {
  const request = requestId === null ? '' : ` (request ${requestId})`
  return `The service no longer accepts the key: ${message}${request}. The page has stopped; enter another key`
}
