import { stateTable } from "@tocsin/contract/TransitionTable"

/** Transitions of an idempotency key (docs/rules.md#acting-once). */
export const IdempotencyKeyTransitions = stateTable({
  absent: {
    "changed -> under_way": "the first transaction of the act that changes a row | the key is stored in it",
    "answered -> answered": "the act changed nothing | the answer is stored, unless the service failed",
  },
  under_way: {
    "answered -> answered": "the act has ended, and the service did not fail | the answer is stored",
    "expired -> absent": "24 h have passed, and the server ended before it answered",
  },
  answered: {
    "expired -> absent": "24 h have passed",
  },
})
