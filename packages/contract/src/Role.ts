import { Schema } from "effect"

/** What an operator may do. Each role includes the ones before it (docs/rules.md#operators). */
export const Role = Schema.Literals(["read", "respond", "admin"]).annotate({
  identifier: "Role",
  description: "What an operator may do. Each role includes the ones before it.",
})
export type Role = typeof Role.Type

/** Whether a role includes another. */
export const includesRole = (held: Role, needed: Role): boolean =>
  Role.literals.indexOf(held) >= Role.literals.indexOf(needed)
