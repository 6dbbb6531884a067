import { assert, it } from "@effect/vitest"
import type { Receiver } from "@tocsin/contract/receivers/Receiver"
import { Redacted } from "effect"
import { addressHint } from "../src/policyReceivers.ts"

const mails = { kind: "messenger", type: "email" } as const
const SECRET = Redacted.make("https://user:word@chat.example:8443/hooks/s3cret?token=t")

it.each<
  readonly [name: string, receiver: Receiver, url: Redacted.Redacted | undefined, hint: string | undefined]
>([
  ["three characters and the domain", { ...mails, to: "annika@example.org" }, SECRET, "ann…@example.org"],
  ["no more than there is", { ...mails, to: "a@example.org" }, SECRET, "a…@example.org"],
  [
    "the first of several",
    { ...mails, to: ["anna@example.org", "bob@x.org"] },
    SECRET,
    "ann…@example.org and 1 more",
  ],
  [
    "the host of an address, without its secrets",
    { kind: "webhook", url_env: "URL" },
    SECRET,
    "chat.example:8443",
  ],
  ["nothing without an address", { kind: "debug" }, undefined, undefined],
  ["nothing of what is no address", { kind: "webhook", url_env: "URL" }, Redacted.make("s3cret"), undefined],
])("the hint of a receiver's address has %s", (_, receiver, url, hint) => {
  assert.strictEqual(addressHint(receiver, { url }), hint)
})
