import * as Instant from "@tocsin/contract/Instant"
import type { Place } from "@tocsin/core/engine/Line"
import { move, type Transition } from "@tocsin/contract/TransitionTable"
import type { Command } from "@tocsin/core/engine/workspace/Decision"
import type { Outcome } from "@tocsin/core/engine/workspace/Outcome"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import { StorageError, type StorageFailure } from "@tocsin/core/ports/Storage"
import { type Clock, Effect } from "effect"
import type { CommandScope } from "../cache/CommandScope.ts"
import { type SubmissionState, SubmissionTransitions } from "./SubmissionTransitions.ts"

/** The reply or failure of a command, with which its caller's fiber continues. */
export type Answer = Effect.Effect<unknown, StorageError>

/** A command and its caller; the same object in every state. */
export interface Caller {
  readonly command: Command<Outcome<unknown>>
  readonly clock: Clock.Clock
  readonly resume: (answer: Answer) => void
  /** Where its submission waits. */
  place: Place | undefined
}

/** What a submission has in each state besides its caller. */
interface Parts {
  readonly arrived: object
  readonly early: object
  readonly cached: { readonly scope: CommandScope; readonly outcome: Outcome<unknown> }
  /** `next` is what it will probably ask for after its first request; `undefined` if not known. */
  readonly locked: { readonly scope: CommandScope; readonly next: RowRequest | undefined }
  readonly alone: object
  /** An outcome is reported when its caller gets the reply, or would have got it. */
  readonly answered: { readonly answer: Answer | Outcome<unknown> }
}

/** A command on its way from `Storage.transact` to its reply, in one of some states. */
export type Submission<State extends SubmissionState = SubmissionState> = {
  [In in State]: { readonly state: In; readonly caller: Caller } & Parts[In]
}[State]

type Row = (typeof SubmissionTransitions)[number]
type Trigger<From> = Extract<Row, { readonly from: From }>["trigger"]
type To<From, By> = Extract<Row, { readonly from: From; readonly trigger: By }>["to"]

/** A new submission. */
export const submitted = (caller: Caller): Submission<"arrived"> => ({
  state: move(SubmissionTransitions, "absent", "submitted"),
  caller,
})

/** Without its types, which {@link moved} has checked. */
const rows: ReadonlyArray<Transition> = SubmissionTransitions

/** The submission in its next state, by the transition table, with the parts of that state. */
export const moved = <From extends Exclude<SubmissionState, "answered">, By extends Trigger<From>>(
  { caller, state }: { readonly state: From; readonly caller: Caller },
  trigger: By,
  parts: Parts[To<From, By>],
): Submission<To<From, By>> =>
  // The table names a state of this type, to which these parts belong.
  ({ ...parts, state: move(rows, state, trigger), caller }) as Submission<To<From, By>>

/** Reasons of all commands alike: each would fail again alone. */
const reasonsOfAll: ReadonlySet<StorageFailure> = new Set(["unavailable", "read_only", "full", "damaged"])

/** After a failure of its group: it tries alone unless that cannot help. */
export const groupFailed = (
  locked: Submission<"locked">,
  error: StorageError | undefined,
): Submission<"alone" | "answered"> =>
  error !== undefined && reasonsOfAll.has(error.reason)
    ? moved(locked, "failed", { answer: Effect.fail(error) })
    : moved(locked, "rolled_back", {})

const closed = Effect.fail(
  new StorageError({
    reason: "unavailable",
    message: "the storage is closed: send the request again once the service is running",
  }),
)

/** After the storage has closed. */
export const refused = (submission: Submission<"arrived" | "cached" | "locked">): Submission<"answered"> =>
  moved(submission, "refused", { answer: closed })

const NANOS_PER_MICRO = 1_000n

/** The moment of a decision, by the clock of its caller. */
export const momentOf = ({ caller: { clock } }: Submission): Instant.Instant =>
  Instant.fromMicros(clock.currentTimeNanosUnsafe() / NANOS_PER_MICRO)
