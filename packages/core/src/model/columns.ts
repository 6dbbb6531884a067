import type { Column } from "./TableShape.ts"

/** The types of stored columns. */
export const text = { type: "text" } as const
export const uuid = { type: "uuid" } as const
export const instant = { type: "instant" } as const
export const integer = { type: "integer" } as const
export const long = { type: "long" } as const
export const boolean = { type: "boolean" } as const
export const object = { type: "object" } as const
export const array = { type: "array" } as const
export const uuids = { type: "uuids" } as const

/** A column that is `undefined` in records where it is NULL. */
export const orUndefined = <C extends Column>(column: C) => ({ ...column, whenNull: "undefined" as const })
/** A column that records lack where it is NULL. */
export const orAbsent = <C extends Column>(column: C) => ({ ...column, whenNull: "absent" as const })
/** A column that every heartbeat or unchanged result may change. */
export const moving = <C extends Column>(column: C) => ({ ...column, moves: true as const })
