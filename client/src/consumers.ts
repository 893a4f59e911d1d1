import { type CallOptions, callerOf, provider, segment } from './call.ts'
import type { Transport } from './transport.ts'
import type { Body, Data } from './types.ts'

/** The consumers of a feed: places that the service keeps. */
export function consumersOf(transport: Transport, feed: 'bookings' | 'messages') {
  const call = callerOf(transport)
  const root = `${provider}/${feed}/consumers`
  const pathOf = (name: string) => `${root}/${segment(name)}`
  return {
    list: (options?: CallOptions) => call<Data<'listBookingConsumers'>>('GET', root, options),
    get: (name: string, options?: CallOptions) =>
      call<Data<'getBookingConsumer'>>('GET', pathOf(name), options),
    put: (name: string, body: Body<'putBookingConsumer'>, options?: CallOptions) =>
      call<Data<'putBookingConsumer'>>('PUT', pathOf(name), { ...options, body }),
    delete: (name: string, options?: CallOptions) =>
      call<void>('DELETE', pathOf(name), options, () => undefined),
  }
}
