// Package addr2line is a filter between perf and the program addr2line.
//
// perf starts one addr2line for each file, and asks it for functions and lines. An address may have
// several pairs of these, because calls are inlined. To find the end of the answer, perf sends the
// line "," after each address: an end mark. addr2line of binutils takes it for a symbol's name,
// demangles all symbols of the file, and compares them. For node, with 110,000 symbols, an address
// takes 1 ms and an end mark 100 ms.
//
// So the filter sends an address that no file has, and changes the answer to what perf expects:
//
//	perf           filter               addr2line              filter to perf
//	,              ffffffffffffffff     0xffffffffffffffff     0x0000000000000000
//	                                    ??                     ??
//	                                    ??:0                   ??:0
//
// All other lines pass. perf 6.1 does not ask for the line with the address (the option -a), so the
// filter adds the option and drops these lines. They show where an answer begins, whatever addr2line
// prints for an unknown address: LLVM's prints the name of a symbol.
//
// The dialog is that of perf 6.1, 6.12 and 7.2 with addr2line of binutils 2.40 to 2.47 and of LLVM
// 14. Other perfs that send addresses as arguments get the real addr2line, without a filter.
//
// perf starts the filter for each file, hundreds of times. So it has one thread of control and small
// buffers, and main calls it before anything else.
package addr2line
