import { type AnyCommand, command } from '../../shared/command.ts'
import { print, show } from '../../shared/output.ts'
import { oneOf } from '../../shared/values.ts'

const shells = ['bash', 'zsh', 'fish'] as const

/** Returns the words that may follow each command, such as `keys` → `mint list show …`. */
async function wordsOf(tree: AnyCommand, path: string[] = []): Promise<[string, string[]][]> {
  const children = Object.entries(
    ((await tree.subCommands) ?? {}) as Record<string, AnyCommand | (() => Promise<AnyCommand>)>,
  )
  const options = Object.entries((tree.args ?? {}) as Record<string, { type?: string }>)
    .filter(([, { type }]) => type !== 'positional')
    .map(([name]) => `--${name}`)
  const own: [string, string[]] = [path.join(' '), [...children.map(([name]) => name), ...options]]
  const nested = await Promise.all(
    children.map(async ([name, child]) =>
      wordsOf(typeof child === 'function' ? await child() : child, [...path, name]),
    ),
  )
  return [own, ...nested.flat()]
}

function bash(words: [string, string[]][]): string {
  const cases = words.map(([path, next]) => `    "${path}") words="${next.join(' ')}" ;;`).join('\n')
  return `_partnerctl() {
  local path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word == -* ]] || path="\${path:+$path }$word"; done
  case "$path" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _partnerctl partnerctl`
}

function fish(words: [string, string[]][]): string {
  const lines = words.flatMap(([path, next]) => {
    const parts = path.split(' ').filter(Boolean)
    const seen = parts.map((part) => `__fish_seen_subcommand_from ${part}`).join('; and ')
    const here = next.filter((word) => !word.startsWith('--'))
    const condition =
      parts.length === 0
        ? '__fish_use_subcommand'
        : `${seen}${here.length > 0 ? `; and not __fish_seen_subcommand_from ${here.join(' ')}` : ''}`
    const subcommands = here.map((word) => `complete -c partnerctl -f -n '${condition}' -a ${word}`)
    const options = next
      .filter((word) => word.startsWith('--'))
      .map((word) => `complete -c partnerctl -n '${condition}' -l ${word.slice(2)}`)
    return [...subcommands, ...options]
  })
  return lines.join('\n')
}

const scripts: Record<(typeof shells)[number], (words: [string, string[]][]) => string> = {
  bash,
  zsh: (words) => `autoload -U +X bashcompinit && bashcompinit\n${bash(words)}`,
  fish,
}

/** @param tree the root command */
export const completions = (tree: AnyCommand) =>
  command({
    examples: ['source <(partnerctl completions bash)'],
    args: { shell: { type: 'positional', required: true, description: shells.join(', ') } },
    async run({ args }) {
      const shell = oneOf(shells, args.shell)
      const script = scripts[shell](await wordsOf(tree))
      if (args.json) print(args, { shell, script }, () => script)
      else show(script)
    },
  })
