package known

import (
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/recording"
)

// The version of .NET, which its files have, decides which variable it reads, and what it writes.
func TestOf_Dotnet(t *testing.T) {
	const dir = "/usr/share/dotnet/shared/Microsoft.NETCore.App/"
	for _, c := range []struct{ comm, file, set, note string }{
		{"dotnet", dir + "3.1.2/libcoreclr.so", "COMPlus_PerfMapEnabled=1", mapOnly},
		{"app", dir + "5.0.17/libcoreclr.so", "COMPlus_PerfMapEnabled=1", ""},
		{"dotnet", dir + "10.0.9/System.Private.CoreLib.dll", "DOTNET_PerfMapEnabled=2 DOTNET_PerfMapStubGranularity=2", ""},
		{"app", "/memfd:doublemapper (deleted)", "DOTNET_PerfMapEnabled=2 DOTNET_PerfMapStubGranularity=2", "before .NET 6: COMPlus_PerfMapEnabled=1"},
	} {
		p := recording.Process{Comm: c.comm, FileMaps: []recording.FileMap{{Name: c.file}}}
		if strings.HasPrefix(c.file, "/memfd:") {
			p.FileMaps, p.MemFile = []recording.FileMap{{}}, c.file
		}
		r := Of(&p)
		if r == nil || r.set != c.set || r.note != c.note {
			t.Errorf("%s: got %+v; want set = %q, note = %q", c.file, r, c.set, c.note)
			continue
		}
		line := []string{"perf", "record", "env", "DOTNET_PerfMapEnabled=2", "dotnet", "app.dll"}
		if got, want := r.Request(line).Flag != "", strings.HasPrefix(c.set, "DOTNET_"); got != want {
			t.Errorf("%s: DOTNET_PerfMapEnabled=2 asks for a dump: got %v; want %v", c.file, got, want)
		}
	}
}
