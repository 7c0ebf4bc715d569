package export

import "github.com/jitinject/jitinject/internal/profile"

// symbols are the functions that viewers add up: those with the same name, source and object are
// one. Objects of JIT code do not count, because each version of a function has its own.
type symbols struct {
	of    []int // index of the symbol of each function
	first []int // index of the first function of each symbol
}

func mergeFunctions(p *profile.Profile) symbols {
	type key struct {
		name, file, object string
		line               int
		jit                bool
	}
	merged := symbols{of: make([]int, len(p.Functions))}
	known := make(map[key]int)
	for i := range p.Functions {
		f := &p.Functions[i]
		k := key{functionName(f), f.File, objectOf(f), f.Line, f.Kind == profile.JIT}
		if k.jit {
			k.object = ""
		}
		symbol, ok := known[k]
		if !ok {
			symbol = len(merged.first)
			known[k] = symbol
			merged.first = append(merged.first, i)
		}
		merged.of[i] = symbol
	}
	return merged
}

// frames appends the frames of a stack, outermost first. Its result shares memory with buffer.
func frames(buffer []int, p *profile.Profile, stack int) []int {
	buffer = buffer[:0]
	for ; stack >= 0; stack = p.Stacks[stack].Caller {
		buffer = append(buffer, p.Stacks[stack].Frame)
	}
	for i, j := 0, len(buffer)-1; i < j; i, j = i+1, j-1 {
		buffer[i], buffer[j] = buffer[j], buffer[i]
	}
	return buffer
}
