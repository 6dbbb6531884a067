import { createHash, randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { Effect } from "effect"
import { until } from "../processes/until.ts"
import { openFirefox } from "./WebDriver.ts"

/** Of RFC 6455. */
const MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

const framed = (message: object): Buffer => {
  const text = Buffer.from(JSON.stringify(message))
  const size = text.length < 126 ? [text.length] : [126, text.length >> 8, text.length & 255]
  return Buffer.concat([Buffer.from([0x81, ...size]), text])
}

/** The texts of whole frames at the beginning of `bytes`, and what is left. */
const unframed = (bytes: Buffer): { readonly texts: ReadonlyArray<string>; readonly rest: Buffer } => {
  const texts: Array<string> = []
  let rest = bytes
  for (;;) {
    const short = (rest[1] ?? 0) & 127
    const at = short === 126 ? 4 : 2
    if (rest.length < at + 4) return { texts, rest }
    const length = short === 126 ? rest.readUInt16BE(2) : short
    const end = at + 4 + length
    if (rest.length < end) return { texts, rest }
    const [mask, body] = [rest.subarray(at, at + 4), Buffer.from(rest.subarray(at + 4, end))]
    for (let n = 0; n < body.length; n += 1) body[n] = (body[n] ?? 0) ^ (mask[n % 4] ?? 0)
    if (((rest[0] ?? 0) & 15) === 1) texts.push(body.toString())
    rest = rest.subarray(end)
  }
}

/**
 * A push service for a real Firefox: as Mozilla's autopush, it speaks to the browser by a WebSocket, and takes messages
 * by HTTP, which it cannot read (Firefox ESR 153, November 2026).
 */
export const startAutopush = Effect.gen(function* () {
  const sockets = new Set<Socket>()
  const state = { taken: 0, isLosing: false }
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const channelID = request.url?.split("/").at(-1) ?? ""
      state.taken += 1
      const message = {
        messageType: "notification",
        channelID,
        version: String(state.taken),
        data: Buffer.concat(parts).toString("base64url"),
        headers: { encoding: String(request.headers["content-encoding"]) },
      }
      if (!state.isLosing) for (const socket of sockets) socket.write(framed(message))
      response.writeHead(201).end()
    })
  })
  const answer = (socket: Socket, text: string): void => {
    if (text === "{}") return void socket.write(framed({}))
    const { channelID, messageType } = JSON.parse(text)
    const { port } = server.address() as AddressInfo
    const answers: Readonly<Record<string, object>> = {
      hello: { status: 200, uaid: randomBytes(16).toString("hex"), use_webpush: true, broadcasts: {} },
      register: { status: 200, channelID, pushEndpoint: `http://127.0.0.1:${port}/wpush/v2/${channelID}` },
      unregister: { status: 200, channelID },
    }
    const found = answers[messageType]
    if (found !== undefined) socket.write(framed({ messageType, ...found }))
  }
  server.on("upgrade", (request, stream) => {
    const socket = stream as Socket
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    socket.on("error", () => sockets.delete(socket))
    const key = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${MAGIC}`).digest("base64")
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\nSec-WebSocket-Protocol: push-notification\r\n\r\n`,
    )
    let unread = Buffer.alloc(0)
    socket.on("data", (chunk: Buffer) => {
      const { rest, texts } = unframed(Buffer.concat([unread, chunk]))
      unread = Buffer.from(rest)
      for (const text of texts) answer(socket, text)
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.closeAllConnections()
        server.close()
      }),
  )
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, socket: `ws://127.0.0.1:${port}/`, state }
})

/** Keeps all that the desktop would show: a machine without a window has no service of notifications. */
const DESKTOP = `
const shown = []
Services.wm.getMostRecentWindow(null).tocsinShown = shown
const desktop = {
  showAlert(alert, listener) {
    const actions = (alert.actions ?? []).map(({ action, title }) => ({ action, title }))
    const { name, requireInteraction, silent, text, title } = alert
    shown.push({ facts: { name, title, text, silent, requireInteraction, actions }, alert, listener })
    listener?.observe(null, "alertshow", alert.cookie)
  },
  showPersistentNotification(_, alert, listener) { this.showAlert(alert, listener) },
  closeAlert() {}, getHistory() { return [] }, teardown() {}, pbmTeardown() {}, setManualDoNotDisturb() {},
  QueryInterface: ChromeUtils.generateQI(["nsIAlertsService"]),
}
Components.manager.QueryInterface(Ci.nsIComponentRegistrar).registerFactory(
  Components.ID("{" + Services.uuid.generateUUID().toString().slice(1, -1) + "}"), "desktop", "@mozilla.org/alerts-service;1",
  { createInstance: (id) => desktop.QueryInterface(id), QueryInterface: ChromeUtils.generateQI(["nsIFactory"]) },
)`

export interface Notice {
  /** The same where one takes the place of another. */
  readonly name: string
  readonly title: string
  readonly text: string
  readonly silent: boolean
  readonly requireInteraction: boolean
  readonly actions: ReadonlyArray<{ readonly action: string; readonly title: string }>
}

const PATIENCE = "2 minutes"

/** A Firefox that gets its messages from a push service of ours, and whose notifications a test sees and presses. */
export const openRingingFirefox = Effect.fnUntraced(function* (socket: string) {
  const tab = yield* openFirefox(false, {
    "dom.push.serverURL": socket,
    // A browser that a program drives speaks to no push service otherwise.
    "dom.push.connection.enabled": true,
    "dom.push.testing.allowInsecureServerURL": true,
    // The question of the browser, which nobody is there to answer.
    "permissions.default.desktop-notification": 1,
  })
  yield* Effect.promise(() => tab.runInBrowser(DESKTOP))
  const window = "Services.wm.getMostRecentWindow(null).tocsinShown"
  const look = <A>(body: string) => Effect.promise(() => tab.run<A>(body))
  const text = look<string | null>(`return document.body?.innerText ?? ""`)
  /** All that was shown until now. */
  const notices: Effect.Effect<ReadonlyArray<Notice>> = Effect.promise(async () =>
    JSON.parse(await tab.runInBrowser<string>(`return JSON.stringify(${window}.map(({ facts }) => facts))`)),
  )
  return {
    look,
    go: (address: string) => Effect.promise(() => tab.go(address)),
    /** Waits until the page has these words. */
    says: (words: string) =>
      until(
        words,
        // Between two pages there is none.
        Effect.map(text, (all) => all?.includes(words) === true),
        PATIENCE,
      ),
    click: (label: string) =>
      until(
        `the button ${label}`,
        look<boolean>(
          `const found = [...document.querySelectorAll("button")].find((each) => each.innerText.startsWith(${JSON.stringify(label)})); found?.click(); return found !== undefined`,
        ),
        PATIENCE,
      ),
    /** Waits until the latest notification has this title, and its text begins so. */
    latest: (title: string, begins = "") =>
      until(
        `the notification ${title} ${begins}`,
        Effect.map(notices, (all) => {
          const notice = all.at(-1)
          return notice?.title.startsWith(title) === true && notice.text.startsWith(begins) && notice
        }),
        PATIENCE,
      ),
    /** Presses a button of the latest notification. */
    press: (action: string) =>
      Effect.promise(() =>
        tab.runInBrowser(
          `const { alert, listener } = ${window}.at(-1)
           listener.observe(alert.actions.find(({ action }) => action === ${JSON.stringify(action)}), "alertclickcallback", alert.cookie)`,
        ),
      ),
  }
})
