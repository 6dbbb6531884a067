import type { Transition } from "@tocsin/contract/TransitionTable"

/** What becomes of a report of an agent inside a program. The server's answer decides most moves. */
export const ReportTransitions = [
  {
    from: "absent",
    trigger: "reported",
    condition: "the agent is open",
    to: "queued",
    effects: "it gets its event ID, which it keeps",
  },
  {
    from: "queued",
    trigger: "superseded",
    condition: "it repeats the result before it, and a new one repeats it",
    to: "absent",
    effects: "none: the server stores only changes",
  },
  {
    from: "queued",
    trigger: "crowded out",
    condition: "more than 1,000 wait, and it is the oldest repeat, or the oldest where none is one",
    to: "dropped",
    effects: "counted",
  },
  {
    from: "queued",
    trigger: "sent",
    condition: "the key is accepted or unknown, and the report is among the oldest that fit in a batch",
    to: "in_flight",
    effects: "its time is fixed",
  },
  {
    from: "queued",
    trigger: "given up",
    condition: "the agent closes, and 5 s have passed or the server takes nothing",
    to: "dropped",
    effects: "counted",
  },
  {
    from: "in_flight",
    trigger: "taken",
    condition: "202",
    to: "delivered",
    effects: "counted",
  },
  {
    from: "in_flight",
    trigger: "refused",
    condition: "400 or 413, and it is alone in its batch",
    to: "rejected",
    effects: "counted and logged",
  },
  {
    from: "in_flight",
    trigger: "put back",
    condition: "any other answer, or none",
    to: "queued",
    effects: "none",
  },
  {
    from: "in_flight",
    trigger: "given up",
    condition: "the agent closes, and 5 s have passed",
    to: "dropped",
    effects: "counted, although the server may have taken it",
  },
] as const satisfies ReadonlyArray<Transition>

/** A state of a report. */
export type ReportState = (typeof ReportTransitions)[number]["to"]
