// Package summary writes the results of a run as text ([Write]). The command prints it on standard
// error when a run is complete, so its messages name the command's options. The JSON form is package
// json's, of the same Summary of package report. cmd/jitinject/help/summary.md explains both to users.
//
//	process    functions  samples  resolved  dump
//	10085 php         44      151     100 %  /tmp/jit-10085.dump
//	    NOTE
//	hottest functions (share of samples)
//	  77.5 %  isPrime  optimized  line 5
//	perf.jit.data: 44 mappings, 36 kB of objects in /tmp
//	read 35 kB, wrote 40 kB in 12 ms
//	next: jitinject report
//	      jitinject view
//
// The lines come in this order. All but those of the result are there only if they have something to say.
//
//   - A line for each dump (table.go): what was found in the file, how many samples are in its code,
//     and the share of them that the result shows in a function. Columns without a number are left
//     out. If there are more than 20 dumps, the largest have lines, and the others are added up, unless
//     Options.All is set. The last of several lines adds all dumps up.
//   - Indented below it, its notes (notes.go): how its times were matched, whether perf's
//     copies of stacks were too small, where unresolved samples are, and who calls its
//     functions if no sample is in them (samples.go), whether its lines are at the right addresses,
//     and the number of faults of its producer that were repaired.
//   - The hottest functions (hottest.go), or those that most callchains pass through.
//   - Advice that holds for several dumps, once (advice.go): sources of code, V8's flags, PHP's
//     lack of lines.
//   - A line for each log of calls, with its defects as notes (traces.go).
//   - The reasons why there was nothing to inject, each with advice (summary.go).
//   - The result: mappings, or calls if there are none; the objects and their directories; bytes read
//     and written, and the time of the run; objects in the build-id cache, and replaced ones.
//   - The command that shows more (hottest.go).
//
// A run without markers or logs of calls has one line that says so, and the reasons. Problems are not
// here: the command prints them before the summary, because it prints them with the JSON form, too.
//
// A new note is a function that returns its text, or "" if there is nothing to say; a line in
// dumpNotes; and a test with a table of its texts. If only few users need it, it depends on
// Options.All, which is the command's -v.
package summary
