/** The scenarios that a sandbox can play (decisions §22). The console bundles this file, so it must import nothing. */
export const scenarioNames = [
  'guest-books',
  'host-confirms',
  'guest-cancels',
  'cancelled-before-seen',
  'changed-within-a-second',
  'last-unit',
  'guest-writes',
  'conversation-closes',
  'history',
] as const
export type ScenarioName = (typeof scenarioNames)[number]
