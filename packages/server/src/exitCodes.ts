/** How a command can end, for scripts: `--help` prints this very table. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: "done" },
  failed: { code: 1, meaning: "failed, or the server could not start: the message says why" },
  usage: { code: 2, meaning: "the arguments or the settings are wrong" },
  not_found: { code: 3, meaning: "what was asked for by its id is not there" },
  storage: { code: 4, meaning: "the storage cannot be reached, read or written" },
  refused: { code: 5, meaning: "not done, because the state of things forbids it or nobody confirmed it" },
  attention: {
    code: 6,
    meaning:
      "it works, but something should be looked at: the doctor found it, or a server wrote to what was copied",
  },
  interrupted: { code: 130, meaning: "interrupted by a signal" },
} as const

/** A name of {@link EXIT_CODES}. */
export type ExitName = keyof typeof EXIT_CODES
