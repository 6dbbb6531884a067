import { assert, it } from "@effect/vitest"
import { closedStruct } from "@tocsin/contract/formats/Fields"
import { probeProblems } from "@tocsin/contract/watches/probeProblems"
import { watchOptions } from "@tocsin/contract/watches/watchOptions"
import { probes } from "@tocsin/contract/watches/WatchProbe"
import { propertyRuns, propertySeed } from "@tocsin/testing/propertyRuns"
import { Result, SchemaParser } from "effect"
import * as fc from "fast-check"
import { readWatch, type WatchKind } from "../../src/watches/readWatch.ts"

const REQUIRED: Readonly<Record<WatchKind, object>> = {
  http: { url: "https://a.example/", method: "POST" },
  tcp: { host: "a.example", port: 80 },
  tls: { host: "a.example" },
  dns: { name: "a.example" },
  ping: { host: "a.example" },
  websocket: { url: "wss://a.example/" },
}

const TEXTS = ["", "x", "a\nb", "a\0b", "\ud800", "ü", "a b", "GET", "A", "smtp", "999ms", "30s", "31s", "1d"]
const LONG = [253, 254, 1_024, 1_025, 4_096, 4_097, 8_192, 8_193].map((length) => "x".repeat(length))
const NUMBERS = [0, 1, 1.5, 10, 11, 20, 21, 99, 100, 101, 599, 600, 3_650, 3_651, 65_535, 65_536]
const HOSTS = ["::1", "[::1]", "fe80::1%eth0", "-x", "a..b", "127.1", "01.2.3.4", "192.0.2.1:0", "256.1.1.1"]
const ADDRESSES = HOSTS.flatMap((host) => [`https://${host}/`, `wss://${host}/#x`, `https://u@${host}/`])
const PLAIN = [true, null, ...TEXTS, ...LONG, ...NUMBERS, ...HOSTS, ...ADDRESSES]
const NESTED = PLAIN.flatMap((value) => [
  ...["warning", "critical", "text", "bearer", "x-key"].map((name) => ({ [name]: value })),
  ...["json", "header"].map((name) => ({ [name]: { "/a": value, a: value } })),
  { status: [value] },
  { warning: value, critical: 1 },
  { basic: { user: value, password: "x" } },
])
const LISTS = [0, 1, 10, 11, 20, 21, 40, 41, 100, 101].flatMap((length) =>
  ["x", 200, "192.0.2.1"].flatMap((one) => [
    Array.from({ length }, () => one),
    { status: Array.from({ length }, () => one) },
    Object.fromEntries(Array.from({ length }, (_, n) => [`x${n}`, "1"])),
  ]),
)
const VALUES = [...PLAIN, ...PLAIN.map((value) => [value]), ...NESTED, ...LISTS]

const decode = SchemaParser.decodeUnknownResult(closedStruct(probes))

const OPTIONS = Object.entries(watchOptions).flatMap(([kind, names]) =>
  names.map((name) => ({ kind: kind as WatchKind, name })),
)

it("probes take each option that the API takes", () => {
  fc.assert(
    fc.property(fc.constantFrom(...OPTIONS), fc.constantFrom(...VALUES), ({ kind, name }, value) => {
      const options = { ...REQUIRED[kind], [name]: value }
      const request = decode({ [kind]: options })
      if (Result.isSuccess(request) && probeProblems(request.success).length === 0)
        assert.notProperty(readWatch(kind, options), "problem")
    }),
    { numRuns: propertyRuns(2_000), ...(propertySeed !== undefined && { seed: propertySeed }) },
  )
})
