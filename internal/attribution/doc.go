// Package attribution says to which processes of a recording each event of a dump belongs: the one
// that loaded the code, the children that were forked with it, and all that share its memory. The pid in
// a dump is that of its own pid namespace, and several processes may write into one dump.
//
//	attribution.go  the process of an event
//	children.go     the forked children that inherit its code
//	shared.go       the processes that share the memory it lies in
package attribution
