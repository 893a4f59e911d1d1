import type { AppContext } from '../http/context.ts'
import type { FaultRule } from './faults/rule.ts'

/** The context of the sandbox's own routes. The contract's routes use only the part that live data also has. */
export interface SandboxContext extends AppContext {
  sandboxes: {
    /** Returns the scope of a key's sandbox, filling it if necessary. */
    open(keyId: number): Promise<number>
    /** Clears a key's sandbox. */
    clear(keyId: number): Promise<void>
    /** Moves a sandbox's clock forward. Returns false if the clock would then be too far ahead. */
    advanceClock(scope: number, seconds: number): Promise<boolean>
    /**
     * Runs `work` while no other scenario plays in the same sandbox.
     *
     * @param work receives a function that takes a number of documents and throws DomainError `conflict` if the sandbox
     * has no room for them
     */
    inTurn<T>(
      scope: number,
      work: (requireRoom: (documents: number) => Promise<void>) => Promise<T>,
    ): Promise<T>
    readRules(scope: number): Promise<FaultRule[]>
    replaceRules(scope: number, rules: FaultRule[]): Promise<void>
  }
}
