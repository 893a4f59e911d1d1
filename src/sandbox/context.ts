import type { AppContext } from '../http/context.ts'
import type { SandboxClocks } from './clocks.ts'
import type { OwnedModel } from './store.ts'

/**
 * The context of the sandbox's own routes. The contract's routes use only {@link AppContext}, which live data also has.
 */
export interface SandboxContext extends AppContext {
  /** The models of all collections. */
  models: OwnedModel[]
  clocks: SandboxClocks
}
