/** The driver's connection, which the driver does not export. The driver's version is fixed in package.json. */
declare module 'mongodb/lib/cmap/connection.js' {
  type Send = (this: unknown, namespace: object, command: object, ...rest: unknown[]) => Promise<unknown>
  export const Connection: { prototype: { command: Send } }
}
