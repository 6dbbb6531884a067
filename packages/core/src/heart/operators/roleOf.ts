import { Record, Redacted } from "effect"
import type { Hashing } from "../../kernel/ports/Hashing.ts"

/** The role of a token, or `undefined` for an unknown one. */
export type RoleOf<Role extends string> = (token: Redacted.Redacted) => Role | undefined

/** Compares digests in a time that does not depend on where they differ. */
const isSame = (a: string, b: string): boolean => {
  let difference = a.length ^ b.length
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at)
  return difference === 0
}

/**
 * Finds the role of a token. It always compares all digests, each in constant time, so that its
 * duration reveals nothing (docs/rules.md#tokens). A token with two roles has the last one. The
 * owner of the lists may change them: every call sees their current content.
 */
export const roleOf = <Role extends string>(
  sha256: Hashing["Service"]["sha256"],
  tokens: Readonly<Record<Role, ReadonlyArray<Redacted.Redacted>>>,
): RoleOf<Role> => {
  const digest = (token: Redacted.Redacted): string => sha256(Redacted.value(token))
  return (token) => {
    const presented = digest(token)
    let found: Role | undefined
    for (const [role, listed] of Record.toEntries(tokens))
      for (const one of listed) found = isSame(digest(one), presented) ? role : found
    return found
  }
}
