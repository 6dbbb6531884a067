import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { Deferred, Effect, type Scope } from "effect"
import { isRefused } from "../processes/RawConnection.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { until } from "../processes/until.ts"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { lacking, programPath } from "../../scripts/programs.mjs"

/** A proxy in front of Tocsin, set up as the file of its kind says but for addresses and places. */
export interface Proxy {
  readonly httpPort: number
  readonly httpsPort: number
  /** The certificate that its own is to be held against. */
  readonly certificate: string
  /** Its output, to its log and elsewhere. */
  readonly log: () => string
}

interface Places {
  readonly folder: string
  readonly httpPort: number
  readonly httpsPort: number
  readonly upstreamPort: number
}

/** A proxy that there is a configuration for. */
export interface ProxyKind {
  readonly name: "nginx" | "caddy"
  /** Its file in deploy/proxies. */
  readonly file: string
  /** Writes its configuration and returns its command. */
  readonly prepare: (
    text: string,
    places: Places,
  ) => readonly [program: string, ...args: ReadonlyArray<string>]
  readonly logs: ReadonlyArray<string>
}

/** The name that stands in the files. */
export const SITE = "monitoring.example"

const replaced = (text: string, changes: ReadonlyArray<readonly [from: string, to: string]>): string =>
  changes.reduce((changed, [from, to]) => {
    // Otherwise the test would run something other than the published file.
    if (!changed.includes(from)) throw new Error(`the configuration has no ${from}`)
    return changed.replaceAll(from, to)
  }, text)

const prepareNginx: ProxyKind["prepare"] = (text, { folder, httpPort, httpsPort, upstreamPort }) => {
  const site = replaced(text, [
    ["listen [::]:80;", ""],
    ["listen [::]:443 ssl http2;", ""],
    ["listen 80;", `listen 127.0.0.1:${httpPort};`],
    ["listen 443 ssl", `listen 127.0.0.1:${httpsPort} ssl`],
    ["127.0.0.1:8080", `127.0.0.1:${upstreamPort}`],
    ["/etc/ssl/tocsin", folder],
    ["/var/log/nginx", folder],
  ])
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  )
  const main = [
    ...(process.getuid?.() === 0 ? ["user root;"] : []),
    `pid ${join(folder, "nginx.pid")};`,
    `error_log ${join(folder, "error.log")} info;`,
    "daemon off; worker_processes 1; events { worker_connections 256; }",
    `http { access_log ${join(folder, "access.log")}; ${temporary.join(" ")} include ${join(folder, "site.conf")}; }`,
  ]
  writeFileSync(join(folder, "site.conf"), site)
  writeFileSync(join(folder, "main.conf"), main.join("\n"))
  return [
    programPath("nginx") ?? "nginx",
    "-e",
    join(folder, "error.log"),
    "-p",
    folder,
    "-c",
    join(folder, "main.conf"),
  ]
}

const prepareCaddy: ProxyKind["prepare"] = (text, { folder, httpPort, httpsPort, upstreamPort }) => {
  const own = `{\n\tadmin off\n\thttp_port ${httpPort}\n\thttps_port ${httpsPort}\n\tservers {`
  const site = replaced(text, [
    ["{\n\tservers {", own],
    ["127.0.0.1:8080", `127.0.0.1:${upstreamPort}`],
    ["/etc/ssl/tocsin", folder],
    ["/var/log/caddy", folder],
  ])
  const file = join(folder, "Caddyfile")
  writeFileSync(file, site)
  return [programPath("caddy") ?? "caddy", "run", "--adapter", "caddyfile", "--config", file]
}

/** The proxies with a configuration. */
export const proxyKinds: ReadonlyArray<ProxyKind> = [
  {
    name: "nginx",
    file: "nginx.conf",
    prepare: prepareNginx,
    logs: ["error.log", "access.log", "tocsin.log"],
  },
  { name: "caddy", file: "Caddyfile", prepare: prepareCaddy, logs: ["tocsin.log"] },
]

/** The text of a configuration as it is published. */
export const publishedText = ({ file }: ProxyKind): string =>
  readFileSync(fileURLToPath(new URL(`../../deploy/proxies/${file}`, import.meta.url)), "utf8")

/** The program that makes certificates. */
const CERTIFIER = "openssl"

/** Why no proxy of a kind runs here; `undefined` if it does. */
export const lacks = ({ name }: ProxyKind): string | undefined => lacking(name, "openssl")

const makeCertificate = (folder: string): string => {
  const certificate = join(folder, "fullchain.pem")
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout"]
  const name = ["-subj", `/CN=${SITE}`, "-addext", `subjectAltName=DNS:${SITE}`]
  const args = ["req", "-x509", "-days", "2", ...name, ...key, join(folder, "key.pem"), "-out", certificate]
  execFileSync(CERTIFIER, args, { stdio: "ignore" })
  return readFileSync(certificate, "utf8")
}

const readIfThere = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/**
 * Starts a proxy in front of a port of this machine, and waits until it listens; it ends with the
 * scope.
 */
export const startProxy = Effect.fnUntraced(function* (
  kind: ProxyKind,
  upstreamPort: number,
  /** Behind the published text. */
  more = "",
): Effect.fn.Return<Proxy, never, Scope.Scope> {
  const folder = join(yield* scratchFolder, "proxy")
  mkdirSync(folder)
  const places = {
    folder,
    upstreamPort,
    httpPort: yield* Effect.promise(freePort),
    httpsPort: yield* Effect.promise(freePort),
  }
  const certificate = makeCertificate(folder)
  const [program, ...args] = kind.prepare(`${publishedText(kind)}\n${more}`, places)
  let written = ""
  const ended = Deferred.makeUnsafe<void>()
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const env = { PATH: process.env["PATH"], HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
      const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] })
      child.stdout.on("data", (part: Buffer) => (written += part.toString()))
      child.stderr.on("data", (part: Buffer) => (written += part.toString()))
      child.on("close", () => Deferred.doneUnsafe(ended, Effect.void))
      return child
    }),
    (child) =>
      Effect.andThen(
        Effect.sync(() => child.kill("SIGTERM")),
        Deferred.await(ended),
      ),
  )
  const log = () => [written, ...kind.logs.map((name) => readIfThere(join(folder, name)))].join("\n")
  const listens = Effect.map(isRefused(places.httpsPort), (refused) => !refused)
  const endedEarly = Effect.andThen(
    Deferred.await(ended),
    Effect.suspend(() => Effect.die(new Error(`${kind.name} ended before it listened: ${log()}`))),
  )
  yield* Effect.raceFirst(until(`${kind.name} listens`, listens), endedEarly)
  return { ...places, certificate, log }
})
