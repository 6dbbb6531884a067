import type { Transition } from "@tocsin/contract/TransitionTable"

/** Moves of a command from `Storage.transact` to the reply of its caller. */
export const SubmissionTransitions = [
  {
    from: "absent",
    trigger: "submitted",
    condition: "a caller runs a command",
    to: "arrived",
    effects: "none",
  },
  {
    from: "arrived",
    trigger: "decided",
    condition: "its rows are cached, and it changes only columns that the verifying statement writes",
    to: "cached",
    effects: "later commands of the group see its rows",
  },
  {
    from: "arrived",
    trigger: "found_early",
    condition: "an earlier group is writing its agent",
    to: "early",
    effects: "none",
  },
  {
    from: "arrived",
    trigger: "sent_to_lock",
    condition: "a row is not cached, it asks for more or changes more, or it starts with outbox items",
    to: "locked",
    effects: "what it asks for next is noted, if cached rows show it",
  },
  {
    from: "arrived",
    trigger: "set_apart",
    condition:
      "it searches, starts with neither one agent nor outbox items, asks next for what a group must not lock, or throws",
    to: "alone",
    effects: "none",
  },
  {
    from: "early",
    trigger: "recalled",
    condition: "a cached group has ended, or the storage has closed",
    to: "arrived",
    effects: "it goes before those that arrived later",
  },
  {
    from: "cached",
    trigger: "verified",
    condition: "the statement found its agent unchanged, and has committed",
    to: "answered",
    effects: "the cache has the new rows",
  },
  {
    from: "cached",
    trigger: "found_stale",
    condition: "another transaction changed its agent, or holds it",
    to: "locked",
    effects: "the cache drops the agent",
  },
  {
    from: "cached",
    trigger: "unwritten",
    condition: "the statement failed, or its answer was lost",
    to: "locked",
    effects: "the cache drops the agent",
  },
  {
    from: "locked",
    trigger: "committed",
    condition: "its group has committed",
    to: "answered",
    effects: "the cache has the rows that were loaded and written",
  },
  {
    from: "locked",
    trigger: "left_out",
    condition:
      "its agent is absent or held by another transaction, or it asks for what a group must not lock, or a trial of it throws",
    to: "alone",
    effects: "none",
  },
  {
    from: "locked",
    trigger: "rolled_back",
    condition: "its group failed for a reason that may be one member's",
    to: "alone",
    effects: "none",
  },
  {
    from: "locked",
    trigger: "failed",
    condition: "the database is unreachable, read-only, full or damaged",
    to: "answered",
    effects: "none",
  },
  {
    from: "alone",
    trigger: "ended",
    condition: "its own transaction has ended",
    to: "answered",
    effects: "none",
  },
  {
    from: "arrived",
    trigger: "refused",
    condition: "the storage is closed",
    to: "answered",
    effects: "none",
  },
  {
    from: "cached",
    trigger: "refused",
    condition: "as above",
    to: "answered",
    effects: "none",
  },
  {
    from: "locked",
    trigger: "refused",
    condition: "as above",
    to: "answered",
    effects: "none",
  },
] as const satisfies ReadonlyArray<Transition>

/** Where a command is on its way. */
export type SubmissionState = Exclude<(typeof SubmissionTransitions)[number]["to"], "absent">

interface Place {
  /** The file whose code holds it and moves it on. */
  readonly owner: string
  /** Where it is meanwhile. */
  readonly waits: string
}

/** Who owns a command in each state. */
export const SubmissionPlaces: { readonly [State in SubmissionState]: Place } = {
  arrived: { owner: "groups/GroupCommit", waits: "in the lane of arrivals, two groups at a time" },
  early: { owner: "groups/GroupCommit", waits: "until a cached group has ended" },
  cached: { owner: "groups/CachedGroup", waits: "for the verifying statement" },
  locked: {
    owner: "groups/lockedGroup",
    waits: "in a lane chosen by a hash of the agent's id, or in the lane of the outbox",
  },
  alone: { owner: "transactions/transactAlone", waits: "in its caller's fiber" },
  answered: { owner: "the caller", waits: "no longer" },
}
