import { describe, it } from "@effect/vitest"
import { alertRouter, slack, telegram, webhook } from "tocsin"
import { notifierSuite } from "tocsin/testing"

const runner = { describe, it }

notifierSuite(runner, { name: "slack", make: (address) => slack({ url: address }) })
notifierSuite(runner, {
  name: "telegram",
  make: (address) => telegram({ token: "123:abc", chat: "1", apiUrl: address }),
})
notifierSuite(runner, { name: "alertRouter", make: (address) => alertRouter({ url: address }) })
notifierSuite(runner, {
  name: "webhook under another name",
  make: (address) =>
    webhook({ name: "billing", url: address, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }),
})
