/** The numbers of the advisory locks that Tocsin takes until a transaction ends. Nothing else locks them. */
export const ADVISORY_LOCKS = {
  migrations: 7_243_197_000,
  registrations: 7_243_197_001,
  silenceCount: 7_243_197_002,
  reports: 7_243_197_003,
} as const
