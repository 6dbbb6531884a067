import type { Reader } from "../config/Reader.ts"
import { disk } from "./disk.ts"
import { dns } from "./dns.ts"
import type { Finding } from "./Finding.ts"
import { http } from "./http.ts"
import { load } from "./load.ts"
import { memory } from "./memory.ts"
import type { Probe, ProbeAround } from "./Probe.ts"
import { processes } from "./processes.ts"
import { systemd } from "./systemd.ts"
import { tcp } from "./tcp.ts"
import { tls } from "./tls.ts"

/** A probe with its settings, ready to run. */
export interface ProbeConfig {
  readonly name: string
  readonly title: string
  /** As the configuration has them. */
  readonly settings: object
  readonly run: (around: ProbeAround) => Promise<Finding>
}

/** Reads the settings of a probe and keeps them with what they are for. */
const configReader =
  <S extends object>(name: string, { title, reader, run }: Probe<S>): Reader<ProbeConfig> =>
  (value, place) => {
    const settings = reader(value, place)
    return settings && { name, title, settings, run: (around) => run(settings, around) }
  }

/** The keys of a check that name a probe. */
export const probeFields = {
  http: configReader("http", http),
  tcp: configReader("tcp", tcp),
  tls: configReader("tls", tls),
  dns: configReader("dns", dns),
  disk: configReader("disk", disk),
  memory: configReader("memory", memory),
  load: configReader("load", load),
  process: configReader("process", processes),
  systemd: configReader("systemd", systemd),
}

/** Those that wait for another host. */
export const NETWORK_PROBES: ReadonlySet<string> = new Set(["http", "tcp", "tls", "dns"])

export const PROBE_NAMES = Object.keys(probeFields) as ReadonlyArray<keyof typeof probeFields>
