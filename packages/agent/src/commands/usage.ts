/** The output of `tocsin-agent --help`. */
export const USAGE = `tocsin-agent runs the checks of a host and reports their results to a Tocsin server.

  tocsin-agent start                         run the checks of the configuration until stopped
  tocsin-agent check [--print]               examine the configuration, and print it in full
  tocsin-agent try CHECK [--json]            run a check now, as the agent would, and show its result: nothing is sent
  tocsin-agent status [--json]               backlog, clock, and what the server last said
  tocsin-agent fingerprint                   the fingerprint to compare before the key is accepted
  tocsin-agent rotate                        make a new key, used once it is accepted
  tocsin-agent report CHECK STATUS [TEXT]    report a result: ok, warning, critical or unknown, or 0 to 3
  tocsin-agent run CHECK -- COMMAND…         run a command and report how it ended
  tocsin-agent import FILE                   print the checks of an nrpe.cfg as a configuration

start takes
  --server URL    the server, in place of the configuration's; without a file, disk, load and memory are checked
  --enrol         ask for an enrolment token, by which the server accepts this agent; or set TOCSIN_ENROLMENT_TOKEN

report takes its TEXT from standard input for -, and literally after --. It takes
  --incident-key KEY   groups results of several checks into one incident

run takes, before the --
  --incident-key KEY   the same
  --severity SEVERITY  of a job that fails: warning, critical (the default) or unknown
  --nagios             the exit code is that of a plugin: 0 ok, 1 warning, 2 critical, 3 unknown
  --timeout DURATION   end the job after this time, such as 90s or 2h: SIGTERM, then SIGKILL 5 s later
  --no-overlap         do not start the job while its former run is under way; exits with 75

Every command takes
  --config FILE   the configuration (/etc/tocsin-agent/config.yaml), with checks.d/*.yaml beside it
  --state DIR     the folder of the key and the spool (/var/lib/tocsin-agent)
Where these folders are missing and the user is not root: ~/.config/tocsin-agent, ~/.local/state/tocsin-agent`
