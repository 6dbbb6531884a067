import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { monit } from "../../../src/features/integrations/monit.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
const context = {
  name: AgentId.make("hosts"),
  options: {},
  now: Instant.fromMillis(1_795_908_775_000),
  sha256,
}

const read = (body: string, path = ["collector"]) =>
  monit.translate({ method: "POST", path, query: [], body }, context)

const REST =
  "<status_hint>0</status_hint><monitor>1</monitor><monitormode>0</monitormode><onreboot>0</onreboot><pendingaction>0</pendingaction>"

const service = (name: string, type: number, status: number, rest = REST): string =>
  `<service name="${name}"><type>${type}</type><collected_sec>1795908775</collected_sec><collected_usec>166757</collected_usec><status>${status}</status>${rest}</service>`

// As Monit 5.33.0 of Debian 12 posts it (November 2026), without its sizes and loads.
const post = (services: ReadonlyArray<string>, event = ""): string =>
  `<?xml version="1.0" encoding="ISO-8859-1"?><monit id="d625a940ef0cd3734747af2ef7e803c0" incarnation="1795907900" version="5.33.0"><server><uptime>45</uptime><poll>60</poll><startdelay>0</startdelay><localhostname>vm</localhostname><controlfile>/etc/monit/monitrc</controlfile></server><platform><name>Linux</name></platform><services>${services.join("")}</services><servicegroups></servicegroups>${event}</monit>`

const EVENT =
  "<event><collected_sec>1795908775</collected_sec><collected_usec>245818</collected_usec><service>local</service><type>4</type><id>32</id><state>1</state><action>1</action><message><![CDATA[failed protocol test [HTTP] at [127.0.0.1]:24889 [TCP/IP] -- Connection refused]]></message></event>"

const OUTPUT =
  "<program><started>1795908775</started><status>3</status><output><![CDATA[it fails: disk <b> & so é]]></output></program>"

const UNTESTED = REST.replace("<monitor>1", "<monitor>2")
const STOPPED = REST.replace("<monitor>1", "<monitor>0")

describe("a post of Monit", () => {
  it.each([
    ["a service that is well", service("trigger", 2, 0), "vm:trigger ok"],
    ["its host", service("vm", 5, 0), "vm:host ok"],
    ["a service that fails", service("trigger", 2, 512), "vm:trigger critical failed: existence"],
    ["several faults", service("db", 3, 34), "vm:db critical failed: resource limits, connection"],
    [
      "a program that fails",
      service("prog", 7, 2_097_152, REST + OUTPUT),
      "vm:prog critical failed: exit status\nit fails: disk <b> & so é",
    ],
    [
      "a change that Monit reports",
      service("passwd", 2, 1, REST.replace("<status_hint>0", "<status_hint>1")),
      "vm:passwd warning failed: checksum",
    ],
    // Its status is 0 before its first test has ended, and after its last one.
    ["a service before its first test", service("prog", 7, 0, UNTESTED), undefined],
    ["a service that is not monitored", service("prog", 7, 0, STOPPED), undefined],
    [
      "a program whose first run fails",
      service("prog", 7, 2_097_152, UNTESTED),
      "vm:prog critical failed: exit status",
    ],
  ])("of %s is its check", (_, posted, expected) => {
    const reading = read(post([posted]))
    if ("refused" in reading) return assert.fail(reading.message)
    assert.deepStrictEqual(
      reading.reports.map((report) =>
        report.signal === "result"
          ? `${report.check_id} ${report.status} ${report.output ?? ""}`.trim()
          : report.signal,
      ),
      expected === undefined ? [] : [expected],
    )
  })

  it("has the event of a service as its text, which stays in what Monit repeats without it", () => {
    const services = [service("local", 4, 32), service("trigger", 2, 512)]
    for (const [event, expected] of [
      [EVENT, ["failed protocol test [HTTP] at [127.0.0.1]:24889 [TCP/IP] -- Connection refused", undefined]],
      ["", ["failed: connection", true]],
    ] as const) {
      const reading = read(post(services, event))
      if ("refused" in reading) return assert.fail(reading.message)
      const [local, other] = reading.reports
      if (local?.signal !== "result" || other?.signal !== "result") return assert.fail("no result")
      assert.deepStrictEqual<ReadonlyArray<unknown>>([local.output, local.isTextKept], expected)
      assert.strictEqual(other.isTextKept, true)
    }
  })

  it("is expected again within three of its cycles", () => {
    const reading = read(post([service("trigger", 2, 0)]))
    if ("refused" in reading) return assert.fail(reading.message)
    assert.deepStrictEqual(reading.reports[0]?.expects, { by: "within", millis: 180_000 })
  })

  it.each([
    ["", "the XML must be one element, with its end"],
    ["<monit/>", "the request body must be what Monit posts to M/Monit, with a localhostname and a poll"],
    [
      post([]).replace("monit id", "munin id").replace("</monit>", "</munin>"),
      "the request body must be what",
    ],
  ])("is refused in words otherwise: %s", (body, message) => {
    const reading = read(body)
    assert.isTrue("refused" in reading && reading.message.startsWith(message))
    assert.deepStrictEqual(read(body, ["x"]), { refused: "not_found", message: "not found" })
  })
})
