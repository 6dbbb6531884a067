/** How a command ends, for scripts. `--help` prints this table. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: "done" },
  failed: { code: 1, meaning: "failed, or the server could not start; see the message" },
  usage: { code: 2, meaning: "the arguments or the settings are wrong" },
  not_found: { code: 3, meaning: "no agent, incident, notification, operator or silence has this ID" },
  storage: { code: 4, meaning: "the storage is unreachable, or cannot be read or written" },
  refused: { code: 5, meaning: "refused: the current state forbids it, or it was not confirmed" },
  attention: {
    code: 6,
    meaning: "works, but needs attention: the doctor found something, or a server wrote during a copy",
  },
  interrupted: { code: 130, meaning: "interrupted by a signal" },
} as const

/** A name of {@link EXIT_CODES}. */
export type ExitName = keyof typeof EXIT_CODES
