import { fieldsOf } from "@tocsin/reporting/agent/Answer"
import type { CheckState } from "@tocsin/reporting/agent/ResultQueue"
import { savedNote } from "../spool/savedNote.ts"

/** The note by which a restarted agent knows which checks the configuration has lost. */
export const CONFIGURED_NOTE = "configured_checks"

/** The note after `saved`: each check that was ever configured, with when it was removed, or null. */
export const configuredNote = (
  saved: string | undefined,
  checks: ReadonlyMap<string, unknown>,
  now: number,
): string => {
  const known = Object.entries(fieldsOf(savedNote(saved))).map(([id, at]) => [id, at ?? now] as const)
  const present = Array.from(checks.keys(), (id) => [id, null] as const)
  return JSON.stringify(Object.fromEntries([...known, ...present]))
}

/** The states without those of removed checks; a job may still report to one, and counts from then on. */
export const withoutRemoved = (
  states: ReadonlyMap<string, CheckState>,
  saved: string | undefined,
): ReadonlyMap<string, CheckState> => {
  const removed = new Map(Object.entries(fieldsOf(savedNote(saved))))
  return new Map(
    [...states].filter(([id, { observedAt }]) => {
      const at = removed.get(id)
      return typeof at !== "number" || observedAt > at
    }),
  )
}
