import { stateTable } from "@tocsin/contract/TransitionTable"

/** When a result with `confirm` is reported: at `well` and `ill` it is, in between it is not. */
export const SoftTransitions = stateTable({
  well: {
    "ok_arrived -> well": "a result is ok | the result is reported",
    "bad_arrived -> worsening":
      "a result is not ok, and `bad` is more than 1 | the check runs again after `confirm.every`",
    "bad_confirmed -> ill": "a result is not ok, and `bad` is 1 | the result is reported",
  },
  worsening: {
    "ok_arrived -> well": "a result is ok | the result is reported",
    "bad_arrived -> worsening":
      "a result is not ok, and fewer than `bad` in a row | the check runs again after `confirm.every`",
    "bad_confirmed -> ill": "`bad` results in a row are not ok | the result is reported",
  },
  ill: {
    "bad_arrived -> ill": "a result is not ok, whichever status it has | the result is reported",
    "ok_arrived -> recovering":
      "a result is ok, and `good` is more than 1 | the check runs again after `confirm.every`",
    "ok_confirmed -> well": "a result is ok, and `good` is 1 | the result is reported",
  },
  recovering: {
    "bad_arrived -> ill": "a result is not ok | the result is reported",
    "ok_arrived -> recovering":
      "a result is ok, and fewer than `good` in a row | the check runs again after `confirm.every`",
    "ok_confirmed -> well": "`good` results in a row are ok | the result is reported",
  },
})

export type SoftPlace = (typeof SoftTransitions)[number]["from"]
