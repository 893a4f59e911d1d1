import type { AppContext } from '../http/context.ts'
import type { FaultRule } from './faults/rule.ts'

/**
 * The context of the sandbox's own routes. The contract's routes use only {@link AppContext}, which live data also has.
 */
export interface SandboxContext extends AppContext {
  sandboxes: {
    /** Returns the scope of a key's sandbox. Fills a new sandbox if necessary. */
    open(keyId: number): Promise<number>
    /** Clears a key's sandbox. */
    clear(keyId: number): Promise<void>
    /** Moves a sandbox's clock forward. Returns false if it would be too far ahead or the sandbox is not open. */
    advanceClock(scope: number, seconds: number): Promise<boolean>
    /**
     * Runs `work` while no other scenario is playing in the same sandbox.
     *
     * @param work receives `requireRoom`, which throws DomainError `conflict` if the sandbox has no room for the given
     * number of documents
     */
    playExclusively<T>(
      scope: number,
      work: (requireRoom: (documents: number) => Promise<void>) => Promise<T>,
    ): Promise<T>
    readRules(scope: number): Promise<FaultRule[]>
    replaceRules(scope: number, rules: FaultRule[]): Promise<void>
  }
}
