import { EnrolmentId, isEnrolmentTokenText } from "@tocsin/contract/Enrolments"
import { Redacted } from "effect"
import type { Hashing } from "../ports/Hashing.ts"

/** Whether a token has the shape of an enrolment's token. */
export const isEnrolmentToken = (token: Redacted.Redacted): boolean =>
  isEnrolmentTokenText(Redacted.value(token))

/** The enrolment's token with this secret, which is 32 random bytes as base64url. */
export const enrolmentToken = (secret: string): Redacted.Redacted => Redacted.make(`enrol_${secret}`)

/** The ID of the enrolment of a token. The token cannot be derived from it. */
export const enrolmentIdOf = ({ identify, sha256 }: Hashing["Service"], token: Redacted.Redacted) =>
  EnrolmentId.make(sha256(`en1:${identify(token).key_hash}`).slice(0, 32))
