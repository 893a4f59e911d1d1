import type { Logger } from 'pino'
import { withTrace } from '../../../core/trace.ts'
import type { Db } from '../connection.ts'
import { schemaVersionModel } from '../server/schema-version.ts'

/** Documents that show that there is something to do. */
export interface WorkSource {
  /** The model of their collection. */
  model(db: Db): { collection: { name: string }; exists(filter: object): PromiseLike<object | null> }
  /** Returns the filter of the documents; one suffices. An index must serve it. */
  filter(): object
}

/** Returns true if any of the documents exists. */
export async function isAnyShown(db: Db, sources: WorkSource[]): Promise<boolean> {
  for (const source of sources) if (await source.model(db).exists(source.filter())) return true
  return false
}

/** Someone who rests until there is something to do. */
export interface Sleeper {
  shownBy: WorkSource[]
  /** Returns false while it is at work, so that nothing is asked for it. */
  isAsleep(): boolean
  /** Called with each answer. True if there is something to do, or if the database could not be asked. */
  onAnswer(isFound: boolean): void
}

/** Interval of the questions. Work is begun at most that much later if nobody wakes those who do it. */
const everyMilliseconds = 4000

/**
 * Asks a database whether there is anything to do, with one command for everyone who rests. A process wakes its own
 * workers for what should not wait, such as hints and most jobs of the outbox. The question is about everything else: the
 * work of other processes, also of those that were killed, certifications and alarms. Without it, every worker would ask
 * by itself, and a service without any work would spend most of its time on that.
 */
export class WorkWatch {
  private readonly sleepers = new Set<Sleeper>()
  private timer: ReturnType<typeof setTimeout> | undefined
  private asking: Promise<void> | undefined

  /** @param interval time between two questions, in milliseconds */
  constructor(
    private readonly db: Db,
    private readonly log: Logger,
    private readonly interval = everyMilliseconds,
  ) {
    this.askLater()
  }

  /** Asks for `sleeper` too, until `end` is called. */
  add(sleeper: Sleeper): { end(): void } {
    this.sleepers.add(sleeper)
    return { end: () => this.sleepers.delete(sleeper) }
  }

  /** Asks no more. The answer to a question in progress reaches nobody. */
  close(): void {
    clearTimeout(this.timer)
    this.sleepers.clear()
  }

  /** Asks at the same moments as the process's other watches, so that it wakes once for all of them. */
  private askLater(): void {
    const now = performance.now()
    const next = (Math.round(now / this.interval) + 1) * this.interval
    this.timer = setTimeout(() => {
      this.askLater()
      this.ask()
    }, next - now)
    this.timer.unref()
  }

  private ask(): void {
    const asleep = [...this.sleepers].filter((sleeper) => sleeper.isAsleep())
    if (asleep.length === 0) return
    this.asking ??= withTrace(undefined, () => this.askFor(asleep)).finally(() => {
      this.asking = undefined
    })
  }

  private async askFor(asleep: Sleeper[]): Promise<void> {
    const found = await this.findAny(asleep).catch((error) => {
      if (this.sleepers.size > 0) this.log.warn({ error: String(error) }, 'Cannot ask for work')
      // They look for themselves, and learn when the database responds again.
      return asleep.map(() => true)
    })
    for (const [index, sleeper] of asleep.entries()) {
      if (this.sleepers.has(sleeper)) sleeper.onAnswer(found[index] ?? true)
    }
  }

  /** Returns for each sleeper whether any of its documents exists. */
  private async findAny(asleep: Sleeper[]): Promise<boolean[]> {
    const sources = asleep.flatMap(({ shownBy }, index) =>
      shownBy.map((source, place) => ({ name: `${index}_${place}`, index, source })),
    )
    const lookUps = sources.map(({ name, source }) => ({
      $lookup: {
        from: source.model(this.db).collection.name,
        pipeline: [{ $match: source.filter() }, { $limit: 1 }, { $project: { _id: 1 } }],
        as: name,
      },
    }))
    // The one document of this collection carries the answers.
    const pipeline = [{ $match: { _id: 'schema' } }, { $project: { _id: 1 } }, ...lookUps]
    const aggregate = schemaVersionModel(this.db).collection.name
    // A command costs less than the driver's cursor, and this is much of what an idle process does. It also finds what a
    // failover may still undo, which only wakes somebody for nothing.
    const reply = await this.db.db?.command({ aggregate, pipeline, cursor: {} })
    const [answer] = reply?.cursor.firstBatch ?? []
    if (!answer) throw new Error('The database has no schema version')
    const shown = new Set(sources.filter(({ name }) => answer[name].length > 0).map(({ index }) => index))
    return asleep.map((_, index) => shown.has(index))
  }
}
