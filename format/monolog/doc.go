// Package monolog reads and writes logs of Mono's log profiler, mono --profile=log: files that mprof-report reads, called output.mlpd.
package monolog
