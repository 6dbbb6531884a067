import type { Transition } from "@tocsin/contract/TransitionTable"

/** Transitions of a silence (docs/rules.md#silences). Its times are stored, its state is computed. */
export const SilenceTransitions = [
  {
    from: "absent",
    trigger: "created",
    condition: "an operator creates it, to start now",
    to: "active",
    effects: "firings not yet attempted are held while it covers their incidents",
  },
  {
    from: "absent",
    trigger: "scheduled",
    condition: "an operator creates it, to start later",
    to: "scheduled",
    effects: "none",
  },
  {
    from: "scheduled",
    trigger: "started",
    condition: "its start has come",
    to: "active",
    effects: "firings not yet attempted are held while it covers their incidents",
  },
  {
    from: "scheduled",
    trigger: "edited",
    condition: "an operator sets another end, after its start and in the future, or another comment",
    to: "scheduled",
    effects: "none",
  },
  {
    from: "active",
    trigger: "edited",
    condition: "as above",
    to: "active",
    effects: "its holds end with it",
  },
  {
    from: "scheduled",
    trigger: "expired_by_hand",
    condition: "an operator deletes it",
    to: "expired",
    effects: "none",
  },
  {
    from: "active",
    trigger: "expired_by_hand",
    condition: "as above",
    to: "expired",
    effects: "its holds end",
  },
  {
    from: "active",
    trigger: "ended",
    condition: "its end has come",
    to: "expired",
    effects: "its holds end; two minutes after an outage in which it ended",
  },
  {
    from: "expired",
    trigger: "removed",
    condition: "retention removes it",
    to: "absent",
    effects: "none",
  },
] as const satisfies ReadonlyArray<Transition>
