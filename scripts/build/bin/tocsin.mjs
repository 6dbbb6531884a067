#!/usr/bin/env node
// The program `tocsin`, once Node.js is known to be new enough to read it.
import process from "node:process"

const wantedNode = 24
const server = new URL("server.mjs", import.meta.url).href

if (Number.parseInt(process.versions.node, 10) >= wantedNode) {
  await import(server)
} else {
  process.stderr.write(
    `tocsin needs Node.js ${wantedNode} or newer, and this is ${process.version}: install it, then run this again.\n`,
  )
  process.exitCode = 1
}
