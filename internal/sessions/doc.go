// Command sessions runs the sessions that the documentation shows and puts what
// they print into it:
//
//	go run ./internal/sessions [-only WORD] [FILE.md...]
//
// A session is a comment in a markdown file, followed by what it printed last:
//
//	<!-- session NAME recording=node-hot needs=perf
//	: export JITDUMPDIR=$PWD
//	$ jitinject -i perf.data -o perf.jit.data
//	$ perf report --stdio -i perf.jit.data
//	| report 6
//	= 0
//	-->
//	```console
//	...
//	```
//	<!-- /session -->
//
// Lines that begin with "$ " are commands. bash runs them, and they are shown with
// all that they print. ": " is run and not shown. "| " is a command, or one of the
// functions in shell.sh, that shortens the output of the command before it. "= " is
// the exit code that the command before it must have, by default 0. All of a session
// runs in one shell, in a fresh directory.
//
// The attributes of a session:
//
//	recording=NAME  testdata's recording of that name is unpacked into the directory
//	files=A,B       these files of docs/runtimes/programs are copied there
//	needs=A,B       commands without which the session is left as it is
//	in=ROOT         it runs in the folder ROOT of another Debian release, which
//	                script/sessions makes
//	records         perf record must work; tests do not run such a session
package main
