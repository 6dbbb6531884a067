import type { Transition } from "@tocsin/contract/TransitionTable"

/** A run of a job under `tocsin-agent run`. */
export const JobTransitions = [
  {
    from: "absent",
    trigger: "called",
    condition: "also where the arguments before `--` are wrong",
    to: "starting",
    effects: "signals wait for the job; a former run of the check that was lost is reported",
  },
  {
    from: "starting",
    trigger: "left_out",
    condition: "`--no-overlap` is given, and a former run of the check still runs",
    to: "reported",
    effects: "`warning`, exit code 75",
  },
  {
    from: "starting",
    trigger: "refused",
    condition: "the system cannot start the command",
    to: "reported",
    effects: "the job's severity, exit code 126 or 127",
  },
  {
    from: "starting",
    trigger: "started",
    condition: "the job has a process, in its own session",
    to: "running",
    effects: "its start is in the spool",
  },
  {
    from: "running",
    trigger: "signalled",
    condition: "another signal that can be passed on arrives",
    to: "running",
    effects: "passed on once",
  },
  {
    from: "running",
    trigger: "asked_to_stop",
    condition: "SIGTERM, SIGINT, SIGQUIT or SIGHUP arrives",
    to: "stopping",
    effects: "passed on once; the job takes the time that it needs",
  },
  {
    from: "running",
    trigger: "time_passed",
    condition: "the job runs for longer than `--timeout`",
    to: "timed_out",
    effects: "SIGTERM to all of its processes",
  },
  {
    from: "running",
    trigger: "ended",
    condition: "the job's process ends",
    to: "reported",
    effects: "`ok` with exit code 0, otherwise the job's severity; with `--nagios`, the status of the code",
  },
  {
    from: "running",
    trigger: "lost",
    condition: "`tocsin-agent run` itself is killed and the job is gone, or the host stops",
    to: "reported",
    effects: "the agent, or the next run of the check, reports the job's severity; exit code 255",
  },
  {
    from: "stopping",
    trigger: "signalled",
    condition: "another signal that can be passed on arrives",
    to: "stopping",
    effects: "passed on once",
  },
  {
    from: "stopping",
    trigger: "asked_to_stop",
    condition: "SIGTERM, SIGINT, SIGQUIT or SIGHUP arrives again",
    to: "stopping",
    effects: "passed on once",
  },
  {
    from: "stopping",
    trigger: "time_passed",
    condition: "the job runs for longer than `--timeout`",
    to: "timed_out",
    effects: "SIGTERM to all of its processes",
  },
  {
    from: "stopping",
    trigger: "ended",
    condition: "the job's process ends",
    to: "reported",
    effects: "as from running",
  },
  {
    from: "stopping",
    trigger: "lost",
    condition: "`tocsin-agent run` itself is killed and the job is gone, or the host stops",
    to: "reported",
    effects: "as from running",
  },
  {
    from: "timed_out",
    trigger: "outlived",
    condition: "a process of the job is left 5 s later",
    to: "killed",
    effects: "SIGKILL to all of its processes",
  },
  {
    from: "timed_out",
    trigger: "ended",
    condition: "no process of the job is left",
    to: "reported",
    effects: "the job's severity, `unknown` with `--nagios`; exit code 124",
  },
  {
    from: "killed",
    trigger: "ended",
    condition: "no process of the job is left, or one survives SIGKILL for 5 s",
    to: "reported",
    effects: "as from timed out",
  },
] as const satisfies ReadonlyArray<Transition>

export type JobPlace = (typeof JobTransitions)[number]["from" | "to"]
export type JobTrigger = (typeof JobTransitions)[number]["trigger"]
