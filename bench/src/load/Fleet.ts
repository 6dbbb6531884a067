/** A command for the process of simulated agents. */
export type FleetCommand =
  /** Starts an agent for each key, spread over a time, and lets each report a change so often. */
  | {
      readonly type: "start"
      readonly port: number
      readonly keys: ReadonlyArray<string>
      readonly folder: string
      readonly overSeconds: number
      readonly everySeconds: number
    }
  /** Reports nothing more, and answers when the server has taken everything. */
  | { readonly type: "finish"; readonly patienceSeconds: number }

/** The record of the agents' requests. */
export interface FleetResult {
  /** When each request began, in milliseconds since 1970. */
  readonly requests: ReadonlyArray<number>
  /** Results that each agent recorded. */
  readonly recorded: ReadonlyArray<number>
  /** Results that still wait. */
  readonly waiting: number
}

export const FLEET_CHECK_ID = "sequence"

/** Exit codes of results that follow each other, so that each is a change and shows its place. */
export const exitCodeOf = (place: number): number => place % 256
