import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Loaded } from './hooks.ts'

/** A section of the page with its own heading. */
export function Panel({ id, title, note, children }: PanelProps) {
  return (
    <section class="panel" aria-labelledby={`${id}-title`}>
      <header>
        <h2 id={`${id}-title`}>{title}</h2>
        {note && <p class="note">{note}</p>}
      </header>
      {children}
    </section>
  )
}

interface PanelProps {
  id: string
  title: string
  note?: string
  children: ComponentChildren
}

/** Shows loaded data, an error, or a loading message. */
export function LoadedContent<T>({ loaded, retry, children }: ShownProps<T>) {
  const { data, error } = loaded
  return (
    <>
      {error && (
        <div class="problem" role="alert">
          <p>
            {explain(error.status, error.message)}
            {error.requestId && (
              <>
                {' '}
                Request id: <code>{error.requestId}</code>
              </>
            )}
          </p>
          {retry && (
            <button type="button" onClick={retry}>
              Try again
            </button>
          )}
        </div>
      )}
      {data === null && !error && <Loading />}
      {data !== null && children(data)}
    </>
  )
}

interface ShownProps<T> {
  loaded: Loaded<T>
  retry?: () => void
  children: (data: T) => ComponentChildren
}

function explain(status: number | null, message: string): string {
  if (status === null) return `${message}. The page tries again in a minute.`
  if (status === 429) return `${message}. The page tries again in a minute; no data is lost.`
  return `${message} (${status}).`
}

const longMilliseconds = 2000

/** Loading message, which explains the delay if loading takes more than two seconds. */
export function Loading({ what = 'Loading' }: { what?: string }) {
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), longMilliseconds)
    return () => clearTimeout(timer)
  }, [])
  return (
    <p class="loading" role="status">
      {what}…{isLong && ' The page sends at most 10 requests a minute, so this may take a while.'}
    </p>
  )
}

/** Link that opens the documentation in a new tab. Only this tab holds the key, so this tab must stay open. */
export function DocsLink({ to = '/docs', children }: { to?: string; children: ComponentChildren }) {
  return (
    <a href={to} target="_blank" rel="noopener">
      {children}
    </a>
  )
}

/** Text shown in place of missing data. */
export function EmptyState({ children }: { children: ComponentChildren }) {
  return <p class="nothing">{children}</p>
}

/** A group of radio buttons, shown as a single control. */
export function Switch<T extends string>({ name, legend, choices, chosen, choose }: SwitchProps<T>) {
  return (
    <fieldset class="switch">
      <legend class="hidden">{legend}</legend>
      {(Object.keys(choices) as T[]).map((one) => (
        <label key={one}>
          <input type="radio" name={name} checked={one === chosen} onChange={() => choose(one)} />
          {choices[one].name}
        </label>
      ))}
    </fieldset>
  )
}

interface SwitchProps<T extends string> {
  name: string
  legend: string
  choices: Record<T, { name: string }>
  chosen: T
  choose: (choice: T) => void
}

/** Text from the service; parts in backticks are shown as code. */
export function Marked({ text }: { text: string }) {
  return (
    <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
  )
}
