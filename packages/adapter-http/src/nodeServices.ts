import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpPlatform from "@effect/platform-node/NodeHttpPlatform"
import * as NodePath from "@effect/platform-node/NodePath"
import { Layer } from "effect"
import { Etag } from "effect/http"

/**
 * The services of Node.js that API routes need. All of Node's services would also listen to the
 * process's standard input.
 */
export const nodeServices = Layer.mergeAll(
  NodeHttpPlatform.layer,
  NodeFileSystem.layer,
  NodePath.layer,
  Etag.layerWeak,
)
