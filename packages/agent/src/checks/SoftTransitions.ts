import type { Transition } from "@tocsin/contract/TransitionTable"

/** When a result with `confirm` is reported: at `well` and `ill` it is, in between it is not. */
export const SoftTransitions = [
  {
    from: "well",
    trigger: "ok_arrived",
    condition: "a result is ok",
    to: "well",
    effects: "the result is reported",
  },
  {
    from: "well",
    trigger: "bad_arrived",
    condition: "a result is not ok, and `bad` is more than 1",
    to: "worsening",
    effects: "the check runs again after `confirm.every`",
  },
  {
    from: "well",
    trigger: "bad_confirmed",
    condition: "a result is not ok, and `bad` is 1",
    to: "ill",
    effects: "the result is reported",
  },
  {
    from: "worsening",
    trigger: "ok_arrived",
    condition: "a result is ok",
    to: "well",
    effects: "the result is reported",
  },
  {
    from: "worsening",
    trigger: "bad_arrived",
    condition: "a result is not ok, and fewer than `bad` in a row",
    to: "worsening",
    effects: "the check runs again after `confirm.every`",
  },
  {
    from: "worsening",
    trigger: "bad_confirmed",
    condition: "`bad` results in a row are not ok",
    to: "ill",
    effects: "the result is reported",
  },
  {
    from: "ill",
    trigger: "bad_arrived",
    condition: "a result is not ok, whichever status it has",
    to: "ill",
    effects: "the result is reported",
  },
  {
    from: "ill",
    trigger: "ok_arrived",
    condition: "a result is ok, and `good` is more than 1",
    to: "recovering",
    effects: "the check runs again after `confirm.every`",
  },
  {
    from: "ill",
    trigger: "ok_confirmed",
    condition: "a result is ok, and `good` is 1",
    to: "well",
    effects: "the result is reported",
  },
  {
    from: "recovering",
    trigger: "bad_arrived",
    condition: "a result is not ok",
    to: "ill",
    effects: "the result is reported",
  },
  {
    from: "recovering",
    trigger: "ok_arrived",
    condition: "a result is ok, and fewer than `good` in a row",
    to: "recovering",
    effects: "the check runs again after `confirm.every`",
  },
  {
    from: "recovering",
    trigger: "ok_confirmed",
    condition: "`good` results in a row are ok",
    to: "well",
    effects: "the result is reported",
  },
] as const satisfies ReadonlyArray<Transition>

export type SoftPlace = (typeof SoftTransitions)[number]["from"]
