/** What `tocsin-agent --help` prints. */
export const USAGE = `tocsin-agent runs the checks of a host and reports their results to a Tocsin server.

  tocsin-agent start                         run the checks of the configuration until stopped
  tocsin-agent check [--print]               examine the configuration, and print it in full
  tocsin-agent status [--json]               backlog, clock, and what the server last said
  tocsin-agent fingerprint                   the fingerprint to compare before the key is accepted
  tocsin-agent rotate                        make a new key, used once it is accepted
  tocsin-agent report CHECK STATUS [TEXT]    report a result: ok, warning, critical or unknown
  tocsin-agent run CHECK -- COMMAND…         run a command and report how it ended
  tocsin-agent import FILE                   print the checks of an nrpe.cfg as a configuration

Every command takes
  --config FILE   the configuration (/etc/tocsin-agent/config.yaml), with checks.d/*.yaml beside it
  --state DIR     the folder of the key and the spool (/var/lib/tocsin-agent)`
