/** A moment of the walk, by the agents' clocks. */
export const at = (seconds: number): string => `2026-03-01T12:00:${String(seconds).padStart(2, "0")}.000Z`

/** The fields of a broken check's event. */
export const critical = { status: "critical", exit_code: 2, output: "first line\nsecond line" }
