/** The driver's connection class. Because the driver does not export it, package.json pins the driver's version. */
declare module 'mongodb/lib/cmap/connection.js' {
  type Send = (this: unknown, namespace: object, command: object, ...rest: unknown[]) => Promise<unknown>
  export const Connection: { prototype: { command: Send } }
}
