// Package perfcache puts objects into perf's build-id cache, removes them, and finds that cache.
//
// perf keeps files that recordings refer to in this cache. perf archive packs them from there, and
// every perf command searches there first. A file is DIR/PATH/ID/elf, where PATH is the path of the
// original. DIR/.build-id/ID is a link to the directory, with a slash after the first two digits.
// perf buildid-cache --add uses this layout (checked with perf 6.1, 6.12 and 7.2).
//
//	cache.go   adding entries to a cache
//	entry.go   removing entries from a cache
//	find.go    where perf's cache is
//	config.go  the format of perf's configuration
package perfcache
