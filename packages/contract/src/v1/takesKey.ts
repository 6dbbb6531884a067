/**
 * Whether a call of the API is an act with an `Idempotency-Key` (docs/rules.md#acting-once). A test or a
 * trial is none: repeated, its target gets another message.
 */
export const takesKey = (method: string, path: string): boolean =>
  method !== "GET" && /^\/?ops\/v1\/.*(?<!\/test|\/try)$/.test(path)
