import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { RequestView } from '../../../access/requests/schema.ts'
import { hintFaults } from '../../../changes/webhooks/hint.ts'
import { requestFaults } from '../../../sandbox/faults/rule.ts'
import { scenarioNames } from '../../../sandbox/scenarios/names.ts'
import type { Played } from '../../../sandbox/scenarios/schema.ts'
import { type Api, type ApiError, type ApiRequestOptions, toApiError } from './api.ts'
import { showTime } from './format.ts'
import { Pages } from './lists.tsx'
import { DocsLink, EmptyState, Panel } from './parts.tsx'
import { RequestDetails } from './request-details.tsx'

interface Rule {
  fault: string
  operation: string | null
  event: string | null
  left: { after: number; times: number }
}

const guide = '/guide/testing'
const shownRequests = 100
const clockSteps: Choices = [
  ['3600', 'an hour on'],
  ['90000', '25 hours on'],
  ['518400', 'six days on'],
]

/**
 * Plays scenarios and sets faults in the sandbox, advances its clock, and shows which requests were affected by a
 * fault. The panel sends requests only when the partner acts.
 */
export function SandboxPanel({ api }: { api: Api }) {
  const [outcome, setOutcome] = useState<string | ApiError | null>(null)
  const [rules, setRules] = useState<Rule[] | null>(null)
  const [met, setMet] = useState<RequestView[] | null>(null)
  const send = async <T,>(method: string, path: string, asking: ApiRequestOptions & { body?: object } = {}) =>
    (await api.send<T>(method, path, { environment: 'sandbox', ...asking })).data
  const act = (work: (form: FormData) => Promise<string>) => async (event: SubmitEvent) => {
    event.preventDefault()
    setOutcome(await work(new FormData(event.currentTarget as HTMLFormElement)).catch(toApiError))
  }

  const play = act(async (form) => {
    const { played } = await send<{ played: Played }>('POST', `/scenarios/${form.get('scenario')}`)
    const bookings = played.bookings.map(({ booking_id, status }) => `${booking_id} ${status}`)
    return `Played ${played.scenario}: ${bookings.join(', ')}.`
  })
  const setFault = act(async (form) => {
    const operation = String(form.get('operation')).trim()
    const rule = { fault: form.get('fault'), times: Number(form.get('times')) }
    const body = { rules: [{ ...rule, ...(operation ? { operation } : {}) }] }
    setRules((await send<{ rules: Rule[] }>('PUT', '/faults', { body })).rules)
    return 'The fault is set.'
  })
  const showFaults = act(async () => {
    setRules((await send<{ rules: Rule[] }>('GET', '/faults')).rules)
    const query = { per_page: String(shownRequests) }
    const requests = await send<RequestView[]>('GET', '/requests', { query })
    setMet(requests.filter(({ fault }) => fault !== null))
    return `Of the last ${shownRequests} requests, these met a fault:`
  })
  const clearFaults = act(async () => {
    setRules((await send<{ rules: Rule[] }>('DELETE', '/faults')).rules)
    return 'All faults were removed.'
  })
  const advance = act(async (form) => {
    const body = { advance_seconds: Number(form.get('seconds')) }
    const { now } = await send<{ now: string }>('POST', '/clock', { body })
    return `The sandbox time is now ${showTime(now)}.`
  })

  return (
    <Panel id="sandbox" title="Test your integration">
      <form class="search" onSubmit={play}>
        <Choice name="scenario" label="Scenario" options={scenarioNames.map((name) => [name, name])} />
        <button type="submit">Play</button>
      </form>
      <form class="search" onSubmit={setFault}>
        <Choice
          name="fault"
          label="Fault"
          options={[...requestFaults, ...hintFaults].map((name) => [name, name])}
        />
        <label for="operation">Operation</label>
        <input id="operation" name="operation" placeholder="each" spellcheck={false} autocomplete="off" />
        <label for="times">Times</label>
        <input id="times" name="times" type="number" min={1} max={1000} value={1} required />
        <button type="submit">Set</button>
      </form>
      {rules !== null && <p class="note">{rules.map(describeRule).join('; ') || 'No faults are set.'}</p>}
      <form class="search" onSubmit={clearFaults}>
        <button type="submit">Clear the faults</button>
      </form>
      <form class="search" onSubmit={advance}>
        <Choice name="seconds" label="Clock" options={clockSteps} />
        <button type="submit">Advance</button>
      </form>
      <form class="search" onSubmit={showFaults}>
        <button type="submit">Show requests that met a fault</button>
        <DocsLink to={guide}>Which mistake each one finds</DocsLink>
      </form>
      <div aria-live="polite">
        {typeof outcome === 'string' && <p>{outcome}</p>}
        {outcome !== null && typeof outcome !== 'string' && <p class="problem">{outcome.message}</p>}
      </div>
      {met && (
        <Pages rows={met}>{(page) => page.map((row) => <RequestDetails key={row.id} row={row} />)}</Pages>
      )}
      {met?.length === 0 && <EmptyState>None. Set a fault, and send requests to the sandbox.</EmptyState>}
    </Panel>
  )
}

function describeRule({ fault, operation, event, left }: Rule): string {
  const first = left.after > 0 ? ` after ${left.after} more` : ''
  return `${fault} of ${operation ?? event ?? 'each'}: ${left.times} left${first}`
}

type Choices = [value: string, shown: string][]

interface ChoiceProps {
  name: string
  label: string
  options: Choices
}

function Choice({ name, label, options }: ChoiceProps): JSX.Element {
  return (
    <>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {options.map(([value, shown]) => (
          <option key={value} value={value}>
            {shown}
          </option>
        ))}
      </select>
    </>
  )
}
