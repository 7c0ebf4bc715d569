// Package clients holds no code, only tests: programs that people use on a recording
// or on an object, each tried on what jitinject makes of real recordings.
//
//	client                                  what it must show                   file
//	perf report, script, diff               the hot function, as often as it    perf_test.go
//	perf buildid-list                       is hit; each object with its id
//	perf inject -b, -s, --buildid-all       the same afterwards
//	perf data convert --to-json             the same, with names in it
//	flame graphs (perf script)              jitted frames have names
//	perf annotate                           its hot line
//	perf archive, buildid-cache             all of that on another machine      archive_test.go
//	perf's own tests of inject, buildid     pass (make interop)                  perftests_test.go
//	hotspot (its perfparser)                every sample as perf shows it       hotspot_test.go
//	hotspot's window (make interop)         names and inlined calls             hotspotwindow_test.go
//	gdb, llvm-symbolizer, eu-addr2line,     function, file and line of its code objects_test.go
//	addr2line
//	perf report, script, diff, annotate     the same with bundles as with       perfviews_test.go
//	                                        an object for each function
//	gdb, llvm-symbolizer, eu-addr2line,     the same, at every sampled address  objectviews_test.go
//	addr2line
//
// They run with the perf that is installed, and with those that JITINJECT_PERFS names. With
// JITINJECT_ALL, views are compared on all recordings, some by chance on each, and on those that
// JITINJECT_RECORDINGS names.
package clients
