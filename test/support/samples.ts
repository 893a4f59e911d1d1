import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readChapters, servedMarkdown } from '../../src/pages/guide/chapters.ts'
import { root } from './processes.ts'

/** A fenced block. A `loop` runs until it is stopped; an `answer` is the output of the sample before it. */
export interface Sample {
  language: string
  kind: 'loop' | 'answer' | undefined
  code: string
}

/** Returns the samples in a Markdown text, in order. */
export function samplesIn(markdown: string): Sample[] {
  return [...markdown.matchAll(/^```(\w+)(?: (loop|answer))?(?: tab .+)?\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', kind, code = '']) => ({ language, kind: kind as Sample['kind'], code }),
  )
}

/** Returns the samples of a chapter as the service serves it. */
export function samplesOf(chapter: string, url = ''): Sample[] {
  const found = readChapters().find(({ name }) => name === chapter)
  if (!found) throw new Error(`There is no chapter ${chapter}`)
  return samplesIn(servedMarkdown(found, url, ''))
}

const programs: Record<string, [file: string, ...command: string[]]> = {
  sh: ['sample.sh', 'bash', '-eu', '-o', 'pipefail'],
  js: ['sample.mjs', 'node'],
  python: ['sample.py', 'python3'],
}

/** Returns true for a sample in a language that can be run. */
export function isProgram({ language }: Sample): boolean {
  return language in programs
}

/** Installs the client from the registry of a service, as the guide says. */
export async function installClient(project: string, url: string): Promise<void> {
  await writeFile(join(project, '.npmrc'), `@partner-interface:registry=${url}/npm/\n`)
  await Bun.$`npm install --silent --no-audit --no-fund @partner-interface/client`.cwd(project).quiet()
}

/** Creates an empty project and installs the client that a service serves. */
export async function makeProject(url: string): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), 'partner-samples-'))
  await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}')
  await installClient(project, url)
  return project
}

/**
 * Starts a sample in a folder, as a reader would, but in its own process group.
 *
 * @param environment the variables that the sample reads, such as the address and the key
 */
export async function startSample(
  { language, code }: Sample,
  folder: string,
  environment: Record<string, string>,
) {
  const [file = '', ...command] = programs[language] ?? []
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, file), code)
  // Makes curl samples fail if a request is refused.
  await writeFile(join(folder, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n')
  // Bun puts its own `node` on the path of the programs that it runs.
  const others = (process.env.PATH ?? '').split(':').filter((entry) => !entry.includes('bun-node'))
  const PATH = [join(root, 'bin'), ...others].join(':')
  return Bun.spawn(['setsid', ...command, file], {
    cwd: folder,
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH, HOME: folder, CURL_HOME: folder, ...environment },
  })
}

/** Kills a sample and all processes that it has started. */
export async function killSample(child: Bun.Subprocess): Promise<void> {
  process.kill(-child.pid, 'SIGKILL')
  await child.exited
}
