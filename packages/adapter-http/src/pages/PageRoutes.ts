import * as Instant from "@tocsin/contract/formats/Instant"
import { type Health, HealthExamination } from "@tocsin/core/heart/health/HealthExamination"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { Duration, Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { KnownRoute } from "../routes.ts"
import { installable, installedPaths, MANIFEST } from "./installable.ts"
import { MARKDOWN_FIELDS, markdownPage } from "./markdownPage.ts"
import * as StaticContent from "../documents/StaticContent.ts"

/** The service's public facts, shown without a token. */
export interface About {
  readonly version: string
  /** The kind of its storage, such as SQLite, without an address. */
  readonly storage: string
  /** The time zones of the process and of its machine, and whether zones in use differ. */
  readonly timeZones?: (now: number) => {
    readonly version: string | undefined
    readonly hostVersion: string | undefined
    readonly differing: ReadonlyArray<unknown>
  }
}

/** The state that programs get at `/`. It contains no secret and nothing about what is monitored. */
interface ServiceState extends About {
  readonly startedAt: Instant.Instant
  readonly upFor: Duration.Duration
  /** Whether it can do its work (docs/rules.md#health-and-readiness). */
  readonly isReady: boolean
  readonly health: Health
}

type FaultName = Extract<Health, { readonly state: "unwell" }>["faults"][number]["name"]

/** Whether none of these faults is known. */
const holds = ({ health }: ServiceState, ...names: ReadonlyArray<FaultName>): boolean =>
  health.state !== "unwell" || !health.faults.some(({ name }) => names.includes(name))

const statusOf = ({ isReady, health }: ServiceState): "stopping" | "not_ready" | "unwell" | "ok" => {
  if (health.state === "stopping") return "stopping"
  if (!isReady) return "not_ready"
  return health.state === "unwell" ? "unwell" : "ok"
}

/** Whether the storage answers and takes writes. */
const isStorageWell = (state: ServiceState): boolean =>
  state.isReady && holds(state, "storage_answers", "storage_keeps")

/** Whether notifications are delivered; unknown while the storage does not answer. */
const deliveryOf = (state: ServiceState) => {
  if (!isStorageWell(state)) return "unknown"
  if (!holds(state, "receivers_usable")) return "unusable"
  if (!holds(state, "delivery_in_time")) return "late"
  if (!holds(state, "nothing_given_up")) return "given_up"
  return holds(state, "policy_sound") ? "in_time" : "policy_outdated"
}

const zonesOf = ({ startedAt, timeZones, upFor }: ServiceState) => {
  if (timeZones === undefined) return {}
  const now = Number(Instant.plus(startedAt, upFor) / 1_000n)
  const { differing, hostVersion = null, version = null } = timeZones(now)
  return {
    time_zones: { version, host_version: hostVersion, status: differing.length === 0 ? "ok" : "differ" },
  }
}

const stateDocument = (state: ServiceState): object => ({
  service: "tocsin",
  version: state.version,
  status: statusOf(state),
  storage: { kind: state.storage, status: isStorageWell(state) ? "ok" : "failing" },
  notifications: { status: deliveryOf(state) },
  ...zonesOf(state),
  started_at: Instant.format(state.startedAt),
  uptime_seconds: Math.floor(Duration.toSeconds(state.upFor)),
  links: {
    documentation: "/docs",
    openapi: "/openapi.json",
    health: "/api/v1/health",
    ready: "/api/v1/ready",
    metrics: "/metrics",
  },
})

export interface ConsoleFiles {
  readonly script: string
  readonly style: string
  /** Scripts that the first one loads on demand, by their names. */
  readonly scripts?: Readonly<Record<string, string>>
  /** Pages of the documentation that it links, by their names: Markdown, which browsers get as HTML. */
  readonly pages?: Readonly<Record<string, string>>
  /** The worker that shows notifications, beside the page. */
  readonly worker?: string
  /** The icons of the installed page as base64 of PNG, by their names. */
  readonly icons?: Readonly<Record<string, string>>
}

const SCRIPT = "/console/app.js"
const STYLE = "/console/app.css"
/** How other scripts import the first one: with its version, it is the module that the page loaded. */
const IMPORTED = "./app.js"
/** Files without a version in their addresses, so that browsers ask whether theirs is the newest. */
const linked = ({ pages = {}, scripts = {} }: ConsoleFiles) =>
  [["text/plain", pages] as const, ["text/javascript", scripts] as const].flatMap(([type, texts]) =>
    Object.entries(texts).map(([name, text]) => ({
      path: `/console/${name}` as const,
      text,
      headers: { "content-type": `${type}; charset=utf-8`, "cache-control": "no-cache" },
      ...(texts === pages && { beside: new Set(Object.keys(pages)) }),
    })),
  )

type Linked = ReturnType<typeof linked>[number]

const pathsOf = (files: ConsoleFiles | undefined): ReadonlyArray<KnownRoute["path"]> =>
  files === undefined
    ? []
    : [SCRIPT, STYLE, ...linked(files).map(({ path }) => path), ...installedPaths(files)]

const PAGE_FIELDS = {
  // It frames public pages beside their announcements.
  "content-security-policy": `${StaticContent.PAGE_POLICY}; frame-src 'self'; manifest-src 'self'; worker-src 'self'; require-trusted-types-for 'script'`,
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache",
  vary: "Accept, X-Forwarded-Prefix",
} as const

/** A prefix that a proxy strips; anything else in the header is ignored. */
const PREFIX = /^(?:\/[A-Za-z0-9._~-]+){1,16}$/

/** The path of the page as a browser has it. Express keeps it whole beside what it leaves of `url`. */
const pathOf = ({ originalUrl, source }: HttpServerRequest.HttpServerRequest): string => {
  const whole = "originalUrl" in source ? String(source.originalUrl) : originalUrl
  return URL.parse(whole, "http://localhost")?.pathname ?? "/"
}

/**
 * Where the console's files are, as a browser reaches them: below the page's path. Without a trusted
 * prefix they are addressed relatively, which suits every proxy that keeps a slash at the end.
 */
const baseOf = (request: HttpServerRequest.HttpServerRequest, trustedHops: number): string => {
  const path = pathOf(request)
  const below = path.endsWith("/") ? path : `${path}/`
  const prefix = request.headers["x-forwarded-prefix"]?.replace(/\/$/, "") ?? ""
  const isTrusted = trustedHops > 0 && PREFIX.test(prefix) && !prefix.split("/").includes("..")
  return isTrusted ? prefix + below : below.slice(path.lastIndexOf("/") + 1)
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%23b3261e'/%3E%3Cpath fill='%23fff' d='M16 6a7 7 0 0 0-7 7v5l-3 4h20l-3-4v-5a7 7 0 0 0-7-7zM13 24a3 3 0 0 0 6 0z'/%3E%3C/svg%3E"

const pageText = (base: string, script: string, style: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tocsin</title>
<link rel="icon" href="${ICON}">
<link rel="manifest" href="${base}${MANIFEST.slice(1)}">
<link rel="apple-touch-icon" href="${base}console/icon-192.png">
<link rel="stylesheet" href="${base}${STYLE.slice(1)}?v=${style}">
<script type="module" src="${base}${SCRIPT.slice(1)}?v=${script}"></script>
</head>
<body>
<div id="console"><p id="waiting">The console does not load. Does the address of this page end with a slash? If it does, a proxy keeps <code>${base}${SCRIPT.slice(1)}</code> from this browser.</p></div>
<noscript>The console needs JavaScript. The API works without: see <a href="${base}docs">its reference</a>.</noscript>
</body>
</html>
`

/**
 * The console: its files as routes, and its page for requests of `/` that accept HTML. The files are
 * made ready at the first request for one.
 */
const makeConsole = Effect.fnUntraced(function* (files: ConsoleFiles, trustedHops: number) {
  const made = yield* StaticContent.madeOnce(
    Effect.all({
      script: StaticContent.makeVersioned(files.script, "text/javascript"),
      style: StaticContent.makeVersioned(files.style, "text/css"),
    }),
  )
  const script = Effect.map(made, (content) => content.script)
  const style = Effect.map(made, (content) => content.style)
  const serveLinked = Effect.fnUntraced(function* ({ beside, headers, path, text }: Linked) {
    if (beside !== undefined) {
      const varying = { ...headers, vary: "accept-encoding, accept" }
      const plain = yield* StaticContent.madeOnce(StaticContent.make(text, varying))
      const html = yield* StaticContent.madeOnce(
        Effect.suspend(() =>
          StaticContent.make(markdownPage(text, beside), { ...varying, ...MARKDOWN_FIELDS }),
        ),
      )
      return HttpRouter.add("GET", path, ({ headers: { accept } }) =>
        Effect.flatMap(wantsHtml(accept) ? html : plain, StaticContent.respond),
      )
    }
    const content = Effect.flatMap(script, ({ version }) =>
      StaticContent.make(text.replaceAll(IMPORTED, `${IMPORTED}?v=${version}`), headers),
    )
    return StaticContent.served(path, yield* StaticContent.madeOnce(content))
  })
  return {
    layer: Layer.mergeAll(
      StaticContent.served(SCRIPT, script),
      StaticContent.served(STYLE, style),
      ...(yield* Effect.forEach(linked(files), serveLinked)),
      ...(yield* installable(files)),
    ),
    page: (request: HttpServerRequest.HttpServerRequest) =>
      Effect.map(made, (content) =>
        HttpServerResponse.text(
          pageText(baseOf(request, trustedHops), content.script.version, content.style.version),
          { contentType: "text/html; charset=utf-8", headers: PAGE_FIELDS },
        ),
      ),
  }
})

/** The weight of a media range of Accept, from 0 to 1 (RFC 9110, 12.4.2). */
const weightOf = (parameters: ReadonlyArray<string>): number => {
  const given = parameters.map((parameter) => /^\s*q=([\d.]{1,5})\s*$/i.exec(parameter)?.[1]).find(Boolean)
  return given === undefined ? 1 : Number(given)
}

/** Whether a client accepts HTML by name, as browsers do. Programs that take anything get JSON. */
export const wantsHtml = (accept = ""): boolean => {
  const ranges = accept
    .toLowerCase()
    .split(",")
    .map((range) => range.split(";"))
  const weights = (name: string) =>
    ranges.filter(([type = ""]) => type.trim() === name).map(([, ...parameters]) => weightOf(parameters))
  const html = Math.max(0, ...weights("text/html"), ...weights("application/xhtml+xml"))
  return html > 0 && html >= Math.max(0, ...weights("application/json"))
}

const FIRST = "/" as const
const ROBOTS = "/robots.txt" as const

/** Requests need no token, so the storage is read no more often than this. */
const EXAMINE_EVERY = Duration.seconds(5)

// Search engines must not index monitoring.
const robots = HttpServerResponse.text("User-agent: *\nDisallow: /\n")

export interface PageOptions {
  /** Served to browsers at `/`; without it they get the state as JSON, like programs. */
  readonly console?: ConsoleFiles | undefined
  readonly trustedHops?: number | undefined
}

const layer = (
  about: About,
  options: PageOptions,
): Layer.Layer<never, never, HttpRouter.HttpRouter | Readiness | HealthExamination> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const startedAt = yield* Instant.now
      const { isReady, isDraining } = yield* Readiness
      const { examine } = yield* HealthExamination
      const examined = yield* Effect.cachedWithTTL(examine(false), EXAMINE_EVERY)
      const state = Effect.gen(function* (): Effect.fn.Return<ServiceState> {
        const ready = yield* isReady
        const upFor = Duration.nanos(((yield* Instant.now) - startedAt) * 1_000n)
        const stopping = { state: "stopping" } as const
        // No request waits for a storage that is known to be down.
        const health = isDraining() ? stopping : ready ? yield* examined : AWAY
        return { ...about, startedAt, upFor, isReady: ready, health }
      })
      const console =
        options.console === undefined
          ? undefined
          : yield* makeConsole(options.console, options.trustedHops ?? 0)
      const answer = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
        if (console !== undefined && wantsHtml(request.headers["accept"])) return yield* console.page(request)
        return HttpServerResponse.jsonUnsafe(stateDocument(yield* state), { headers: { vary: "Accept" } })
      })
      return Layer.mergeAll(
        HttpRouter.add("GET", FIRST, answer),
        HttpRouter.add("GET", ROBOTS, robots),
        console?.layer ?? Layer.empty,
      )
    }),
  )

const AWAY = {
  state: "unwell",
  faults: [{ name: "storage_answers", text: "the storage cannot be reached or written to" }],
} as const

/** The console for people, the state for programs, and robots.txt. None of them needs a token. */
export const make = (about: About, options: PageOptions) => ({
  layer: layer(about, options),
  routes: [FIRST, ROBOTS, ...pathsOf(options.console)].map((path): KnownRoute => ({ method: "GET", path })),
})
