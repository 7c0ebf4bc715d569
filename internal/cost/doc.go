// Package cost holds no code, only tests: twice the input may cost at most 2.3 times the work.
//
// Work is the number of statements that a run executes. A build of the command counts them (go
// build -cover -covermode=count). Unlike time, the number hardly changes from run to run, and not
// with the machine: a test that fails has found a loop in a loop.
//
// A series is an input of any size. Each is run in several modes, at two sizes. To see where the
// work goes, run go test -run TestWork_TwiceTheInput/SERIES/MODE -v: the blocks that grow most are
// printed.
//
// The work of the standard library is not counted there. The worst files of each format have a test of
// their own, which bounds memory and what is read and written, too. So has what jitdump reads of a
// damaged file.
package cost
