// Package truth judges names and lines of a result by marks in the program's source.
//
// The programs of testdata/truth have some 25 functions each. A function spends its
// time on one line, which a comment marks:
//
//	hot: NAME           samples in the function NAME are on this line
//	hot: NAME > INNER   the same; the line is that of INNER, inlined into NAME
//	hot: A, B           the same line for A and for B
//
// The comment has the form of its language. NAME is a word of the symbol that perf shows,
// before the first slash: "JS:*arrow file:///app.mjs:22:15" has the word arrow.
//
// Check asks users' tools for the source line of each sample's own address: addr2line of
// binutils, llvm-symbolizer, eu-addr2line, perf script -F srcline and perf annotate. An
// answer is right if file and line are those of the mark. The package reads no line tables
// itself, and uses no other code of ours.
//
// Functions of code that has no lines, such as V8's baseline code, count as answers
// without a line: neither right nor wrong.
package truth
