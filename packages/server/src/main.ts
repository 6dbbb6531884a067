#!/usr/bin/env node
import process from "node:process"
import { serve } from "./serve.ts"

const args = process.argv.slice(2)
// The server does not load the command line, which would add some MiB to its idle memory.
if (args.length === 0 || (args.length === 1 && args[0] === "serve")) serve()
else (await import("./commandLine.ts")).runCommandLine(args)
