import {
  type Body,
  type CallOptions,
  callerOf,
  type Data,
  type Id,
  type Schemas,
  segment,
  sent,
} from './call.ts'
import type { Transport } from './transport.ts'

/** Returns the methods that exist only in the sandbox. */
export function sandboxOf(transport: Transport) {
  const call = callerOf(transport)
  return {
    /** Clears the sandbox immediately. */
    clear: (options?: CallOptions) => call<void>('DELETE', '', options, () => undefined),
    scenarios: (options?: CallOptions) => call<Data<'listSandboxScenarios'>>('GET', '/scenarios', options),
    play: (name: string, body: Body<'playSandboxScenario'> = {}, options?: CallOptions) =>
      call<Schemas['SandboxScenarioPlayed']>(
        'POST',
        `/scenarios/${segment(name)}`,
        { ...options, body },
        ({ data }) => data.played,
      ),
    faults: (options?: CallOptions) => call<Data<'listSandboxFaults'>>('GET', '/faults', options),
    setFaults: (rules: Body<'setSandboxFaults'>['rules'], options?: CallOptions) =>
      call<Data<'setSandboxFaults'>>('PUT', '/faults', { ...options, body: { rules } }),
    /** Removes all fault rules. */
    clearFaults: (options?: CallOptions) =>
      call<Data<'clearSandboxFaults'>>('DELETE', '/faults', options, ({ data }) => data ?? { rules: [] }),
    clock: (options?: CallOptions) => call<Data<'getSandboxClock'>>('GET', '/clock', options),
    advanceClock: (seconds: number, options?: CallOptions) =>
      call<Data<'advanceSandboxClock'>>('POST', '/clock', { ...options, body: { advance_seconds: seconds } }),
    /** Certifies the product that uses this key; see "Certification" in the guide. */
    certifications: {
      list: (options?: CallOptions) => call<Schemas['Certification'][]>('GET', '/certifications', options),
      start: (body: Body<'startSandboxCertification'>, options?: CallOptions) =>
        call<Schemas['Certification']>('POST', '/certifications', { ...options, body }),
      get: (id: Id, options?: CallOptions) =>
        call<Schemas['Certification']>('GET', `/certifications/${segment(id)}`, options),
      end: (id: Id, options?: CallOptions) =>
        call<void>('DELETE', `/certifications/${segment(id)}`, options, () => undefined),
      /** Uploads the bookings that the product holds, when `next` asks for them. */
      state: (id: Id, bookings: Body<'uploadSandboxCertificationState'>['bookings'], options?: CallOptions) =>
        call<Schemas['Certification']>('PUT', `/certifications/${segment(id)}/state`, {
          ...options,
          body: { bookings },
        }),
      /** Returns the signed report of a passed certification. */
      report: (id: Id, options?: CallOptions) =>
        call<string>('GET', `/certifications/${segment(id)}/report`, options, ({ data }) => data.report),
    },
    /** Sends a message as the booking's guest. */
    reply: (bookingId: Id, text: string, options?: CallOptions) =>
      call(
        'POST',
        `/bookings/${segment(bookingId)}/messages/guest`,
        { ...options, body: { message: { text } } },
        sent,
      ),
  }
}
