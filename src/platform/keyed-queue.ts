import type { DomainError } from '../core/errors.ts'

/** Maximum number of tasks with the same name that wait; a further task is refused at once. */
const maxWaiting = 10_000

/**
 * Runs tasks with the same name one at a time within this process, in the order in which they arrive. Without it,
 * concurrent transactions on the same documents would conflict and be repeated, and large reads that belong together
 * would hold their rows in memory at the same time.
 */
export class KeyedQueue {
  /** The tasks that wait, by name, oldest first. A name is absent while no task with it is running. */
  private readonly waiting = new Map<string, WaitingTask[]>()

  /**
   * @param timeoutMilliseconds maximum time that a task may wait for earlier tasks
   * @param timeoutError creates the error thrown if a task waits too long or too many tasks are waiting
   */
  constructor(
    private readonly timeoutMilliseconds: number,
    private readonly timeoutError: () => DomainError,
  ) {}

  /** @throws DomainError created by `timeoutError` */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const endTurn = await this.takeTurn(name)
    try {
      return await work()
    } finally {
      endTurn()
    }
  }

  /**
   * Waits until all earlier tasks with the same name have ended. The next one begins when the returned function is called,
   * which must happen once, and even if the task fails.
   *
   * @throws DomainError created by `timeoutError`
   */
  async takeTurn(name: string): Promise<() => void> {
    const others = this.waiting.get(name)
    if (others) await this.awaitTurn(others)
    else this.waiting.set(name, [])
    return () => this.passOn(name)
  }

  /** Waits until the task before has ended. A task that gives up is skipped when its turn comes. */
  private awaitTurn(others: WaitingTask[]): Promise<void> {
    if (others.length >= maxWaiting) throw this.timeoutError()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const task: WaitingTask = { begin: resolve, timer: undefined }
    const giveUp = () => {
      task.timer = undefined
      reject(this.timeoutError())
    }
    task.timer = setTimeout(giveUp, this.timeoutMilliseconds)
    others.push(task)
    return promise
  }

  /** Lets the next task begin. */
  private passOn(name: string): void {
    const others = this.waiting.get(name) ?? []
    let next = others.shift()
    while (next && !next.timer) next = others.shift()
    if (!next) {
      this.waiting.delete(name)
      return
    }
    clearTimeout(next.timer)
    next.begin()
  }
}

interface WaitingTask {
  begin(): void
  /** Undefined once the task has given up. */
  timer: ReturnType<typeof setTimeout> | undefined
}
