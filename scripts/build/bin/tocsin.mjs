#!/usr/bin/env node
// The program `tocsin`, once Node.js is known to be new enough to read it.
import process from "node:process"
import { isNodeNewEnough, nodeRefusal } from "@tocsin/contract/formats/nodeVersions"

if (isNodeNewEnough(process.versions)) {
  await import(new URL("server.mjs", import.meta.url).href)
} else {
  process.stderr.write(`${nodeRefusal("tocsin", process.versions)}\n`)
  process.exitCode = 1
}
