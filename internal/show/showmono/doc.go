// Package showmono shows logs of Mono's profiler: their events, with the names that the log has for
// methods and classes, or a table of calls. A log is read once from front to back, so it may come through
// a pipe. The package knows no other format.
package showmono
