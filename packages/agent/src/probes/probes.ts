import { disk } from "./disk.ts"
import { dns } from "./dns.ts"
import { file } from "./file.ts"
import { http } from "./http.ts"
import { load } from "./load.ts"
import { log } from "./log.ts"
import { memory } from "./memory.ts"
import { mount } from "./mount.ts"
import { processes } from "./processes.ts"
import { systemd } from "./systemd.ts"
import { tcp, unix } from "./tcp.ts"
import { tls } from "./tls.ts"

/** The keys of a check that name a probe. */
export const probeFields = {
  http,
  tcp,
  tls,
  dns,
  unix,
  disk,
  mount,
  file,
  log,
  memory,
  load,
  process: processes,
  systemd,
}

export const PROBE_NAMES = Object.keys(probeFields) as ReadonlyArray<keyof typeof probeFields>
