import { IncomingMessage } from "node:http"
import { Clock, Duration, Effect, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { isSame } from "../../documents/StaticContent.ts"
import { errorResponse, type Failure } from "../../response/failures.ts"
import { RequestId } from "../../response/headerFields.ts"
import { type KnownRoute, pathOf } from "../../routes.ts"
import type { DownloadFiles } from "./DownloadFiles.ts"
import { type DownloadedFile, PIECE_BYTES } from "./DownloadedFile.ts"

const PATH = "/agent/:file"

/** Each holds a piece in memory, and a connection. */
const MOST_DOWNLOADS = 8
const RETRY_SECONDS = 5

/** A client that is behind the least rate by this long would keep its place from others. */
const PATIENCE = Duration.seconds(30)
const LEAST_BYTES_PER_SECOND = 32_768
const PIECE_SECONDS = PIECE_BYTES / LEAST_BYTES_PER_SECOND

const UNKNOWN: Failure = {
  code: "not_found",
  message: "this server hands out no file of this name: see GET /ops/v1/agent_download for the names",
}
const CHANGED: Failure = {
  code: "not_found",
  message: "this file has changed since the server started: start the server again to hand it out",
}
const BUSY: Failure = {
  code: "not_ready",
  message: `${MOST_DOWNLOADS} downloads are under way; try again in ${RETRY_SECONDS} seconds`,
  retryAfterSeconds: RETRY_SECONDS,
}

const refused = (failure: Failure) => Effect.map(RequestId, (requestId) => errorResponse(failure, requestId))

const typeOf = (name: string): string => {
  if (/\.(sh|txt)$/.test(name)) return "text/plain; charset=utf-8"
  return name.endsWith(".tgz") ? "application/gzip" : "application/octet-stream"
}

/** Closes the connection of a client that falls behind the least rate. The result notes that it took a piece. */
const closeSlow = Effect.fnUntraced(function* ({ source }: HttpServerRequest.HttpServerRequest) {
  const clock = yield* Clock.Clock
  const seconds = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e9
  const latest = () => seconds() + Duration.toSeconds(PATIENCE)
  let end = latest()
  const close = Effect.gen(function* () {
    while (end > seconds()) yield* Effect.sleep(Duration.seconds(end - seconds()))
    if (source instanceof IncomingMessage) source.socket.destroy()
  })
  yield* Effect.forkScoped(close)
  return () => {
    // Never later: the system takes a few MiB at once for a client that reads nothing.
    end = Math.min(latest(), end + PIECE_SECONDS)
  }
})

/** Answers with a file in pieces, each read once the client has taken the one before. */
const download = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  file: DownloadedFile,
  headers: Readonly<Record<string, string>>,
) {
  const read = yield* file.open
  const notePiece = yield* closeSlow(request)
  const pieces = Stream.unfold(0, (offset) => {
    notePiece()
    return offset >= file.bytes
      ? Effect.undefined
      : Effect.map(read(offset), (piece) => [piece, offset + PIECE_BYTES] as const)
  })
  return HttpServerResponse.stream(pieces, {
    contentType: typeOf(file.name),
    contentLength: file.bytes,
    headers,
  })
})

/** Takes a place of a download until the request ends; `false` if there is none left. */
const makePlaces = () => {
  let taken = 0
  return Effect.acquireRelease(
    Effect.sync(() => {
      if (taken === MOST_DOWNLOADS) return false
      taken += 1
      return true
    }),
    (isTaken) =>
      Effect.sync(() => {
        if (isTaken) taken -= 1
      }),
  )
}

/** Hands out files, without authentication (docs/rules.md#agent-downloads). */
export const make = ({ files }: DownloadFiles) => {
  const takePlace = makePlaces()
  const answer = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const [, , name = ""] = pathOf(request.url).split("/")
    const file = files.get(name)
    if (file === undefined) return yield* refused(UNKNOWN)
    const headers = { etag: `"${file.sha256}"`, "cache-control": "no-cache" }
    const isKnown = isSame(request.headers["if-none-match"], headers.etag)
    if (isKnown || request.method === "HEAD") {
      yield* Effect.scoped(file.open)
      return HttpServerResponse.empty({
        status: isKnown ? 304 : 200,
        headers: isKnown
          ? headers
          : { ...headers, "content-type": typeOf(name), "content-length": String(file.bytes) },
      })
    }
    return (yield* takePlace) ? yield* download(request, file, headers) : yield* refused(BUSY)
  }).pipe(Effect.catchTag("FileChanged", () => refused(CHANGED)))
  const routes: ReadonlyArray<KnownRoute> = [{ method: "GET", path: PATH }]
  return { layer: HttpRouter.add("GET", PATH, answer), routes }
}
