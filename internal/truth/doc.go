// Package truth judges names and lines by what the source of a program says.
//
// The programs of testdata/truth have some 25 functions each. A function spends its
// time on one line, which a comment marks:
//
//	hot: NAME           samples in the function NAME are on this line
//	hot: NAME > INNER   the same; the line is that of INNER, inlined into NAME
//	hot: A, B           the same line for A and for B
//
// The comment may begin as any language wants. NAME is a word of the symbol that perf
// shows, before the first slash: "JS:*arrow file:///app.mjs:22:15" has the word arrow.
//
// Check takes the samples of a recording and asks the tools that people use where each
// sample's own address is: addr2line of binutils, llvm-symbolizer, eu-addr2line, perf
// script -F srcline and perf annotate. An answer is right if file and line are those of
// the mark. No table of lines is in this package, and no code of ours is asked.
//
// Functions of code that has no lines, such as V8's baseline code, count as answers
// without a line: neither right nor wrong.
package truth
