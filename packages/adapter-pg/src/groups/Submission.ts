import * as Instant from "@tocsin/core/contract/Instant"
import { StorageError, type StorageFailure } from "@tocsin/core/ports/Storage"
import { move } from "@tocsin/core/engine/TransitionTable"
import type { Command } from "@tocsin/core/engine/workspace/Decision"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import { type Clock, Effect } from "effect"
import type { CommandScope } from "../cache/CommandScope.ts"
import { type SubmissionState, SubmissionTransitions } from "./SubmissionTransitions.ts"

/** The outcome of a command, for its caller's fiber to continue with. */
export type Answer = Effect.Effect<unknown, StorageError>

/** A command and its caller; the same object in every state. */
export interface Caller {
  readonly command: Command<unknown>
  readonly clock: Clock.Clock
  readonly resume: (answer: Answer) => void
}

interface In<State extends SubmissionState> {
  readonly state: State
  readonly caller: Caller
}

export type Arrived = In<"arrived">
export type Early = In<"early">

/** Decided on cached rows, and not written yet. */
export interface Cached extends In<"cached"> {
  readonly scope: CommandScope
  readonly reply: unknown
}

/** To be decided on locked rows. */
export interface Locked extends In<"locked"> {
  readonly scope: CommandScope
  /** What it will probably ask for next; `undefined` if nobody knows yet. */
  readonly next: RowRequest | undefined
}

export type Alone = In<"alone">

export interface Answered extends In<"answered"> {
  readonly answer: Answer
}

/** A command on its way from `Storage.transact` to its reply; see {@link SubmissionTransitions}. */
export type Submission = Arrived | Early | Cached | Locked | Alone | Answered

const table = SubmissionTransitions

const NANOS_PER_MICRO = 1_000n

/** Says nothing about a command: its neighbours, and itself alone, would fail for the same reason. */
const reasonsOfAll: ReadonlySet<StorageFailure> = new Set(["unavailable", "read_only", "full", "damaged"])

const closed = Effect.fail(
  new StorageError({
    reason: "unavailable",
    message: "the storage is closed: send the request again once the service is running",
  }),
)

export const submitted = (caller: Caller): Arrived => ({
  state: move(table, "absent", "submitted"),
  caller,
})

export const decided = (
  { caller, state }: Arrived,
  { reply, scope }: Pick<Cached, "reply" | "scope">,
): Cached => ({ state: move(table, state, "decided"), caller, reply, scope })

export const foundEarly = ({ caller, state }: Arrived): Early => ({
  state: move(table, state, "found_early"),
  caller,
})

export const sentToLock = (
  { caller, state }: Arrived,
  { next, scope }: Pick<Locked, "next" | "scope">,
): Locked => ({ state: move(table, state, "sent_to_lock"), caller, scope, next })

export const setApart = ({ caller, state }: Arrived): Alone => ({
  state: move(table, state, "set_apart"),
  caller,
})

export const recalled = ({ caller, state }: Early): Arrived => ({
  state: move(table, state, "recalled"),
  caller,
})

export const verified = ({ caller, reply, state }: Cached): Answered => ({
  state: move(table, state, "verified"),
  caller,
  answer: Effect.succeed(reply),
})

export const unverified = (
  { caller, scope, state }: Cached,
  trigger: "found_stale" | "unwritten",
): Locked => ({ state: move(table, state, trigger), caller, scope, next: undefined })

export const committed = ({ caller, state }: Locked, reply: unknown): Answered => ({
  state: move(table, state, "committed"),
  caller,
  answer: Effect.succeed(reply),
})

export const leftOut = ({ caller, state }: Locked): Alone => ({
  state: move(table, state, "left_out"),
  caller,
})

/** After its group failed: it tries alone, unless that cannot help. */
export const failed = ({ caller, state }: Locked, error: StorageError | undefined): Alone | Answered =>
  error !== undefined && reasonsOfAll.has(error.reason)
    ? { state: move(table, state, "failed"), caller, answer: Effect.fail(error) }
    : { state: move(table, state, "rolled_back"), caller }

/** `answer` runs the command in a transaction of its own, in its caller's fiber. */
export const ended = ({ caller, state }: Alone, answer: Answer): Answered => ({
  state: move(table, state, "ended"),
  caller,
  answer,
})

/** The storage has closed. */
export const refused = ({ caller, state }: Arrived | Cached | Locked): Answered => ({
  state: move(table, state, "refused"),
  caller,
  answer: closed,
})

/** The moment of a decision, by the clock of its caller. */
export const momentOf = ({ caller: { clock } }: Submission): Instant.Instant =>
  Instant.fromMicros(clock.currentTimeNanosUnsafe() / NANOS_PER_MICRO)
