import { isSecretLikeLabelKey } from "@tocsin/contract/labels/isSecretLikeLabelKey"
import {
  decodeEventBatchRequest,
  decodeExpectationsRequest,
  decodeHeartbeatRequest,
} from "@tocsin/contract/v1/decodeRequest"
import { compileGlob } from "@tocsin/contract/formats/compileGlob"
import { clientAddress } from "@tocsin/adapter-http/request/clientAddress"
import { inboundRequestId } from "@tocsin/adapter-http/response/headerFields"
import { assert, describe, it } from "@effect/vitest"

const BYTES = 100_000

/** Texts on which a pattern that backtracks takes more than linear time, each ended by a misfit. */
const texts = ["a", "aA", "0", "-", "._:-", " ", "\t", "\r\n", "é", "1.", "Aa0.", "2026-01-31T", "* ", ",", "::"].map(
  (unit) => `${unit.repeat(BYTES / unit.length)}\0`,
) // oxfmt-ignore

const event = (text: string) => ({
  event_id: text,
  check_id: text,
  observed_at: text,
  status: text,
  exit_code: 0,
  duration_ms: 1,
  output: text,
  incident_key: text,
})

/** Readers of texts from outside. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  "a heartbeat": (text) =>
    decodeHeartbeatRequest({
      agent_id: text,
      observed_at: text,
      hostname: text,
      features: { push: true, metrics: false },
      labels: { [text]: text },
    }),
  "the name of a label": isSecretLikeLabelKey,
  "a batch": (text) => decodeEventBatchRequest({ agent_id: text, events: [event(text)] }),
  "an expectation": (text) =>
    decodeExpectationsRequest({ checks: [{ check_id: text, cron: text, tz: text, grace: text }] }),
  "a glob": (text) => compileGlob("*a*".repeat(30))(text),
  "an address": (text) => clientAddress({ peer: "127.0.0.1", forwardedFor: text }, 1),
  "a request id": inboundRequestId,
}

/** Linear work takes milliseconds of processor time, and quadratic work far more than this. */
const MOST_MILLIS = 3_000

describe("a hostile text", () => {
  it.each(Object.entries(readers))("in %s is refused or accepted in linear time", (_, read) => {
    for (const text of texts) {
      const before = process.threadCpuUsage()
      read(text)
      const { user } = process.threadCpuUsage(before)
      assert.isBelow(user / 1_000, MOST_MILLIS, JSON.stringify(text.slice(0, 20)))
    }
  })
})
