package testrec

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// gdbLoop prints the functions at addresses by the blocks around each. A function's line and file are
// those of its declaration, or of the call if it is inlined.
const gdbLoop = `
for address in ADDRESSES:
    sal = gdb.find_pc_line(address)
    file, line = sal.symtab.fullname() if sal.symtab else "??", sal.line
    fields = [hex(address)]
    block = gdb.block_for_pc(address)
    while block and not block.is_static and not block.is_global:
        if block.function:
            fields += [block.function.name, file, str(line)]
            file, line = block.function.symtab.fullname(), block.function.line
        block = block.superblock
    print("\t".join(fields))
`

// GDBScript returns a Python script for gdb that prints the functions at addresses, for [GDBStacks].
func GDBScript(addrs []uint64) string {
	var list []string
	for _, a := range addrs {
		list = append(list, fmt.Sprintf("%#x", a))
	}
	return fmt.Sprintf("ADDRESSES = [%s]\n%s", strings.Join(list, ", "), gdbLoop)
}

// gdbRun runs gdb with an object.
func gdbRun(gdb string) func(testing.TB, string, []uint64) (string, error) {
	return func(t testing.TB, object string, addrs []uint64) (string, error) {
		script := filepath.Join(t.TempDir(), "stacks.py")
		text := fmt.Sprintf("gdb.execute(\"file -readnow \" + %q, to_string=True)\n%s", object, GDBScript(addrs))
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			return "", err
		}
		cmd := Command(t, filepath.Dir(object), gdb, "-nx", "-iex", "set host-charset UTF-8", "-batch", "-x", script)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err == nil && strings.Contains(errs.String(), "Error") {
			err = fmt.Errorf("%s", errs.String())
		}
		return string(out), err
	}
}

// GDBStacks returns the functions at n addresses from the output of a [GDBScript], the innermost first.
func GDBStacks(out string, n int) (stacks [][]Frame, err error) {
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if !strings.HasPrefix(line, "0x") || len(fields)%3 != 1 {
			return nil, fmt.Errorf("%q", line)
		}
		var stack []Frame
		for f := fields[1:]; len(f) > 0; f = f[3:] {
			line, err := strconv.ParseUint(f[2], 10, 32)
			if err != nil {
				return nil, err
			}
			stack = append(stack, Frame{Function: f[0], File: f[1], Line: uint32(line)})
		}
		stacks = append(stacks, stack)
	}
	return stacks, whole(stacks, n, "")
}
