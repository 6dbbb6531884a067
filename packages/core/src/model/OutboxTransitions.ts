import type { Transition } from "@tocsin/contract/TransitionTable"

/** When a waiting item may be claimed. */
const CLAIMABLE = "due, and every earlier item of the same incident and receiver has ended"

/** Why deleting an agent discards a firing in each of these states. */
const AGENT_GONE = {
  pending:
    "a firing whose incident resolved because its last member's check or agent was deleted, or its agent blocked",
  retry:
    "a firing whose incident resolved because its last member's check or agent was deleted, or its agent blocked; also during the attempt that failed",
} as const

const discarded = <From extends "pending" | "retry">(from: From) =>
  [
    {
      from,
      trigger: "agent_gone",
      condition: AGENT_GONE[from],
      to: "discarded",
      effects: "none",
    },
    {
      from,
      trigger: "notifier_gone",
      condition:
        "no live replica has listed its receiver for 24 hours; where the receiver is a notifier by its own name, also untouched for 24 hours, counted from the end of an expired lease",
      to: "discarded",
      effects: "none",
    },
  ] as const

/** Transitions of an outbox item (docs/rules.md#delivery). */
export const OutboxTransitions = [
  {
    from: "absent",
    trigger: "enqueued",
    condition: "a move of its incident enqueues it, as the table of incidents states",
    to: "pending",
    effects: "written in the transaction of that change, due immediately",
  },
  {
    from: "pending",
    trigger: "claimed",
    condition: CLAIMABLE,
    to: "sending",
    effects: "attempts + 1; leased for 60 s by the storage's clock",
  },
  {
    from: "pending",
    trigger: "incident_resolved",
    condition:
      "a firing whose incident resolved before the first attempt; a replayed one had its first attempt",
    to: "discarded",
    effects: "none",
  },
  {
    from: "pending",
    trigger: "firing_refused",
    condition: "a resolved whose firings were all refused or discarded, so that the receiver has none",
    to: "discarded",
    effects: "none",
  },
  {
    from: "pending",
    trigger: "held",
    condition:
      "a firing that was never attempted and not released by hand, while a hold applies, as found when it is enqueued or claimed, or its incident is evaluated",
    to: "pending",
    effects: "no next attempt; evaluated again at the end of the hold, and every 5 minutes in any case",
  },
  {
    from: "pending",
    trigger: "hold_ended",
    condition: "the held firing of its open incident and receiver, when an evaluation finds no hold any more",
    to: "pending",
    effects:
      "due immediately with the incident's present severity and summary; age starts again; the cause by what its receiver knows",
  },
  {
    from: "pending",
    trigger: "released",
    condition: "an operator releases it: a held firing of an open incident",
    to: "pending",
    effects:
      "due immediately with the incident's present severity and summary; age starts again; cause as when a hold ends; nothing holds it any more",
  },
  {
    from: "pending",
    trigger: "coalesced",
    condition:
      "a held firing, when another one of the same incident and receiver states what it would, or no route names the receiver of a reminder any more",
    to: "discarded",
    effects: "none",
  },
  ...discarded("pending"),
  {
    from: "sending",
    trigger: "delivered",
    condition: "the receiver answered 2xx",
    to: "sent",
    effects: "none",
  },
  {
    from: "sending",
    trigger: "shadowed",
    condition: "its receiver has shadow: true",
    to: "discarded",
    effects: "none; every other rule takes it for sent",
  },
  {
    from: "sending",
    trigger: "deferred",
    condition:
      "network error, time-out, 408, 425, 429, 5xx or an expired lease, with attempts < 14 and age < 24 h",
    to: "retry",
    effects: "next_attempt_at by the retry schedule, or later if Retry-After asks for it",
  },
  {
    from: "sending",
    trigger: "refused",
    condition: "any other status, or the bounds on attempts and age",
    to: "failed",
    effects: "kept as a dead letter until replayed or aged out; a refused firing counts as not received",
  },
  {
    from: "sending",
    trigger: "withdrawn",
    condition:
      "its attempt has not begun when the service stops, or 5 s after the claim, less with a lease below 20 s; or the receiver refused its digest",
    to: "pending",
    effects: "attempts as before the claim; due since before the claim",
  },
  {
    from: "retry",
    trigger: "claimed",
    condition: CLAIMABLE,
    to: "sending",
    effects: "attempts + 1; leased for 60 s by the storage's clock",
  },
  ...discarded("retry"),
  {
    from: "failed",
    trigger: "replayed",
    condition: "an operator replays it; not a firing of a resolved incident",
    to: "pending",
    effects: "attempts 0, age starts again, same id",
  },
] as const satisfies ReadonlyArray<Transition>
