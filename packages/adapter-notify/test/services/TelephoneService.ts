import { Effect, Queue } from "effect"
import { startReceiver } from "../Receiver.ts"

/** An element of a document, with the text that it has directly. */
interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Array<Element>
  text: string
}

const NO_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
const TOKEN = /<(\/?)([A-Za-z]+)((?:\s+[A-Za-z]+="[^"<]*")*)\s*(\/?)>|([^<]+)/uy
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const unescaped = (text: string): string =>
  text.replaceAll(/&(?:#(\d+);|(\w+);)?/gu, (found, code?: string, name?: string) => {
    const character = code === undefined ? ENTITIES[name ?? ""] : String.fromCodePoint(Number(code))
    if (character === undefined) throw new Error(`${found} is no entity`)
    return character
  })

/** Reads a document of XML 1.0, or says where it is none. Knows what TwiML needs of it: no DTD, no comment. */
const parseXml = (document: string): Element => {
  if (NO_XML.test(document)) throw new Error("a character that XML 1.0 does not have")
  const root: Element = { name: "", attributes: {}, children: [], text: "" }
  const open = [root]
  for (let at = 0; at < document.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at
    const [whole, closes, name = "", given = "", isEmpty, text] = TOKEN.exec(document) ?? []
    const parent = open.at(-1)
    if (whole === undefined || parent === undefined) throw new Error(`no XML at ${at}: ${document}`)
    if (text !== undefined) parent.text += unescaped(text)
    else if (closes === "/") {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes another element`)
    } else {
      const attributes = Object.fromEntries(
        Array.from(given.matchAll(/([A-Za-z]+)="([^"]*)"/gu), ([, key, value = ""]) => [
          key,
          unescaped(value),
        ]),
      )
      const element: Element = { name, attributes, children: [], text: "" }
      parent.children.push(element)
      if (isEmpty !== "/") open.push(element)
    }
  }
  const [document_, ...more] = root.children
  if (open.length !== 1 || document_ === undefined || more.length > 0 || root.text.trim() !== "")
    throw new Error("not one whole element")
  return document_
}

/** The sentences of a document, and the use of a key. */
export interface Heard {
  /** Each sentence that is said, in order; a pause of a second is `…`. */
  readonly text: string
  readonly languages: ReadonlyArray<string | undefined>
  readonly gather: Readonly<Record<string, string>> | undefined
}

const VERBS = ["Say", "Pause", "Gather"]

/** Reads TwiML as a telephone service does. */
export const heardIn = (document: string): Heard => {
  const response = parseXml(document)
  if (response.name !== "Response") throw new Error(`${response.name} is no response`)
  const [first] = response.children
  const gather = first?.name === "Gather" ? first : undefined
  const said = gather === undefined ? response.children : gather.children
  for (const { children, name } of [...response.children, ...said])
    if (!VERBS.includes(name) || (name !== "Gather" && children.length > 0))
      throw new Error(`${name} is no verb here`)
  return {
    text: said.map(({ name, text }) => (name === "Pause" ? "…" : text)).join("\n"),
    languages: said.flatMap(({ attributes, name }) => (name === "Say" ? [attributes["language"]] : [])),
    gather: gather?.attributes,
  }
}

/** How a call goes: a key is pressed, none is, or the service refuses it or loses its answer. */
export type Fate = { readonly press: string } | "silent" | "hangs up" | "loses" | { readonly status: number }

/** A call, with what was heard in it, the answers to keys included. */
export interface Call extends Heard {
  readonly to: string | undefined
  readonly from: string | undefined
  readonly authorization: string | undefined
}

/** The answer to a pressed key. */
export interface Pressed {
  readonly status: number
  readonly cached: string | null
  readonly heard: Heard
}

/** Presses a key as a telephone service does: it posts a form to the address of the document that was heard. */
export const press = (action: string, digits: string | undefined): Effect.Effect<Pressed> =>
  Effect.promise(async () => {
    const form = new URLSearchParams({
      CallSid: "CA0123",
      Called: "+4915112345678",
      ApiVersion: "2010-04-01",
    })
    if (digits !== undefined) form.set("Digits", digits)
    const answer = await fetch(action, { method: "POST", body: form })
    return {
      status: answer.status,
      cached: answer.headers.get("cache-control"),
      heard: heardIn(await answer.text()),
    }
  })

/**
 * A telephone service with Twilio's API. Each call has a fate; a key is pressed once the call was answered, at the
 * address that `reach` makes of the one that was heard.
 */
export const startTelephoneService = (
  fateOf: (call: Call) => Fate,
  reach = (action: string): string => action,
) =>
  Effect.gen(function* () {
    const calls = yield* Queue.unbounded<Call>()
    const answers = yield* Queue.unbounded<Pressed>()
    const { origin } = yield* startReceiver((response, { body, headers, path }) => {
      const form = new URLSearchParams(body)
      if (!/^\/2010-04-01\/Accounts\/[\w-]+\/Calls\.json$/.test(path))
        return void response.writeHead(404).end()
      const heard = heardIn(form.get("Twiml") ?? "")
      const to = form.get("To") ?? undefined
      const from = form.get("From") ?? undefined
      const call = { ...heard, to, from, authorization: headers.authorization }
      Queue.offerUnsafe(calls, call)
      const fate = fateOf(call)
      if (fate === "loses") return void response.destroy()
      if (typeof fate === "object" && "status" in fate)
        return void response.writeHead(fate.status).end(`{"message":"${to}"}`)
      response.writeHead(201, { "content-type": "application/json" }).end('{"status":"queued"}')
      const action = heard.gather?.["action"]
      if (typeof fate === "string" || action === undefined) return
      void Effect.runPromise(
        Effect.map(press(reach(action), fate.press), (answer) => Queue.offerUnsafe(answers, answer)),
      )
    })
    return { origin, calls, answers }
  })
