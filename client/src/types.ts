import type { components, operations } from './api.ts'

/** The schemas of the OpenAPI document by name, such as `Schemas['Booking']`. */
export type Schemas = components['schemas']

export type Operation = keyof operations
type Content<R> = R extends { content: { 'application/json': infer C } } ? C : never
/** The envelope of an operation's successful response. */
type Success<O extends Operation> = operations[O]['responses'] extends infer R ? Content<R[keyof R]> : never
/** The `data` of an operation's successful response. */
export type Data<O extends Operation> = Success<O> extends { data: infer D } ? D : never
/** The `meta` of an operation's successful response. */
export type Meta<O extends Operation> = Success<O> extends { meta: infer M } ? M : never
/** The request body of an operation. */
export type Body<O extends Operation> = operations[O] extends { requestBody?: infer B }
  ? Content<NonNullable<B>>
  : never
/** The query parameters of an operation; ids may be numbers. */
export type Query<O extends Operation> = WithIds<
  NonNullable<operations[O]['parameters'] extends { query?: infer Q } ? Q : never>
>
type WithIds<Q> = { [Name in keyof Q]: Name extends `${string}_id` ? Q[Name] | number : Q[Name] }
