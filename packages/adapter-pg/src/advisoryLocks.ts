/** The numbers of the advisory locks that Tocsin takes until a transaction ends. Nothing else locks them. */
export const ADVISORY_LOCKS = {
  migrations: 7_243_197_000,
  registrations: 7_243_197_001,
  silenceCount: 7_243_197_002,
  /** With a hash of the group, in PostgreSQL's space of two numbers. */
  groups: 724_319_703,
} as const
