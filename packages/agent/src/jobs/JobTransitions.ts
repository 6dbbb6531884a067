import { stateTable } from "@tocsin/contract/TransitionTable"

/** A run of a job under `tocsin-agent run`. */
export const JobTransitions = stateTable({
  absent: {
    "called -> starting":
      "also where the arguments before `--` are wrong | signals wait for the job; a former run of the check that was lost is reported",
  },
  starting: {
    "left_out -> reported":
      "`--no-overlap` is given, and a former run of the check still runs | `warning`, exit code 75",
    "refused -> reported": "the system cannot start the command | the job's severity, exit code 126 or 127",
    "started -> running": "the job has a process, in its own session | its start is in the spool",
  },
  running: {
    "signalled -> running": "another signal that can be passed on arrives | passed on once",
    "asked_to_stop -> stopping":
      "SIGTERM, SIGINT, SIGQUIT or SIGHUP arrives | passed on once; the job takes the time that it needs",
    "time_passed -> timed_out": "the job runs for longer than `--timeout` | SIGTERM to all of its processes",
    "ended -> reported":
      "the job's process ends | `ok` with exit code 0, otherwise the job's severity; with `--nagios`, the status of the code",
    "lost -> reported":
      "`tocsin-agent run` itself is killed and the job is gone, or the host stops | the agent, or the next run of the check, reports the job's severity; exit code 255",
  },
  stopping: {
    "signalled -> stopping": "another signal that can be passed on arrives | passed on once",
    "asked_to_stop -> stopping": "SIGTERM, SIGINT, SIGQUIT or SIGHUP arrives again | passed on once",
    "time_passed -> timed_out": "the job runs for longer than `--timeout` | SIGTERM to all of its processes",
    "ended -> reported": "the job's process ends | as from running",
    "lost -> reported":
      "`tocsin-agent run` itself is killed and the job is gone, or the host stops | as from running",
  },
  timed_out: {
    "outlived -> killed": "a process of the job is left 5 s later | SIGKILL to all of its processes",
    "ended -> reported":
      "no process of the job is left | the job's severity, `unknown` with `--nagios`; exit code 124",
  },
  killed: {
    "ended -> reported": "no process of the job is left, or one survives SIGKILL for 5 s | as from timed out",
  },
})

export type JobPlace = (typeof JobTransitions)[number]["from" | "to"]
export type JobTrigger = (typeof JobTransitions)[number]["trigger"]
