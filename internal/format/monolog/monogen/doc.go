// Package monogen writes logs of Mono's profiler, of all versions, for tests.
package monogen
