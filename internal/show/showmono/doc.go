// Package showmono shows logs of Mono's profiler: their events, with the names that the log has for
// methods and classes. A log is read once from front to back. The package knows no other format.
package showmono
