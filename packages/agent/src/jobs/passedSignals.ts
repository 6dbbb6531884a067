import { constants } from "node:os"

/** The meaning of a signal for a job, and the processes that get it. */
export interface PassedSignal {
  readonly name: NodeJS.Signals
  readonly trigger: "asked_to_stop" | "signalled"
  /** `all` of them, where a terminal sends it to all; otherwise the job's first. */
  readonly to: "all" | "first"
}

/**
 * The signals that Node.js can receive and whose default is to end a process, and three that a terminal
 * sends. Not here: SIGKILL and SIGSTOP, signals of faults such as SIGSEGV, and real-time signals.
 */
export const passedSignals: ReadonlyArray<PassedSignal> = (
  [
    { name: "SIGHUP", trigger: "asked_to_stop", to: "all" },
    { name: "SIGINT", trigger: "asked_to_stop", to: "all" },
    { name: "SIGQUIT", trigger: "asked_to_stop", to: "all" },
    { name: "SIGTERM", trigger: "asked_to_stop", to: "first" },
    { name: "SIGCONT", trigger: "signalled", to: "all" },
    { name: "SIGWINCH", trigger: "signalled", to: "all" },
    { name: "SIGABRT", trigger: "signalled", to: "first" },
    { name: "SIGALRM", trigger: "signalled", to: "first" },
    { name: "SIGIO", trigger: "signalled", to: "first" },
    { name: "SIGPROF", trigger: "signalled", to: "first" },
    { name: "SIGPWR", trigger: "signalled", to: "first" },
    { name: "SIGSTKFLT", trigger: "signalled", to: "first" },
    { name: "SIGSYS", trigger: "signalled", to: "first" },
    { name: "SIGTRAP", trigger: "signalled", to: "first" },
    { name: "SIGUSR1", trigger: "signalled", to: "first" },
    { name: "SIGUSR2", trigger: "signalled", to: "first" },
    { name: "SIGVTALRM", trigger: "signalled", to: "first" },
    { name: "SIGXCPU", trigger: "signalled", to: "first" },
    { name: "SIGXFSZ", trigger: "signalled", to: "first" },
  ] as const
).filter(({ name }) => name in constants.signals)
