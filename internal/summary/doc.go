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
// cmd/jitinject/help/summary.md has the order of the lines, and what each says. All but those of the result are
// there only if they have something to say.
//
// A run without markers or logs of calls has one line that says so, and the reasons. Problems are not
// here: the command prints them before the summary, because it prints them with the JSON form, too.
//
// A new note is a function that returns its text, or "" if there is nothing to say; a line in
// dumpNotes; and a test with a table of its texts. If only few users need it, it depends on
// Options.All, which is the command's -v.
package summary
