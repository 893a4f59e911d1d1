import { type CachedContent, cachedContent } from '../../http/answer/cached-content.ts'
import type { AppContext } from '../../http/context.ts'
import { cacheFor } from '../../platform/time-limits.ts'
import { textFile } from '../files.ts'
import { type Downloads, loadDownloads } from './files.ts'
import { documentsOf, type RegistryRequest, versionIn } from './registry.ts'
import { loadPublished, type Published } from './releases.ts'
import { findArchive, keptReleases } from './store.ts'

/**
 * How long a list of the versions is served before it is read again. So another process's release is listed a second
 * late at most; its archives are served at once.
 */
const listMilliseconds = 1000

/**
 * What a process serves to partners: every released version that is stored, and its own build (decisions §30). Loads
 * everything at the first request.
 *
 * Two processes with the same database list the same versions with the same bytes. Otherwise, a package manager that
 * reaches one process for the metadata and another for the archive would find neither the version nor its checksum.
 */
export class Shelf {
  /** The files that follow from the list of versions, by path, and the list that they were made of. */
  private made: { list: string; files: Map<string, CachedContent> } | undefined
  /** Archives from the database, by version and package. A version's archive never changes. */
  private readonly archives = new Map<string, CachedContent>()
  private readonly files = cacheFor(listMilliseconds, () => this.load())

  constructor(private readonly context: Pick<AppContext, 'config' | 'db' | 'log'>) {}

  /** Returns what a package manager asks for; undefined if there is no such package or version. */
  async find({ name, version, archive }: RegistryRequest): Promise<CachedContent | undefined> {
    if (archive === undefined) return this.findFile(version === undefined ? name : `${name}/${version}`)
    const archived = versionIn(archive, name)
    return archived === undefined ? undefined : this.findArchive(name, archived)
  }

  /** Returns a document of the registry by its name, `partnerctl.mjs` or `SHA256SUMS`. */
  async findFile(name: string): Promise<CachedContent | undefined> {
    return (await this.files()).get(name)
  }

  private async findArchive(name: string, version: string): Promise<CachedContent | undefined> {
    const id = `${name}@${version}`
    const known = this.archives.get(id)
    if (known) return known
    // The database comes first, because a version that it has is served with the stored content by every process.
    const bytes = (await findArchive(this.context.db, version, name)) ?? (await archiveOf(id))
    if (!bytes) return undefined
    const content = cachedContent(bytes, 'application/gzip')
    this.archives.set(id, content)
    const [oldest] = this.archives.keys()
    if (oldest !== undefined && this.archives.size > maxArchives) this.archives.delete(oldest)
    return content
  }

  /** Reads the list of versions; returns the files of the last list while the database cannot be reached. */
  private async load(): Promise<Map<string, CachedContent>> {
    try {
      const own = await loadDownloads()
      const published = await loadPublished(this.context.db, own)
      const list = JSON.stringify(published)
      if (this.made?.list !== list) this.made = { list, files: await this.make(published, own) }
      return this.made.files
    } catch (error) {
      if (!this.made) throw error
      return this.made.files
    }
  }

  private async make(published: Published, own: Downloads): Promise<Map<string, CachedContent>> {
    const { config, log } = this.context
    const { versions, latest } = published
    const twin = versions.find(({ version }) => version === own.version)
    if (twin && twin.checksums !== own.checksums)
      log.error(
        { version: own.version },
        'The packages of this version were stored with other content, which is served instead',
      )
    const files = new Map<string, CachedContent>()
    for (const { name } of own.packages)
      for (const [id, document] of documentsOf(name, published, config.publicUrl))
        files.set(id, textFile(JSON.stringify(document), 'application/json'))
    const isOwn = latest.checksums === own.checksums
    const commandLine = isOwn ? own.commandLine : await this.commandLineOf(latest.version)
    files.set('partnerctl.mjs', cachedContent(commandLine, 'text/javascript; charset=utf-8'))
    files.set('SHA256SUMS', textFile(checksumsOf(published), 'text/plain'))
    return files
  }

  /** Returns the command line of a stored release, which is in the archive of its package. */
  private async commandLineOf(version: string): Promise<Uint8Array<ArrayBuffer>> {
    const archive = await findArchive(this.context.db, version, 'partnerctl')
    if (!archive) throw new Error(`Version ${version} has been removed`)
    const file = (await new Bun.Archive(archive).files()).get('package/partnerctl.mjs')
    if (!file) throw new Error(`Version ${version} has no command line`)
    return new Uint8Array(await file.arrayBuffer())
  }
}

/** Both archives of every version that is served. */
const maxArchives = 2 * (keptReleases + 1)

/** Returns an archive of this process's own build. */
async function archiveOf(id: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const { version, packages } = await loadDownloads()
  return packages.find(({ name }) => `${name}@${version}` === id)?.archive
}

/** Returns the checksums of the latest version's files, followed by those of the other versions' archives. */
function checksumsOf({ versions, latest }: Published): string {
  const earlier = versions.filter((one) => one !== latest).toReversed()
  const archives = earlier.flatMap(({ checksums }) => checksums.match(/.*\.tgz\n/g) ?? [])
  return [latest.checksums, ...archives].join('')
}
