import { type ArgsDef, type CittyPlugin, type CommandContext, type CommandDef, defineCommand } from 'citty'
import { UsageError } from './errors.ts'

/** Defines an option without a value. */
export const flag = (description: string) => ({ type: 'boolean', description }) as const

/** Defines an option with a value, shown as `valueHint` in the help. */
export const option = (description: string, valueHint?: string) =>
  ({ type: 'string', description, ...(valueHint === undefined ? {} : { valueHint }) }) as const

/** Defines a required option. */
export const requiredOption = (description: string, valueHint?: string) =>
  ({ ...option(description, valueHint), required: true }) as const

/** Defines a required positional argument. */
export const positional = (description: string) =>
  ({ type: 'positional', required: true, description }) as const

/** Arguments that every command takes, unless it refuses them. */
export const commonArgs = {
  json: flag('Print one JSON document and nothing else on standard output'),
} satisfies ArgsDef

/**
 * Rejects empty option values, as well as unknown options and surplus arguments, which citty ignores. Without this
 * check, a command with a mistyped option could do something unintended.
 *
 * @param whyNoJson the error's message for `--json`, if the command refuses it
 */
const strictArguments = (whyNoJson: string | undefined): CittyPlugin => ({
  name: 'strict-arguments',
  setup({ args, cmd }: CommandContext) {
    if (whyNoJson !== undefined && args.json) throw new UsageError(whyNoJson)
    const defined = (cmd.args ?? {}) as ArgsDef
    const names = Object.keys(defined)
    const known = new Set(['_', ...names, ...names.map(toCamelCase)])
    const unknown = Object.keys(args).find((name) => !known.has(name))
    if (unknown) throw new UsageError(`Unknown option --${unknown}`)
    const positionals = Object.values(defined).filter(({ type }) => type === 'positional').length
    const surplus = args._[positionals]
    if (surplus !== undefined) throw new UsageError(`Unexpected argument "${surplus}"`)
    const empty = Object.entries(defined).find(([name, arg]) => arg.type === 'string' && args[name] === '')
    if (empty) throw new UsageError(`Option --${empty[0]} needs a value`)
  },
})

function toCamelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

// biome-ignore lint/suspicious/noExplicitAny: citty's commands differ in their argument types
export type AnyCommand = CommandDef<any> & { examples?: string[] }

/** The parts of a command's definition that citty does not have. */
interface OwnParts<T extends ArgsDef> {
  args?: T
  /** Shown in the command's help. */
  examples: string[]
  /** Why the command refuses `--json`, which its help then leaves out; absent if it takes the option. */
  whyNoJson?: string
}

/** Defines a command that rejects unknown options and takes `--json`. */
export function command<const T extends ArgsDef>({
  args: own,
  whyNoJson,
  ...definition
}: Omit<CommandDef<T & typeof commonArgs>, 'args'> & OwnParts<T>) {
  const common = whyNoJson === undefined ? commonArgs : {}
  const args = { ...own, ...common } as T & typeof commonArgs
  return defineCommand({ ...definition, args, plugins: [strictArguments(whyNoJson)] }) as CommandDef<
    T & typeof commonArgs
  >
}
