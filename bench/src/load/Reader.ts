/** A command for the process that reads lists. */
export type ReaderCommand =
  /** Asks for each path so often, until it is stopped. */
  | {
      readonly type: "start"
      readonly port: number
      readonly token: string
      readonly paths: ReadonlyArray<string>
      readonly everyMillis: number
    }
  /** Waits for what is under way. */
  | { readonly type: "stop" }

/** The times of all answers so far. */
export interface ReaderReply {
  /** For each path, from when it was due to its whole answer, in milliseconds. */
  readonly millis: ReadonlyArray<ReadonlyArray<number>>
  readonly firstFailure?: string
}
