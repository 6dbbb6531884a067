import { JSON_TEXT, type Kind, OF_MANY_CHECKS } from "./Kind.ts"
import { passiveResult } from "./nagios.ts"
import { attributeOf, readXml, type XmlElement } from "./readXml.ts"
import {
  type Expects,
  invalid,
  NOT_FOUND,
  type Report,
  type Translate,
  type TranslationContext,
} from "./Report.ts"

/** The test that each bit of a status stands for, from the lowest on (Monit 5.33, its table of events). */
const TESTS = [
  ..."checksum,resource limits,timeout,timestamp,size,connection,permission,user,group,existence".split(","),
  ..."type,data,execution,flags,ping,content,instance,action,process ID,parent process ID".split(","),
  ..."heartbeat,exit status,uptime,link,link speed,link saturation,download,upload".split(","),
  ..."packets in,packets out,presence".split(","),
]

const childOf = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  element?.children.find((child) => child.name === name)

const textIn = (element: XmlElement | undefined, ...path: ReadonlyArray<string>): string =>
  path.reduce<XmlElement | undefined>(childOf, element)?.text.trim() ?? ""

const numberIn = (element: XmlElement, name: string): number => Number(textIn(element, name))

const isSet = (bits: number, place: number): boolean => ((bits >>> place) & 1) === 1

const SYSTEM = 5
const MONITORED = 1

/** The facts of a service whose event is not in the request. */
const wordsOf = (service: XmlElement, failed: number): string => {
  const tests = TESTS.filter((_, place) => isSet(failed, place))
  return [`failed: ${tests.join(", ")}`, textIn(service, "program", "output")]
    .filter((line) => line !== "")
    .join("\n")
}

interface Posted {
  readonly host: string
  readonly event: XmlElement | undefined
  readonly expects: Expects
}

/** A service as it was posted; `undefined` where Monit does not test it now and found no fault before. */
const reportOf = (
  service: XmlElement,
  { event, expects, host }: Posted,
  context: TranslationContext,
): Report | undefined => {
  const [bits, changed] = [numberIn(service, "status"), numberIn(service, "status_hint")]
  // A status of 0 says nothing until the first test has ended, and nothing once tests have stopped.
  if (bits === 0 && numberIn(service, "monitor") !== MONITORED) return undefined
  const name = attributeOf(service, "name")
  const status = bits === 0 ? "ok" : (bits & ~changed) === 0 ? "warning" : "critical"
  const said = textIn(event, "service") === name ? textIn(event, "message") : ""
  const text = bits === 0 ? textIn(service, "program", "output") : said || wordsOf(service, bits)
  return {
    ...passiveResult(
      {
        host,
        service: numberIn(service, "type") === SYSTEM ? undefined : name,
        status,
        text,
        seconds: numberIn(service, "collected_sec"),
        expects,
      },
      context,
    ),
    ...(said === "" && { isTextKept: true }),
  }
}

const SECONDS = 1_000
/** After as many cycles without a message, Monit is silent. */
const CYCLES = 3

const translate: Translate = ({ body, path }, context) => {
  if (path.join("/") !== "collector") return NOT_FOUND
  const root = readXml(body)
  if ("refused" in root) return root
  const host = textIn(root, "server", "localhostname")
  const poll = Number(textIn(root, "server", "poll"))
  if (root.name !== "monit" || host === "" || !(poll > 0))
    return invalid("the request body must be what Monit posts to M/Monit, with a localhostname and a poll")
  const services = childOf(root, "services")?.children ?? []
  const posted: Posted = {
    host,
    event: childOf(root, "event"),
    expects: { by: "within", millis: CYCLES * poll * SECONDS },
  }
  const reports = services.map((service) => reportOf(service, posted, context))
  return { reports: reports.filter((one) => one !== undefined), refusals: [], heard: [] }
}

/** Posts of Monit to M/Monit in each cycle: the services of its host, and events (docs/rules.md#sentry-and-monit). */
export const monit: Kind = {
  ...OF_MANY_CHECKS,
  protocol: { ...JSON_TEXT, body: "xml" },
  translate,
  options: [],
  paths: (key) => ["/collector", `/${key}/collector`],
}
