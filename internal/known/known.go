package known

import (
	"path"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/recording"
)

// A Runtime is a program with a JIT compiler, with the way to make it write a dump.
type Runtime struct {
	names []string // of its program, or of its main thread
	// files are parts of names of files that it maps, where its own name is not enough.
	files []string
	// commands are the programs that start it. The first one is for advice. If it has no names, these
	// are those of the runtime.
	commands []command
	// flags are texts in options that make it write a dump. Some have a space: the option and its value.
	flags []string
	// friends are texts in further options that a dump needs.
	friends []string
	// env are the environment variables in which flags may be, or a file that has the same effect.
	env []string
	// options make it write a dump, and set are environment variables that do so. Both are "" if the
	// runtime cannot write one.
	options, set string
	ignored      string // options that look like these, and that it ignores; they are taken out
	program      string // a placeholder for its program
	stacks       string // options of perf record for stacks; "" for -g
	note         string // further advice, or ""

	recordable recordable // what jitinject record needs for a dump
	deafening  string     // letters of options that make it ignore its variables; "" for none

	ownStack bool // its code runs on a stack of its own

	// other says whose code it may be that options do not name, and live how to get names for it.
	// Both are "" if options name all code.
	other, live string
}

// IsMono reports whether a runtime is Mono.
func (r *Runtime) IsMono() bool { return r != nil && slices.Contains(r.names, "mono") }

// HasOwnStack reports whether code of a runtime runs on a stack of its own. No unwinder finds the way
// from that to the thread's stack, which perf record copies.
func (r *Runtime) HasOwnStack() bool { return r != nil && r.ownStack }

// Env returns in words where flags of a runtime may be other than on the command line, or "". A
// recording does not have that.
func (r *Runtime) Env() string {
	last := len(r.env) - 1
	if last < 1 {
		return strings.Join(r.env, "")
	}
	return strings.Join(r.env[:last], ", ") + " or " + r.env[last]
}

// Advice returns the command that makes the runtime write a dump, with further advice. It is made from
// perf record's command line if that starts the runtime, or a program that may have started it. Where
// jitinject record can do it, that comes first, and perf's command stands in a comment: it has the
// options, which a service needs, and a machine without jitinject.
func (r *Runtime) Advice(cmdline []string) string {
	if r.options == "" && r.set == "" {
		return r.note
	}
	r = r.withJIT(cmdline)
	stacks := r.stacks
	if stacks == "" {
		stacks = "-g"
	}
	text := "perf record -k mono " + stacks + " " + r.withOptions(r.Request(cmdline))
	note := r.note
	found := FindAgent()
	if found == "" && strings.Contains(text, agent) {
		note = "first " + InstallAgent + "; " + note
	}
	switch command, again := r.recorded(cmdline); {
	case again && command != "":
		text = command
	case command != "":
		text = command + "  # or: " + text
	}
	if note != "" {
		text += "  # " + note
	}
	if found != "" {
		text = strings.ReplaceAll(text, agent, found)
	}
	return text
}

// withOptions returns the runtime's command with what makes it write a dump.
func (r *Runtime) withOptions(q Request) string {
	command := strings.Join(q.corrected, " ")
	if command == "" {
		command = r.example()
	}
	if r.set != "" {
		command = "env " + r.set + " " + command
	}
	return command
}

// example returns the command with a placeholder for the program.
func (r *Runtime) example() string {
	if len(r.commands) == 0 {
		return strings.Join(nonEmpty(r.names[0], r.options, r.program), " ")
	}
	c := &r.commands[0]
	name := r.names[0]
	if c.names != nil {
		name = c.names[0]
	}
	return strings.Join(r.read(c, nonEmpty(name, r.program)).corrected, " ")
}

// Other returns whose code it may be that the runtime's dump would not have, in words, and how to get
// names for it. Both are "" if there is none.
func (r *Runtime) Other() (whose, advice string) { return r.other, r.live }

// plain returns a program's name without its version or machine.
func plain(name string) string {
	name = path.Base(name)
	if i := strings.IndexAny(name, "0123456789.-"); i > 0 {
		name = name[:i]
	}
	return name
}

// Of returns the runtime of a process, or nil.
func Of(p *recording.Process) *Runtime {
	if p.Truffle {
		return &nativeImage
	}
	files := append(nonEmpty(p.MemFile), filesOf(p, 1000)...)
	for i := range all {
		r := &all[i]
		is := func(name string) bool { return slices.Contains(r.names, name) || slices.Contains(r.names, plain(name)) }
		if is(p.Comm) || slices.ContainsFunc(files, func(f string) bool {
			return is(path.Base(f)) || slices.ContainsFunc(r.files, func(part string) bool { return strings.Contains(f, part) })
		}) {
			switch {
			case slices.Contains(r.names, "python"):
				return python(*r, p.Comm, files)
			case slices.Contains(r.names, "dotnet"):
				return dotnet(*r, files)
			}
			return r
		}
	}
	return nil
}

// filesOf returns the first files that a process maps, at most most.
func filesOf(p *recording.Process, most int) (files []string) {
	for i := range p.FileMaps {
		if name := p.FileMaps[i].Name; name != "" && !slices.Contains(files, name) && len(files) < most {
			files = append(files, name)
		}
	}
	return files
}

// nonEmpty returns the texts that are not "".
func nonEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}
