import * as Instant from "@tocsin/core/contract/Instant"

/** What JSON lets pass but terminals act on: DEL and the C1 controls. */
const TERMINAL_CONTROLS = /[\u007f-\u009f]/g

const INDENT = 2

/**
 * A value as JSON for scripts, on one line; indented where a person looks at it. Resources come out in their wire form:
 * their fields have its names already, and what is a bigint in them is an instant.
 */
export const jsonText = (value: unknown, isForPerson = false): string =>
  JSON.stringify(
    value,
    (_, field: unknown) => (typeof field === "bigint" ? Instant.format(Instant.fromMicros(field)) : field),
    isForPerson ? INDENT : undefined,
  ).replace(TERMINAL_CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`)
