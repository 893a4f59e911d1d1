import { describe, test } from 'vitest'
import { differences } from '../../src/certification/course/uploaded-state.ts'
import type { DeliveredVersion } from '../../src/certification/record/model.ts'

const dates = { checkin_at: '2030-02-01', checkout_at: '2030-02-03' }
const held = (status: 'pending' | 'confirmed' | 'cancelled', more: object = {}) => ({
  booking_id: 5001,
  status,
  ...dates,
  ...more,
})
const delivered = (status: string, version: number) =>
  ({ booking_id: 5001, status, ...dates, version: new Date(version) }) as DeliveredVersion

describe('the bookings that a product holds', () => {
  const rows: {
    title: string
    deliveries: DeliveredVersion[]
    bookings: Parameters<typeof differences>[1]
    problems: string[]
  }[] = [
    {
      title: 'match if each has the status and dates that were delivered',
      deliveries: [delivered('confirmed', 1)],
      bookings: [held('confirmed')],
      problems: [],
    },
    {
      title: 'are compared with the last delivery of each booking',
      deliveries: [delivered('pending', 1), delivered('confirmed', 2)],
      bookings: [held('pending')],
      problems: ['Booking 5001 has `status` pending, but was last delivered with confirmed'],
    },
    {
      title: 'must have the dates that were delivered',
      deliveries: [delivered('confirmed', 1)],
      bookings: [held('confirmed', { checkout_at: '2030-02-04' })],
      problems: ['Booking 5001 has `checkout_at` 2030-02-04, but was last delivered with 2030-02-03'],
    },
    {
      title: 'must include every booking that was delivered',
      deliveries: [delivered('confirmed', 1)],
      bookings: [],
      problems: ['Booking 5001 is missing; its status is confirmed'],
    },
    {
      title: 'need not include a cancelled booking',
      deliveries: [delivered('confirmed', 1), delivered('cancelled', 2)],
      bookings: [],
      problems: [],
    },
    {
      title: 'may include other bookings, and ids as text',
      deliveries: [delivered('confirmed', 1)],
      bookings: [held('confirmed', { booking_id: '5001' }), held('cancelled', { booking_id: 9999 })],
      problems: [],
    },
  ]

  test.for(rows)('$title', ({ deliveries, bookings, problems }, { expect }) => {
    expect(differences(deliveries, bookings)).toEqual(problems)
  })
})
