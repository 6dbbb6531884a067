import { assert, describe, it } from "@effect/vitest"
import { firstOutput, lastOutput } from "@tocsin/contract/formats/outputText"
import * as fc from "fast-check"
import { boundsOf, type Reading, readingsOf } from "../../../src/features/numbers/readings.ts"

const read = (output: string, output_truncated = false): ReadonlyArray<Reading> =>
  readingsOf({ duration_ms: 1_500, output, output_truncated }).slice(1)

const shortly = (output: string, output_truncated = false): Record<string, string> =>
  Object.fromEntries(
    read(output, output_truncated).map((reading) => {
      const { isCounter, name, unit, value } = reading
      const { crit, max, min, warn } = boundsOf(reading)
      const stated = [`${value}${unit}${isCounter ? " counter" : ""}`, warn, crit, min, max].join(";")
      return [name, stated.replace(/;+$/, "")]
    }),
  )

describe("the numbers of a result", () => {
  it("have how long its check ran, in seconds, also without an output", () => {
    const [duration, ...others] = readingsOf({ duration_ms: 1_500, output_truncated: false })
    assert.deepInclude(duration, { name: "duration", unit: "s", value: 1.5, isCounter: false })
    assert.deepStrictEqual(others, [])
  })

  it.each<[string, Record<string, string>]>([
    ["LOAD OK | load1=0.5;4;8;0 load5=1", { load1: "0.5;4;8;0", load5: "1" }],
    // Of the first line, and of the lines after it.
    ["OK | a=1\nlong text | b=2\nc=3 | d=4", { a: "1", b: "2", c: "3", d: "4" }],
    ["OK\nlong\n| b=2", { b: "2" }],
    ["\nOK | a=1", { a: "1" }],
    ["OK | a=1\r\n| b=2\r\nc=3", { a: "1", b: "2", c: "3" }],
    ["no bar a=1", {}],
    // Units.
    [
      "| t=12ms;20;30;0;1000 u=5us n=7ns s=1s",
      { t: "0.012s;0.02;0.03;0;1", u: "0.000005s", n: "7e-9s", s: "1s" },
    ],
    [
      "| a=1kB;2:3;@~:4 b=1KiB c=2MB d=3B e=1TiB f=1PB",
      {
        a: "1024B;2048:3072;@~:4096",
        b: "1024B",
        c: "2097152B",
        d: "3B",
        e: "1099511627776B",
        f: "1125899906842624B",
      },
    ],
    [
      "| used=40%;80;90;0;100 rpm=900rpm t=21C d=5dBm p=3packets days=12d",
      { used: "40%;80;90;0;100", rpm: "900rpm", t: "21C", d: "5dBm", p: "3packets", days: "12d" },
    ],
    ["| t=11.806ms;35.7", { t: "0.011806s;0.0357" }],
    ["| in=12345c;1;2", { in: "12345/s counter" }],
    ["| x=1constructor y=1__proto__", { x: "1constructor", y: "1__proto__" }],
    ["| x=1toString", { x: "1toString" }],
    // Labels.
    [
      "| 'free space'=1 'it''s'=2 'a=b'=3 größe=4",
      { "free space": "1", "it's": "2", "a=b": "3", größe: "4" },
    ],
    [`| 'a\tb'=1`, { "a b": "1" }],
    ["| a=1 a=3", { a: "1" }],
    ["| duration=9 b=1", { b: "1" }],
    // A part that is no number is skipped.
    [
      "| a=U b=1,5 c=NaN d=inf e=1e999 f=-1.5e3 g= h =1 i=0x10 j=.5 k=5. l=1",
      { f: "-1500", j: "0.5", k: "5", l: "1" },
    ],
    ["| a=1, b=2ms,c=3;4;5,d=0,5 e=6;7;x=8", { a: "1", b: "0.002s", c: "3;4;5", e: "6;7", x: "8" }],
    ["| a=1e300PB b=2", { b: "2" }],
    ["| a=1\u0007x b=1\u202Ey c=2", { c: "2" }],
    ["\u001b[32mOK\u001b[0m | \u001b[1ma=1\u001b[0m", { a: "1" }],
  ])("%j", (output, expected) => {
    assert.deepStrictEqual(shortly(output), expected)
  })

  it("have names of 64 characters that differ where the labels do, however these begin and end", () => {
    const pods = ["a", "b"].map(
      (pod) => `/var/lib/kubelet/pods/${pod.repeat(40)}/volumes/kubernetes.io~csi/data`,
    )
    const names = Object.keys(shortly(`| ${pods.map((pod) => `${pod}=1`).join(" ")} ${"é".repeat(64)}=1`))
    assert.strictEqual(new Set(names).size, 3)
    assert.deepStrictEqual(
      names.map((name) => Array.from(name).length),
      [64, 64, 64],
    )
    assert.match(names[0] ?? "", /^\/var\/lib\/kubelet\/pods\/a{6}~\w{6}~lumes\/kubernetes\.io~csi\/data$/)
  })

  it("leave out the one at the edge of an output that was cut", () => {
    // Version 2 of NRPE cuts at so many bytes without a word.
    const packet = `OK | ${"a=1 ".repeat(253)}`.padEnd(1_019, "x")
    assert.deepStrictEqual(Object.keys(shortly(`${packet} b=1`)), ["a"])
    assert.deepStrictEqual(Object.keys(shortly(`${packet}  b=1`)), ["a", "b"])
    assert.deepStrictEqual(shortly("| a=1 b=23", true), { a: "1" })
    assert.deepStrictEqual(shortly("| a=1 b=23\n...[truncated 9 bytes]", true), { a: "1" })
    assert.deepStrictEqual(shortly("| a=1 b=2...[truncated 9 bytes]", true), { a: "1" })
    // The data of the first line end with it.
    assert.deepStrictEqual(shortly("OK | a=1\nlong text", true), { a: "1" })
    assert.deepStrictEqual(shortly("OK | a=1\nlong | b=2 c=3", true), { a: "1", b: "2" })
    assert.deepStrictEqual(shortly("exit 2: x\n...[truncated 9 bytes]\n5 | c=4", true), { c: "4" })
  })

  it.each([
    [
      "the lines that follow",
      `BIG OK | first=1\n${"words\n".repeat(3_000)}| last=2;3 end=4`,
      ["first", "last", "end"],
    ],
    ["a long first line", `BIG OK - ${"é ".repeat(9_000)}| last=2`, ["last"]],
    ["lines of which half have room", `BIG OK\n${"é\n".repeat(1_500)}|${" n=1".repeat(3_000)}`, ["n"]],
  ])("are read from performance data behind 8 KiB of text, of %s", (_, text, names) => {
    const { output = "", output_truncated } = firstOutput(text)
    assert.deepStrictEqual(Object.keys(shortly(output, output_truncated)), names)
    assert.isAtMost(Buffer.byteLength(output), 8_192)
    const [, lost] = /\n\.\.\.\[truncated (\d+) bytes\]\n/.exec(output) ?? []
    const kept = Buffer.byteLength(output) - Buffer.byteLength(`\n...[truncated ${lost} bytes]\n`)
    assert.strictEqual(kept + Number(lost), Buffer.byteLength(text))
  })

  it("of an output that was cut are some of the whole one's", () => {
    const number = fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.integer({ min: 0, max: 99_999 }))
    fc.assert(
      fc.property(fc.array(number, { maxLength: 1_500 }), fc.boolean(), (all, isEnd) => {
        const text = `OK | ${all.map(([name, value], index) => `${name}${index}=${value}`).join(" ")}`
        const whole = shortly(text)
        const { output = "", output_truncated } = (isEnd ? lastOutput : firstOutput)(text)
        for (const [name, value] of Object.entries(shortly(output, output_truncated)))
          assert.strictEqual(value, whole[name], name)
      }),
      { numRuns: 50 },
    )
  })
})
