import type { Effect, Stream } from "effect"
import type { Calls } from "../calls/Calls.ts"

/** What any call can be given besides its parameters. */
export interface CallOptions {
  /** Gives the call up: it rejects with the signal's reason. What was sent may have taken effect all the same. */
  readonly signal?: AbortSignal | undefined
}

/** Calls as promises, and streams as async iterators, with {@link CallOptions} as the last argument. */
type AsPromises<Group> = {
  readonly [Name in keyof Group]: Group[Name] extends (
    ...input: infer Input
  ) => Effect.Effect<infer A, infer _E>
    ? (...input: [...Input, options?: CallOptions]) => Promise<A>
    : Group[Name] extends (...input: infer Input) => Stream.Stream<infer Item, infer _E>
      ? (...input: [...Input, options?: CallOptions]) => AsyncGenerator<Item, void, undefined>
      : AsPromises<Group[Name]>
}

/** The calls of the API as promises; they reject with a `TocsinClientError`, whose `code` says why. */
export interface Client extends AsPromises<Calls> {}
