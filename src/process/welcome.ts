import type { Demo } from './demo.ts'

/** The greeting on standard output once the service is up; with the demo's key only at the very first start. */
export function welcome(address: string, demo: Demo | null): string {
  const lines = [`The partner interface is up at ${address} (documentation: ${address}/docs)`]
  if (demo)
    lines.push(
      '',
      'A demo host was created. Its key is shown only now; try these commands next:',
      '',
      ...commands(address, demo),
    )
  return `${lines.join('\n')}\n\n`
}

function commands(address: string, { key, booking }: Demo): string[] {
  const partnerctl = `PARTNER_BASE_URL=${address} PARTNER_API_KEY=${key} bin/partnerctl`
  return [
    `${partnerctl} me`,
    `${partnerctl} api POST /bookings --data '${JSON.stringify(booking)}'`,
    `${partnerctl} feed poll --once`,
  ]
}
