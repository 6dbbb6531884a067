/**
 * A typed client of the Tocsin API, derived from the definition that the service itself is made of: {@link createClient} for
 * promises, {@link TocsinClient} for Effect.
 */
export { createClient, type PromiseClientOptions } from "./createClient.ts"
export type { CallOptions, Client } from "./promises/Client.ts"
export { TocsinClient } from "./TocsinClient.ts"
export type { Calls } from "./calls/Calls.ts"
export type { ClientDuration, ClientOptions, RetryOptions } from "./options/ClientOptions.ts"
export {
  type AnyCallCode,
  type ClientErrorCode,
  type ClientFailure,
  hasCode,
  isTocsinClientError,
  TocsinClientError,
} from "./TocsinClientError.ts"
export type * from "./Parameters.ts"
export type * from "./Resources.ts"
