import { Redacted } from "effect"

const SHAPE = /^tocsin_[A-Za-z0-9_-]{43}$/

/** Whether a token has the shape of an operator's token. No agent registers with such a token. */
export const isOperatorToken = (token: Redacted.Redacted): boolean => SHAPE.test(Redacted.value(token))

/** The operator's token with this secret, which is 32 random bytes as base64url. */
export const operatorToken = (secret: string): Redacted.Redacted => Redacted.make(`tocsin_${secret}`)
