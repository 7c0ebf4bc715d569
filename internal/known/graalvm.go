package known

// nativeImage is a native image of GraalVM: a program of any name, in which Truffle compiles.
var nativeImage = Runtime{note: "a native image of GraalVM writes a dump if it was built with -H:+RuntimeDebugInfo -H:RuntimeDebugInfoFormat=jitdump; perf shows addresses in the code that Truffle compiles otherwise"}
