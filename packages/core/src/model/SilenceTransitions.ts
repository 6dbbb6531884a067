import { stateTable } from "@tocsin/contract/TransitionTable"

/** Transitions of a silence (docs/rules.md#silences). Its times are stored, its state is computed. */
export const SilenceTransitions = stateTable({
  absent: {
    "created -> active":
      "an operator creates it, to start now | firings not yet attempted are held while it covers their incidents",
    "scheduled -> scheduled": "an operator creates it, to start later",
  },
  scheduled: {
    "started -> active":
      "its start has come | firings not yet attempted are held while it covers their incidents",
    "edited -> scheduled":
      "an operator sets another end, after its start and in the future, or another comment",
    "expired_by_hand -> expired": "an operator deletes it",
  },
  active: {
    "edited -> active": "as above | its holds end with it",
    "expired_by_hand -> expired": "as above | its holds end",
    "ended -> expired": "its end has come | its holds end; two minutes after an outage in which it ended",
  },
  expired: {
    "removed -> absent": "retention removes it",
  },
})
