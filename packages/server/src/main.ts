#!/usr/bin/env node
import process from "node:process"
import { serve } from "./serve.ts"

const args = process.argv.slice(2)
// A server neither reads a command line nor runs what reads one: that would be some MiB of its idle memory.
if (args.length === 0 || (args.length === 1 && args[0] === "serve")) serve()
else (await import("./commandLine.ts")).runCommandLine(args)
