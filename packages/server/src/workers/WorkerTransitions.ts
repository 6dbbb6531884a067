import type { Transition } from "@tocsin/contract/TransitionTable"

/** A worker: one of the processes that serve on one port (docs/scaling.md#several-cores). */
export const WorkerTransitions = [
  {
    from: "absent",
    trigger: "forked",
    condition: "the first one when the service starts, the others once the first one listens",
    to: "starting",
    effects: "",
  },
  {
    from: "starting",
    trigger: "listens",
    condition: "",
    to: "serving",
    effects: "once all have: the service has started",
  },
  {
    from: "starting",
    trigger: "ended",
    condition: "also if the system starts no process",
    to: "waiting",
    effects: "logged; before the first one has listened, the service ends with its exit code",
  },
  { from: "serving", trigger: "ended", condition: "", to: "waiting", effects: "logged" },
  {
    from: "starting",
    trigger: "fell_silent",
    condition: "no sign of life for 60 s",
    to: "starting",
    effects: "killed",
  },
  {
    from: "serving",
    trigger: "fell_silent",
    condition: "no sign of life for 60 s",
    to: "serving",
    effects: "killed",
  },
  {
    from: "waiting",
    trigger: "forked",
    condition: "after 1 s, doubled with each end before it listens, at most 30 s",
    to: "starting",
    effects: "",
  },
  {
    from: "starting",
    trigger: "stop_requested",
    condition: "",
    to: "stopping",
    effects: "gets the signal",
  },
  { from: "serving", trigger: "stop_requested", condition: "", to: "stopping", effects: "gets the signal" },
  { from: "waiting", trigger: "stop_requested", condition: "", to: "absent", effects: "" },
  {
    from: "stopping",
    trigger: "stop_requested",
    condition: "a second request",
    to: "stopping",
    effects: "gets the signal, and ends immediately",
  },
  {
    from: "stopping",
    trigger: "ended",
    condition: "",
    to: "absent",
    effects: "after the last one, the service ends: as failed if one of them did",
  },
] as const satisfies ReadonlyArray<Transition>
