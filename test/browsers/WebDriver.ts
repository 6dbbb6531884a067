import { spawn, spawnSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import process from "node:process"
import { Effect, type Scope } from "effect"
import { chromium as playwright } from "playwright-core"
import { scratchFolder } from "../processes/scratch.ts"
import { until } from "../processes/until.ts"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { chromium } from "../console/Console.ts"
import { lacking, programPath } from "../../scripts/programs.mjs"

/** A browser's only tab. */
export interface Tab {
  readonly go: (address: string) => Promise<void>
  /** Runs the body of a function in the page; its result as JSON has it. */
  readonly run: <A>(body: string) => Promise<A>
}

type Opened = Effect.Effect<Tab, never, Scope.Scope>

/** A browser of this machine, without a window. */
export interface Program {
  readonly name: string
  /** The program that is not installed here. */
  readonly missing: string | undefined
  /** Why it cannot block cookies. */
  readonly refusal?: string
  /** Opens it with a profile of its own, which blocks all cookies where `isShut`. */
  readonly open: (isShut?: boolean) => Opened
}

/** Runs a program until the scope ends, with all processes that it started. */
const runProgram = (program: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(program, args, {
        stdio: ["ignore", "ignore", "ignore", "pipe"],
        detached: true,
        env: { ...process.env, ...env },
      }),
    ),
    (child) =>
      Effect.callback<void>((resume) => {
        child.on("close", () => resume(Effect.void))
        if (child.exitCode !== null || child.pid === undefined) return resume(Effect.void)
        process.kill(-child.pid, "SIGKILL")
      }),
  )

const openChromium = (isShut = false): Opened =>
  Effect.gen(function* () {
    const profile = yield* scratchFolder
    // Its setting "block all cookies".
    const preferences = { profile: { default_content_setting_values: { cookies: isShut ? 2 : 1 } } }
    const args = ["--no-sandbox"]
    const context = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        spawnSync("mkdir", ["-p", join(profile, "Default")])
        writeFileSync(join(profile, "Default", "Preferences"), JSON.stringify(preferences))
        return playwright.launchPersistentContext(profile, { executablePath: chromium ?? "", args })
      }),
      (opened) => Effect.promise(() => opened.close()),
    )
    const page = yield* Effect.promise(() => context.newPage())
    return {
      go: async (address) => void (await page.goto(address)),
      run: (body) => page.evaluate(`(() => {${body}})()`),
    }
  })

/** Firefox's Marionette: messages are JSON behind their length, and have the names of WebDriver's commands. */
const marionette = async (port: number) => {
  const socket = connect(port, "127.0.0.1")
  const waiting = new Map<number, (error: { message: string } | null, result: { value: unknown }) => void>()
  let [unread, count] = [Buffer.alloc(0), 0]
  socket.on("data", (chunk) => {
    unread = Buffer.concat([unread, chunk])
    for (;;) {
      const colon = unread.indexOf(":")
      const end = colon + 1 + Number(unread.subarray(0, Math.max(0, colon)))
      if (colon < 0 || unread.length < end) return
      const [, id, error, result] = [JSON.parse(unread.subarray(colon + 1, end).toString())].flat()
      waiting.get(id)?.(error, result)
      unread = unread.subarray(end)
    }
  })
  const send = (command: string, parameters: object) =>
    new Promise<{ value: unknown }>((resolve, reject) => {
      const name = command.includes(":") ? command : `WebDriver:${command}`
      const message = JSON.stringify([0, ++count, name, parameters])
      waiting.set(count, (error, result) =>
        error === null ? resolve(result) : reject(new Error(`${command}: ${error.message}`)),
      )
      socket.write(`${Buffer.byteLength(message)}:${message}`)
    })
  await send("NewSession", {})
  return { send, end: () => socket.destroy() }
}

type Preferences = Readonly<Record<string, string | number | boolean>>

/** A tab of Firefox, and the browser around it. */
export interface FirefoxTab extends Tab {
  /** Runs the body of a function with the rights of the browser itself. */
  readonly runInBrowser: Tab["run"]
}

export const openFirefox = (
  isShut = false,
  more: Preferences = {},
): Effect.Effect<FirefoxTab, never, Scope.Scope> =>
  Effect.gen(function* () {
    const profile = yield* scratchFolder
    // A port that is free; "reject all cookies"; nothing is fetched from elsewhere.
    const preferences: Preferences = {
      "marionette.port": 0,
      "network.cookie.cookieBehavior": isShut ? 2 : 0,
      "app.normandy.enabled": false,
      "network.captive-portal-service.enabled": false,
      "network.connectivity-service.enabled": false,
      ...more,
    }
    writeFileSync(
      join(profile, "user.js"),
      Object.entries(preferences)
        .map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`)
        .join(""),
    )
    yield* runProgram(
      programPath("firefox-esr") ?? "",
      ["--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", profile],
      {
        HOME: profile,
      },
    )
    const file = join(profile, "MarionetteActivePort")
    const port = yield* until(
      "Firefox listens",
      Effect.sync(() => existsSync(file) && readFileSync(file, "utf8") !== "" && Number(readFileSync(file))),
    )
    const { send } = yield* Effect.acquireRelease(
      Effect.promise(() => marionette(port)),
      ({ end }) => Effect.sync(end),
    )
    const run = async <A>(script: string) => (await send("ExecuteScript", { script, args: [] })).value as A
    return {
      go: async (url) => void (await send("Navigate", { url })),
      run,
      runInBrowser: async <A>(script: string) => {
        await send("Marionette:SetContext", { value: "chrome" })
        const value = await run<A>(script)
        await send("Marionette:SetContext", { value: "content" })
        return value
      },
    }
  })

/** The first text that a program writes to its fourth descriptor. */
const told = ({ stdio }: { readonly stdio: ReadonlyArray<unknown> }) =>
  Effect.callback<string>((resume) => {
    const said = stdio[3] as NodeJS.ReadableStream
    said.once("data", (chunk: Buffer) => resume(Effect.succeed(chunk.toString().trim())))
  })

/** Sends a command of WebDriver. */
const command = async <A>(address: string, body?: object, method = "POST"): Promise<A> => {
  const answer = await fetch(address, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const { value } = (await answer.json()) as { readonly value: A }
  if (!answer.ok) throw new Error(`${address}: ${JSON.stringify(value)}`)
  return value
}

const openWebKit = (): Opened =>
  Effect.gen(function* () {
    const [home, port] = [yield* scratchFolder, yield* Effect.promise(freePort)]
    const display = yield* runProgram(programPath("Xvfb") ?? "", ["-displayfd", "3", "-nolisten", "tcp"])
    yield* runProgram(programPath("WebKitWebDriver") ?? "", [`--port=${port}`], {
      DISPLAY: `:${yield* told(display)}`,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      GDK_BACKEND: "x11",
      NO_AT_BRIDGE: "1",
      // Nobody may set up namespaces in most containers; the pages are ours.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
    })
    const driver = `http://127.0.0.1:${port}`
    yield* until(
      "WebKitWebDriver listens",
      Effect.promise(() =>
        fetch(driver + "/status").then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    )
    const options = { binary: programPath("MiniBrowser"), args: ["--automation"] }
    const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": options } }
    const session = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const { sessionId } = await command<{ sessionId: string }>(`${driver}/session`, { capabilities })
        return `${driver}/session/${sessionId}`
      }),
      (opened) => Effect.promise(() => command(opened, undefined, "DELETE").catch(() => undefined)),
    )
    return {
      go: (url) => command(`${session}/url`, { url }),
      run: (script) => command(`${session}/execute/sync`, { script, args: [] }),
    }
  })

/** The browsers that people use the console with. */
export const programs: ReadonlyArray<Program> = [
  { name: "Chromium", missing: lacking("chromium"), open: openChromium },
  { name: "Firefox", missing: lacking("firefox-esr"), open: openFirefox },
  {
    name: "WebKit",
    missing: lacking("WebKitWebDriver", "MiniBrowser", "Xvfb"),
    refusal: "MiniBrowser has no setting that blocks cookies",
    open: openWebKit,
  },
]
