import { pathOfPointer, valueAt } from "@tocsin/contract/formats/jsonPointer"
import { Role } from "@tocsin/contract/operators/Operators"
import type { SignInRefusal } from "@tocsin/contract/signIn/SignInRefusals"
import type { Claims, SignInRules } from "./IdentityProvider.ts"
import { hasName } from "./actorName.ts"

const EVERYONE = "*"

const pathOf = (claim: string): ReadonlyArray<string> =>
  claim.startsWith("/") ? pathOfPointer(claim) : [claim]

/**
 * The texts of a claim: a text or a truth value counts as one, and an object as its keys, as Zitadel states roles.
 * `undefined` if it is absent, or has another type.
 */
const valuesOf = (claims: Claims, claim: string): ReadonlyArray<string> | undefined => {
  const value = valueAt(claims, pathOf(claim))
  const values: unknown = typeof value === "string" || typeof value === "boolean" ? [String(value)] : value
  if (Array.isArray(values)) return values.filter((one) => typeof one === "string")
  return typeof values === "object" && values !== null ? Object.keys(values) : undefined
}

/** How the first claims that have it state a claim without a text. */
const otherType = (all: ReadonlyArray<Claims>, claim: string): string | undefined => {
  const stated = all.map((claims) => valueAt(claims, pathOf(claim))).find((value) => value !== undefined)
  if (Array.isArray(stated) && stated.length > 0) return "a list without texts"
  return stated === null ? "null" : typeof stated === "number" ? "a number" : undefined
}

const firstValues = (all: ReadonlyArray<Claims>, claim: string) =>
  all.map((claims) => valuesOf(claims, claim)).find((values) => values !== undefined)

/** Whether the ID token leaves out the values and says where they would be (OpenID Connect Core, 5.6.2). */
const isOverage = (all: ReadonlyArray<Claims>, claim: string): boolean =>
  all.some((claims) => valueAt(claims["_claim_names"], pathOf(claim).slice(0, 1)) !== undefined)

export type RoleDecision =
  | { readonly role: Role }
  | {
      readonly refusal: SignInRefusal & ("overage" | "requirement" | "role")
      /** The values of the claim instead. */
      readonly values: ReadonlyArray<string> | undefined
      /** The type of the claim, where it has no text. */
      readonly type?: string
    }

const refused = (
  refusal: "requirement" | "role",
  all: ReadonlyArray<Claims>,
  claim: string,
): RoleDecision => {
  const values = firstValues(all, claim)
  const type = (values ?? []).length === 0 ? otherType(all, claim) : undefined
  return { refusal, values, ...(type !== undefined && { type }) }
}

/** The role of a person by the claims of the ID token and, after it, of userinfo. The highest one counts. */
export const decideRole = (rules: SignInRules, all: ReadonlyArray<Claims>): RoleDecision => {
  const { claim, required, values } = rules
  if (required !== undefined && firstValues(all, required.claim)?.includes(required.value) !== true)
    return refused("requirement", all, required.claim)
  if (isOverage(all, claim)) return { refusal: "overage", values: undefined }
  const found = firstValues(all, claim)
  const role = Role.literals.findLast((each) =>
    values[each].some((value) => value === EVERYONE || found?.includes(value) === true),
  )
  return role === undefined ? refused("role", all, claim) : { role }
}

/** Whether the ID token says all that a sign-in needs, so that userinfo is not asked. */
export const isComplete = ({ claim, required }: SignInRules, claims: Claims): boolean =>
  hasName(claims) &&
  [claim, ...(required === undefined ? [] : [required.claim])].every(
    (name) => valuesOf(claims, name) !== undefined,
  )
