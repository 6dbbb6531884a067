/** The parts of Node's HTTP platform that the API needs. Importing this loads them. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpPlatform from "@effect/platform-node/NodeHttpPlatform"
import * as NodePath from "@effect/platform-node/NodePath"
import { Layer } from "effect"
import { Etag } from "effect/http"

export { makeHandler } from "@effect/platform-node/NodeHttpServer"

/** What routes of the API need. All services of Node would also listen to the program's standard input. */
export const services = Layer.mergeAll(
  NodeHttpPlatform.layer,
  NodeFileSystem.layer,
  NodePath.layer,
  Etag.layerWeak,
)
