import { stateTable } from "@tocsin/contract/TransitionTable"

const CLAIMED =
  "due, and every earlier item of the same incident and receiver has ended | attempts + 1; leased for 60 s by the storage's clock"
const AGENT_GONE =
  "a firing whose incident resolved because its last member's check or agent was deleted, or its agent blocked"
const NOTIFIER_GONE =
  "no live replica has listed its receiver for 24 hours; where the receiver is a notifier by its own name, also untouched for 24 hours, counted from the end of an expired lease"

/** Transitions of an outbox item (docs/rules.md#delivery). */
export const OutboxTransitions = stateTable({
  absent: {
    "enqueued -> pending":
      "a move of its incident enqueues it, as the table of incidents states | written in the transaction of that change, due immediately",
  },
  pending: {
    "claimed -> sending": CLAIMED,
    "incident_resolved -> discarded":
      "a firing whose incident resolved before the first attempt; a replayed one had its first attempt",
    "firing_refused -> discarded":
      "a resolved whose firings were all refused or discarded, so that the receiver has none",
    "held -> pending":
      "a firing that was never attempted and not released by hand, while a hold applies, as found when it is enqueued or claimed, or its incident is evaluated | no next attempt; evaluated again at the end of the hold, and every 5 minutes in any case",
    "hold_ended -> pending":
      "the held firing of its open incident and receiver, when an evaluation finds no hold any more | due immediately with the incident's present severity and summary; age starts again; the cause by what its receiver knows",
    "released -> pending":
      "an operator releases it: a held firing of an open incident | due immediately with the incident's present severity and summary; age starts again; cause as when a hold ends; nothing holds it any more",
    "coalesced -> discarded":
      "a held firing, when another one of the same incident and receiver states what it would, or no route names the receiver of a reminder any more",
    "agent_gone -> discarded": AGENT_GONE,
    "notifier_gone -> discarded": NOTIFIER_GONE,
  },
  sending: {
    "delivered -> sent": "the receiver answered 2xx",
    "shadowed -> discarded": "its receiver has shadow: true | none; every other rule takes it for sent",
    "deferred -> retry":
      "network error, time-out, 408, 425, 429, 5xx or an expired lease, with attempts < 14 and age < 24 h | next_attempt_at by the retry schedule, or later if Retry-After asks for it",
    "refused -> failed":
      "any other status, or the bounds on attempts and age | kept as a dead letter until replayed or aged out; a refused firing counts as not received",
    "withdrawn -> pending":
      "its attempt has not begun when the service stops, or 5 s after the claim, less with a lease below 20 s; or the receiver refused its digest | attempts as before the claim; due since before the claim",
  },
  retry: {
    "claimed -> sending": CLAIMED,
    "agent_gone -> discarded": `${AGENT_GONE}; also during the attempt that failed`,
    "notifier_gone -> discarded": NOTIFIER_GONE,
  },
  failed: {
    "replayed -> pending":
      "an operator replays it; not a firing of a resolved incident | attempts 0, age starts again, same id",
  },
})
