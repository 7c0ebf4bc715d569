// Package hostile holds no code, only tests: what others can do to jitinject, and
// what the machine can. They run the command as it is built, for what counts is what
// a user has in the end.
//
// Each attack must leave a clear sentence, the right exit code, all earlier data as
// it was, and nothing half-written. It must come to an end, in bounded memory.
//
//	who or what                   attacks                                    file
//	somebody who may write where  links in place of outputs, objects,        links_test.go
//	we write (root in /tmp)       temporary files, directories
//	                              files and dumps of other users             owners_test.go
//	                              FIFOs, devices, sockets, directories in    kinds_test.go
//	                              place of every file
//	who made the dump or the      names that talk to terminals or lead       names_test.go
//	recording                     out of directories; of each format           outside_test.go
//	                              sizes, counts and offsets up to 2^64-1     sizes_test.go
//	                              millions of records, records that claim    many_test.go
//	                              to be each other's, endless inlining
//	                              files that change while they are read      changing_test.go
//	                              logs of V8, and files with their names     v8log_test.go
//	the machine                   no room, no permission, no descriptors     limits_test.go
//	                              too little memory, too few threads         shortage_test.go
//	                              an end at any moment                       kills_test.go
//	                              a signal while a run waits or is busy      ended_test.go
//	                              every signal, also on arm64                signals_test.go
//	ourselves                     two runs at once                           twice_test.go
//
// Tests that need root, or mounts, are skipped, loudly, where these are not to be had.
package hostile
