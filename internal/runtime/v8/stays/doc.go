// Package stays decides when code of V8's logs was at its addresses.
//
//	stay.go     the code of a log: what came to which address, by the times of an isolate
//	life.go     what a recording knows of a process: memory, samples, its begin and end
//	cover.go    the code at an address
//	bounds.go   when an isolate began
//	loads.go    the functions of a process's dumps
//	arrange.go  what was at an address at a time
//
// An isolate's times count from its beginning, which only bounds are known of. Functions have their names while
// all beginnings within the bounds agree on them.
package stays
