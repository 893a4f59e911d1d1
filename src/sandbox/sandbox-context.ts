import type { AppContext } from '../http/context.ts'
import type { SandboxClocks } from './clock/clocks.ts'
import type { OwnedModel } from './lifecycle/documents-store.ts'

/**
 * The context of the sandbox's own routes. The contract's routes use only {@link AppContext}, which live data also has.
 */
export interface SandboxContext extends AppContext {
  /** The models of all collections. */
  models: OwnedModel[]
  clocks: SandboxClocks
}

/** What differs between the sandbox's context and the live context: the database and everything that depends on it. */
type Overrides = Pick<
  SandboxContext,
  | 'db'
  | 'clock'
  | 'ids'
  | 'outbox'
  | 'changes'
  | 'activity'
  | 'webhooks'
  | 'calendars'
  | 'environment'
  | 'workWatch'
  | 'models'
  | 'clocks'
>

/** Returns the sandbox's context, which shares everything else with the live context (decisions §13). */
export function sandboxContext(live: AppContext, overrides: Overrides): SandboxContext {
  return {
    ...live,
    db: overrides.db,
    clock: overrides.clock,
    ids: overrides.ids,
    outbox: overrides.outbox,
    changes: overrides.changes,
    activity: overrides.activity,
    webhooks: overrides.webhooks,
    calendars: overrides.calendars,
    environment: overrides.environment,
    workWatch: overrides.workWatch,
    models: overrides.models,
    clocks: overrides.clocks,
  }
}
