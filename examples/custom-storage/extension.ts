// The log file for a server: SERVICE_EXTENSIONS=tocsin-storage-log-file/extension, and LOG_FILE for its path.
import process from "node:process"
import { logFile } from "./logFile.ts"

export default { storage: logFile(process.env["LOG_FILE"] ?? "monitoring.log") }
