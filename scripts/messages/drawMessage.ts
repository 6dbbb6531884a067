import { escapeHtml } from "@tocsin/contract/formats/escapeHtml"
import { heardIn } from "../../packages/adapter-notify/test/services/TelephoneService.ts"
import type { ReceiverType } from "@tocsin/contract/receivers/ReceiverTypes"

/** The services with a picture: the types, and the receivers without one. */
export type Service = Exclude<ReceiverType, "browser" | "email"> | "slack" | "telegram" | "alert_router"

/** A JSON body, read by names that its service gives. */
type Body = Readonly<Record<string, unknown>>

const bodyOf = (text: string): Body =>
  /^[[{]/.test(text) ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))

/** A text as HTML, in which bare addresses are links. */
const linkedHtml = (text: string): string =>
  escapeHtml(text).replaceAll(/https?:\/\/[^\s<]+/g, (url) => `<a>${url}</a>`)

const lines = (text: string): string =>
  text
    .split("\n")
    .map((line) => `<p>${linkedHtml(line)}</p>`)
    .join("")

/** The characters that a backslash keeps from being markup. */
const unescaped = (text: string): string => text.replaceAll(/\\(?=[\\`*_~|>#\-[\]()<:@])/g, "")

const entities: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" }
const fromEntities = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt);/g, (found) => entities[found] ?? found)

/** The look of a chat: colours, and the word beside a program's name. */
interface Look {
  readonly ground: string
  readonly ink: string
  readonly link: string
  readonly avatar?: string
  readonly badge?: string
}

const LIGHT: Look = { ground: "#fff", ink: "#1d2228", link: "#0b57d0" }

/** A message as HTML, and the look of what is around it. */
interface Drawn {
  readonly look: Look
  readonly html: string
}

const page = (look: Look, html: string): Drawn => ({ look, html })

/** A document with messages below each other. */
const sheetOf = (drawn: ReadonlyArray<Drawn>): string => {
  const { ground, ink, link } = drawn[0]?.look ?? LIGHT
  return `<!doctype html><html lang="en"><meta charset="utf-8"><style>
  body { margin: 0; padding: 14px 16px; font: 15px/1.45 system-ui, sans-serif; background: ${ground}; color: ${ink} }
  p { margin: 0; overflow-wrap: anywhere } p:empty { height: .7em } a { color: ${link} } h1 { font-size: 15px; margin: 0 0 2px }
  .post { display: flex; gap: 10px } .post > i { flex: none; width: 36px; height: 36px; border-radius: 6px; color: #fff;
    font: bold 18px/36px system-ui; text-align: center }
  small { font-size: 12px; opacity: .75 } small.badge { padding: 0 4px; border-radius: 3px; background: #8883; opacity: 1 }
  .card { border: 1px solid #8886; border-radius: 8px; padding: 12px 14px } .bar { margin-bottom: 10px; padding: 4px 8px; background: #8882 }
  .button { display: inline-block; margin: 10px 8px 0 0; padding: 4px 12px; border: 1px solid currentColor; border-radius: 4px }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; margin: 8px 0 0; font-size: 13px }
  dt { opacity: .7 } dd { margin: 0; overflow-wrap: anywhere }
  .pill { display: inline-block; margin: 0 4px 4px 0; padding: 1px 8px; border-radius: 4px; background: #8883; font-size: 13px }
  .message + .message { margin-top: 16px }
  </style>${drawn.map(({ html }) => `<div class="message">${html}</div>`).join("")}</html>`
}

/** A message of a program in a chat. */
const post = (look: Look, text: string, above = ""): Drawn =>
  page(
    look,
    `${above}<div class="post"><i style="background:${look.avatar ?? "#7a4a12"}">T</i><div><b>Tocsin</b> ${
      look.badge === undefined ? "" : `<small class="badge">${look.badge}</small> `
    }<small>08:30</small>${lines(text)}</div></div>`,
  )

/** A message on a phone. */
const bubble = (text: string, ground: string, ink: string): Drawn =>
  page(
    { ...LIGHT, link: ink },
    `<div class="card" style="background:${ground};color:${ink};border:0">${lines(text)}</div>`,
  )

const fields = (entries: ReadonlyArray<readonly [string, unknown]>): string =>
  `<dl>${entries.map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${linkedHtml(String(value)).replaceAll("\n", "<br>")}</dd>`).join("")}</dl>`

const buttons = (labels: ReadonlyArray<unknown>): string =>
  labels.map((label) => `<a class="button">${escapeHtml(String(label))}</a>`).join("")

const card = (html: string, look: Look = LIGHT): Drawn => page(look, `<div class="card">${html}</div>`)

const pill = (text: unknown, colour: string): string =>
  `<span class="pill" style="background:${colour};color:#fff">${escapeHtml(String(text))}</span>`

const list = (value: unknown): ReadonlyArray<Body> => (Array.isArray(value) ? value : [])
const object = (value: unknown): Body => Object(value)

/** The colours of an Adaptive Card's texts, and the signs of ntfy's tags. */
const TEAMS_COLOURS: Body = { attention: "#c4314b", warning: "#986f0b", good: "#237b4b" }
const TAGS: Body = {
  rotating_light: "🚨",
  warning: "⚠️",
  question: "❓",
  white_check_mark: "✅",
  grey_exclamation: "❕",
}

const adaptiveCard = ({ attachments }: Body): Drawn => {
  const { actions, body } = object(list(attachments)[0]?.["content"])
  const texts = list(body).map(({ inlines, separator }) => {
    const { color, text, weight } = object(list(inlines)[0])
    const style = `color:${TEAMS_COLOURS[String(color)] ?? "inherit"};font-weight:${weight === "bolder" ? 600 : 400}${separator === true ? ";margin-top:8px;padding-top:8px;border-top:1px solid #8886" : ""}`
    return `<p style="${style}">${escapeHtml(String(text))}</p>`
  })
  return card(texts.join("") + buttons(list(actions).map(({ title }) => title)))
}

const alertOf = (labels: Body, annotations: Body): Drawn =>
  card(
    Object.entries(labels)
      .map(([name, value]) => `<span class="pill">${escapeHtml(`${name}="${String(value)}"`)}</span>`)
      .join("") + fields(Object.entries(annotations)),
  )

/** How each service shows a request's body: its texts as they came, read by its own rules for markup. */
const drawings: Readonly<Record<Service, (body: Body) => Drawn>> = {
  slack: ({ text }) => post({ ...LIGHT, link: "#1264a3", badge: "APP" }, fromEntities(String(text))),
  telegram: ({ text }) =>
    page(
      { ground: "#d7e3ec", ink: "#111", link: "#2678b6" },
      `<div class="card" style="background:#fff;border:0">${lines(String(text))}</div>`,
    ),
  discord: ({ content }) =>
    post(
      { ground: "#313338", ink: "#dbdee1", link: "#00a8fc", avatar: "#5865f2", badge: "APP" },
      unescaped(String(content)),
    ),
  teams: adaptiveCard,
  google_chat: ({ text }) => post({ ...LIGHT, badge: "App" }, String(text)),
  mattermost: ({ text }) => post({ ...LIGHT, ink: "#3f4350", link: "#1c58d9", badge: "BOT" }, String(text)),
  rocket_chat: ({ text }) => post({ ...LIGHT, ink: "#2f343d", link: "#1d74f5", badge: "Bot" }, String(text)),
  zulip: ({ content, to, topic }) =>
    post(
      LIGHT,
      String(content),
      `<p class="bar"><b># ${escapeHtml(String(to))}</b> › ${escapeHtml(String(topic))}</p>`,
    ),
  matrix: ({ body }) => post({ ...LIGHT, avatar: "#0dbd8b" }, String(body)),
  ntfy: ({ actions, message, priority, tags, title }) => {
    const signs = list(tags).map((tag) => TAGS[String(tag)] ?? "")
    const head = `<h1>${signs.join(" ")} ${escapeHtml(String(title))} <small>priority ${String(priority)}</small></h1>`
    return card(head + lines(String(message)) + buttons(list(actions).map(({ label }) => label)))
  },
  gotify: ({ message, priority, title }) =>
    card(
      `<h1>${escapeHtml(String(title))} <small>priority ${String(priority)}</small></h1>${lines(String(message))}`,
    ),
  pushover: ({ message, priority }) =>
    card(`<h1>Tocsin <small>priority ${String(priority)}</small></h1>${lines(String(message))}`),
  call: ({ Twiml }) => bubble(heardIn(String(Twiml)).text, "#e9e9eb", "#111"),
  sms: ({ Body }) => bubble(String(Body), "#e9e9eb", "#111"),
  signal: ({ message }) => bubble(String(message), "#2c6bed", "#fff"),
  apprise: ({ body, title, type }) =>
    card(
      `<h1>${escapeHtml(String(title))} <small>${escapeHtml(String(type))}</small></h1>${lines(String(body))}`,
    ),
  pagerduty: ({ dedup_key, event_action, links, payload }) => {
    const { custom_details, severity, source, summary } = object(payload)
    return card(
      `<h1>${escapeHtml(String(summary))}</h1>${fields([
        ["Action", event_action],
        ["Severity", severity],
        ["Source", source],
        ["Alert key", dedup_key],
        ...list(links).map(({ href, text }) => [String(text), href] as const),
        ...Object.entries(object(custom_details)),
      ])}`,
    )
  },
  opsgenie: ({ alias, description, message, note, priority, source }) =>
    note === undefined
      ? card(
          `<h1>${pill(priority, "#b01d1d")} ${escapeHtml(String(message))}</h1>${fields([
            ["Alias", alias],
            ["Source", source],
            ["Description", description],
          ])}`,
        )
      : card(`<h1>${pill("closed", "#237b4b")}</h1>${lines(String(note))}`),
  alert_router: (body) => {
    const { annotations, labels } = object(list(body)[0])
    return alertOf(object(labels), object(annotations))
  },
}

/** A page with messages, as the service of their requests shows them. */
export const drawMessages = (service: Service, bodies: ReadonlyArray<string>): string =>
  sheetOf(bodies.map((body) => drawings[service](bodyOf(body))))

/** A page with mails below each other. */
export const drawMails = (mails: ReadonlyArray<string>): string =>
  sheetOf(mails.map((mail) => page(LIGHT, /<body[^>]*>(.*)<\/body>/s.exec(mail)?.[1] ?? mail)))
