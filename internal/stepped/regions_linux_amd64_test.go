package stepped

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/jitinject/jitinject/internal/source"
)

// A region is executable memory from lo up to hi that may hold jitted code. It belongs to
// no file, or to a part of a file that is mapped twice. home is the address of lo's byte in
// the first mapping, or 0 in the first or only one.
type region struct{ lo, hi, home uint64 }

// regionsOf returns the regions of a process.
func regionsOf(pid int) (list []region, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	type mapped struct {
		region
		off  uint64 // in the file
		name string
	}
	var files []mapped
	s := bufio.NewScanner(f)
	for s.Scan() {
		fields := strings.Fields(s.Text())
		var m mapped
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &m.lo, &m.hi); err != nil || !strings.Contains(fields[1], "x") {
			continue
		}
		fmt.Sscanf(fields[2], "%x", &m.off)
		m.name = strings.Join(fields[5:], " ")
		if m.name == "" || strings.HasPrefix(m.name, "/dev/zero") || strings.HasPrefix(m.name, "[anon") ||
			strings.HasPrefix(m.name, "/memfd") || strings.HasSuffix(m.name, "(deleted)") {
			list = append(list, m.region)
			continue
		}
		// V8 maps its builtins, a part of its program, a second time.
		for _, o := range files {
			if o.name == m.name && o.off <= m.off && m.off-o.off < o.hi-o.lo {
				m.home = o.lo + m.off - o.off
				list = append(list, m.region, region{lo: m.home, hi: m.home + m.hi - m.lo})
			}
		}
		files = append(files, m)
	}
	return list, s.Err()
}

// copiesOf returns the second mappings among regions, in both directions.
func copiesOf(regions []region) (copies []source.Copy) {
	for _, r := range regions {
		if r.home != 0 {
			copies = append(copies, source.Copy{Lo: r.lo, Hi: r.hi, Home: r.home}, source.Copy{Lo: r.home, Hi: r.home + r.hi - r.lo, Home: r.lo})
		}
	}
	return copies
}
