import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createSocket } from "node:dgram"
import type { ResolverOptions } from "node:dns"
import dnsPromises from "node:dns/promises"
import { once } from "node:events"
import { syncBuiltinESMExports } from "node:module"
import { probed } from "./probed.ts"

const NUMBERS = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, MX: 15, TXT: 16, AAAA: 28, SRV: 33 } as const
type Type = keyof typeof NUMBERS
const TYPES: ReadonlyArray<string> = Object.keys(NUMBERS)

/** The data of a name: each label behind its length. */
const nameData = (name: string): string =>
  name.replaceAll(/[^.]+(?:\.|$)/g, (label) => {
    const bytes = label.replace(".", "")
    return String.fromCodePoint(bytes.length) + bytes
  }) + "\0"

const textData = (...parts: ReadonlyArray<string>): string =>
  parts
    .map((part) => Buffer.from(part).toString("latin1"))
    .map((bytes) => String.fromCodePoint(bytes.length) + bytes)
    .join("")

type Answer = readonly [type: Type, data: string]

const PLAIN: Readonly<Record<Type, Answer>> = {
  A: ["A", "\u00c0\u0000\u0002\u0007"],
  AAAA: ["AAAA", Buffer.from("20010db8000000000000000000000001", "hex").toString("latin1")],
  CNAME: ["CNAME", nameData("gone.example")],
  MX: ["MX", `\u0000\u000a${nameData("Mx.example")}`],
  NS: ["NS", nameData("ns.example")],
  PTR: ["PTR", nameData("host.example")],
  SOA: ["SOA", nameData("ns.example") + nameData("admin.example") + "\u0000\u0000\u0000\u0001".repeat(5)],
  SRV: ["SRV", `\u0000\u0001\u0000\u0002\u0000\u0050${nameData("Mx.example")}`],
  TXT: ["TXT", textData("v=spf1 ", "-all")],
}

const server = createSocket("udp4")
/** The answers for any name but missing.example, by the type that is asked for. */
let answers: (asked: Type) => ReadonlyArray<Answer>
/** The names that it was asked for. */
const asked: Array<string> = []

const NAME_ERROR = 3

const recordOf = ([type, data]: Answer): Buffer => {
  // A pointer to the name of the question, the type and class, a time to live, and the length.
  const head = Buffer.from([0xc0, 12, 0, NUMBERS[type], 0, 1, 0, 0, 0, 60, 0, data.length])
  return Buffer.concat([head, Buffer.from(data, "latin1")])
}

beforeAll(async () => {
  server.on("message", (question, { port, address }) => {
    const end = question.indexOf(0, 12) + 5
    asked.push(question.toString("latin1", 13, end - 5))
    const type = (Object.keys(NUMBERS) as ReadonlyArray<Type>).find(
      (one) => NUMBERS[one] === question.readUInt16BE(end - 4),
    )
    const isMissing = question.includes("missing")
    const found = isMissing || type === undefined ? [] : answers(type)
    const header = Buffer.from(question.subarray(0, 12))
    header.writeUInt16BE(0x8180 | (isMissing ? NAME_ERROR : 0), 2)
    header.writeUInt16BE(found.length, 6)
    header.writeUInt32BE(0, 8)
    server.send(Buffer.concat([header, question.subarray(12, end), ...found.map(recordOf)]), port, address)
  })
  server.bind(0, "127.0.0.1")
  await once(server, "listening")
})

afterAll(() => void server.close())

const ask = async (settings: object) =>
  await probed("dns", { name: "a.example", servers: `127.0.0.1:${server.address().port}`, ...settings })

/** Asks a server that answers everything with these records. */
const askFor = async (records: ReadonlyArray<Answer>, settings: object) => {
  answers = () => records
  return await ask(settings)
}

describe("the dns probe", () => {
  it("is critical where a name server does not answer in time", async () => {
    const settings = { name: "a.example", servers: "127.0.0.1:9", wait: "1s" }
    assert.strictEqual((await probed("dns", settings)).status, "critical")
  })

  it("resolves a name, and looks for the records that are expected", async () => {
    answers = (type) => [PLAIN[type]]
    const found = await ask({ expect: "192.0.2.7" })
    assert.match(found.output, /^DNS OK - a\.example A 192\.0\.2\.7 in \d\.\d{3} s \| time=[\d.]+s$/)
    const text = await ask({ type: "TXT", expect: ["v=spf1 -all"] })
    assert.strictEqual(text.status, "ok", text.output)
    const mail = await ask({ type: "MX", expect: "10 MX.example." })
    assert.match(mail.output, /^DNS OK - a\.example MX 10 Mx\.example in /)
    const service = await ask({ type: "SRV", expect: "1 2 80 mx.example" })
    assert.strictEqual(service.status, "ok", service.output)
    const lacking = await ask({ expect: ["192.0.2.7", "192.0.2.8"] })
    assert.deepStrictEqual(
      [lacking.status, lacking.output.split(" | ")[0]],
      ["critical", "DNS CRITICAL - a.example A lacks 192.0.2.8: 192.0.2.7"],
    )
    const missing = await ask({ name: "missing.example" })
    assert.strictEqual(missing.output, "DNS CRITICAL - missing.example A: there is no such name")
  })

  it.each<readonly [Type, string]>([
    ["MX", "\0\0\0"],
    ["SRV", "\0\0\0\0\0\0\0"],
  ])("is critical, and says why, where the only %s record says that there is none", async (type, data) => {
    const [expect, refusal] = type === "MX" ? ["0 .", "takes no mail"] : ["0 0 0 .", "has no such service"]
    const none = await askFor([[type, data]], { type })
    assert.deepStrictEqual(
      [none.status, none.output],
      ["critical", `DNS CRITICAL - a.example ${type}: the domain ${refusal} (${expect})`],
    )
    const another = await askFor([[type, data]], { type, expect: "10 other.example" })
    assert.strictEqual(
      another.output.split(" | ")[0],
      `DNS CRITICAL - a.example ${type} lacks 10 other.example: the domain ${refusal} (${expect})`,
    )
    assert.strictEqual((await askFor([[type, data], PLAIN[type]], { type })).status, "ok")
    const wanted = await askFor([[type, data]], { type, expect })
    assert.match(wanted.output, new RegExp(`^DNS OK - a.example ${type} ${expect} in `))
  })

  it("takes a text that ends in a dot for a record", async () => {
    const text = await askFor([["TXT", textData("so be .")]], { type: "TXT" })
    assert.match(text.output, /^DNS OK - a\.example TXT so be \. in /)
  })

  const others = TYPES.flatMap((type) =>
    ["nothing", ...TYPES.filter((other) => other !== type)].map((other) => [type, other] as const),
  )
  it.each(others)(
    "is critical where a name has no %s record, and is answered with %s",
    async (type, other) => {
      const records = Object.values(PLAIN).filter(([name]) => name === other)
      const found = await askFor(records, { type })
      assert.deepStrictEqual(
        [found.status, found.output],
        ["critical", `DNS CRITICAL - a.example ${type}: no ${type} record`],
      )
    },
  )

  it.each([...TYPES] as ReadonlyArray<Type>)(
    "finds the %s record behind or without an alias",
    async (type) => {
      assert.strictEqual((await askFor([PLAIN[type]], { type })).status, "ok")
    },
  )

  it("compares addresses, texts and names in any notation", async () => {
    const cases: ReadonlyArray<readonly [Answer, string, "ok" | "critical"]> = [
      [PLAIN.AAAA, "2001:DB8:0:0::1", "ok"],
      [PLAIN.AAAA, "2001:0db8:0000:0000:0000:0000:0000:0001", "ok"],
      [PLAIN.AAAA, "2001:db8::0.0.0.1", "ok"],
      [PLAIN.AAAA, "2001:db8::2", "critical"],
      [PLAIN.TXT, '"v=spf1 -all"', "ok"],
      [PLAIN.TXT, '"v=spf1 " "-all"', "ok"],
      [PLAIN.TXT, '"V=spf1 -all"', "critical"],
      [["TXT", textData('say "hi" \\')], '"say \\"hi\\" \\\\"', "ok"],
      [["TXT", textData('"quoted"')], '"quoted"', "ok"],
      [["TXT", textData("Grüße")], "Grüße", "ok"],
      [["MX", `\0\n${nameData("xn--mnchen-3ya.example")}`], "10 München.example", "ok"],
      [["CNAME", nameData("xn--mnchen-3ya.example")], "münchen.example.", "ok"],
      [["CNAME", nameData("_a.xn--mnchen-3ya.example")], "_a.münchen.example.", "ok"],
    ]
    for (const [record, expect, status] of cases) {
      const found = await askFor([record], { type: record[0], expect })
      assert.strictEqual(found.status, status, `${expect}: ${found.output}`)
    }
  })

  it("asks for a name of other letters in their ASCII form", async () => {
    const found = await askFor([PLAIN.A], { name: "_a.münchen.example" })
    assert.strictEqual(found.status, "ok", found.output)
    assert.include(asked.at(-1), "xn--mnchen-3ya")
  })

  /** Answers each question with a code and no record. */
  const refusing = async (code: number) => {
    const socket = createSocket("udp4")
    socket.on("message", (question, { port, address }) => {
      const header = Buffer.from(question.subarray(0, 12))
      header.writeUInt16BE(0x8180 | code, 2)
      header.writeUInt16BE(0, 10)
      socket.send(Buffer.concat([header, question.subarray(12, question.indexOf(0, 12) + 5)]), port, address)
    })
    socket.bind(0, "127.0.0.1")
    await once(socket, "listening")
    return socket
  }

  /** Asks as a host does whose resolv.conf has these servers; ports stand in no resolv.conf. */
  const askOf = async (servers: ReadonlyArray<string>, settings: object) => {
    const { Resolver } = dnsPromises
    dnsPromises.Resolver = class extends Resolver {
      constructor(options?: ResolverOptions) {
        super(options)
        this.setServers(servers)
      }
    }
    syncBuiltinESMExports()
    try {
      return await probed("dns", { name: "a.example", ...settings })
    } finally {
      dnsPromises.Resolver = Resolver
      syncBuiltinESMExports()
    }
  }

  it("asks the host's next server where one is silent, and ends when it may wait no longer", async () => {
    const silent = createSocket("udp4").bind(0, "127.0.0.1")
    await once(silent, "listening")
    const first = `127.0.0.1:${silent.address().port}`
    const good = `127.0.0.1:${server.address().port}`
    answers = (type) => [PLAIN[type]]
    const found = await askOf([first, good], { wait: "5s" })
    assert.match(found.output, /^DNS OK - a\.example A 192\.0\.2\.7 in /)
    const begun = performance.now()
    for (const settings of [{}, { servers: [first, first, first] }]) {
      const { output } = await askOf([first, first, first], { wait: "1s", ...settings })
      assert.include(output, "a.example A: the name server does not answer (ETIMEOUT)")
    }
    // Three servers, each of which had all the time, took 4 s.
    assert.isBelow(performance.now() - begun, 5_000)
    silent.close()
  })

  it.each([
    [5, "EREFUSED", "the name server refuses the question"],
    [2, "ESERVFAIL", "the name server failed to find the answer"],
    [4, "ENOTIMP", "the name server answers no such questions"],
  ])("asks the host's next server after the code %i", async (number, code, words) => {
    const socket = await refusing(number)
    const first = `127.0.0.1:${socket.address().port}`
    const good = `127.0.0.1:${server.address().port}`
    answers = (type) => [PLAIN[type]]
    const found = await askOf([first, first, good], {})
    assert.match(found.output, /^DNS OK - a\.example A 192\.0\.2\.7 in /)
    const missing = await askOf([first, good], { name: "missing.example" })
    assert.strictEqual(missing.output, "DNS CRITICAL - missing.example A: there is no such name")
    const refused = `DNS CRITICAL - a.example A: ${words} (${code})`
    // 127.0.0.1:9 answers nothing, or that nothing listens there.
    assert.strictEqual((await askOf([first, "127.0.0.1:9"], { wait: "1s" })).output, refused)
    assert.strictEqual((await askOf([good, good], { servers: [first, good] })).output, refused)
    socket.close()
  })
})
