import { Redacted } from "effect"

const SHAPE = /^in_[A-Za-z0-9_-]{43}$/

/** Whether a token has the shape of an integration's key. No agent registers with such a token. */
export const isIntegrationKey = (token: Redacted.Redacted): boolean => SHAPE.test(Redacted.value(token))

/** The integration's key with this secret, which is 32 random bytes as base64url. */
export const integrationKey = (secret: string): Redacted.Redacted => Redacted.make(`in_${secret}`)
