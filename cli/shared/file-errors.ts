import { builtIn } from './built-in.ts'

/**
 * Returns why a file could not be used, in words such as `permission denied`. The error's own message is made for
 * programmers: it begins with a code and ends with the name of a system call.
 */
export function reasonOf(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException
  const [, words] =
    builtIn('node:util')
      .getSystemErrorMap()
      .get(errno ?? 0) ?? []
  return words ?? message
}

/** True if the error says that there is no such file. Any other error leaves open whether the file exists. */
export function isMissingFile(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}
