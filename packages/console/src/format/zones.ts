/** The zone of the computer, in which the browser reads a time that is typed. */
export const { timeZone: ZONE } = new Intl.DateTimeFormat().resolvedOptions()

export const ZONES = Array.from(
  new Set(["UTC", ZONE, ...Intl.supportedValuesOf("timeZone")]),
  (zone) => [zone] as const,
)
