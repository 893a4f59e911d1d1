import type { DomainError } from '../core/errors.ts'

/** Maximum number of tasks with the same name that wait; a further task is refused at once. */
const maxWaiting = 10_000

/**
 * Runs tasks with the same name one at a time within this process, or as many at a time as it is told, in the order in
 * which they arrive. Without it, concurrent transactions on the same documents would conflict and be repeated, and large
 * reads that belong together would hold their rows in memory at the same time.
 */
export class KeyedQueue {
  /** The tasks of each name. A name is absent while no task with it is running. */
  private readonly lines = new Map<string, Line>()

  /**
   * @param timeoutMilliseconds maximum time that a task may wait for earlier tasks
   * @param timeoutError creates the error thrown if a task waits too long or too many tasks are waiting
   * @param maxRunning number of tasks with the same name that run at a time
   */
  constructor(
    private readonly timeoutMilliseconds: number,
    private readonly timeoutError: () => DomainError,
    private readonly maxRunning = 1,
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
   * Waits until so many of the earlier tasks with the same name have ended that this one may run. The next one begins when
   * the returned function is called, which must happen once, and even if the task fails.
   *
   * @throws DomainError created by `timeoutError`
   */
  async takeTurn(name: string): Promise<() => void> {
    const line = this.lines.get(name) ?? { running: 0, waiting: [] }
    this.lines.set(name, line)
    if (line.running < this.maxRunning) line.running += 1
    else await this.awaitTurn(line.waiting)
    return () => this.passOn(name, line)
  }

  /** Waits until a task before has ended. A task that gives up is skipped when its turn comes. */
  private awaitTurn(waiting: WaitingTask[]): Promise<void> {
    if (waiting.length >= maxWaiting) throw this.timeoutError()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const task: WaitingTask = { begin: resolve, timer: undefined }
    const giveUp = () => {
      task.timer = undefined
      reject(this.timeoutError())
    }
    task.timer = setTimeout(giveUp, this.timeoutMilliseconds)
    waiting.push(task)
    return promise
  }

  /** Lets the next task begin in place of one that has ended. */
  private passOn(name: string, line: Line): void {
    let next = line.waiting.shift()
    while (next && !next.timer) next = line.waiting.shift()
    if (next) {
      clearTimeout(next.timer)
      next.begin()
      return
    }
    line.running -= 1
    if (line.running === 0) this.lines.delete(name)
  }
}

interface Line {
  running: number
  /** The tasks that wait, oldest first. */
  waiting: WaitingTask[]
}

interface WaitingTask {
  begin(): void
  /** Undefined once the task has given up. */
  timer: ReturnType<typeof setTimeout> | undefined
}
