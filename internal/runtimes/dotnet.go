package main

import (
	"context"
	"os"
	"path/filepath"
)

// dotnet runs the program with the map of .NET Core 3.1: its SDK is what npm has. The SDK's own
// compiler needs OpenSSL 1.1, so Mono's makes the program.
func dotnet(ctx context.Context, s *site) (*command, error) {
	if _, err := output(ctx, s.work, nil, "mcs", "-debug", "-optimize+", "-out:Truth.exe", "Truth.cs", "Other.cs"); err != nil {
		return nil, err
	}
	config := `{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "3.1.0"}}}`
	if err := os.WriteFile(filepath.Join(s.work, "Truth.runtimeconfig.json"), []byte(config), 0o644); err != nil {
		return nil, err
	}
	return &command{
		args: []string{filepath.Join(s.npm, "dn"), "exec", "--runtimeconfig", "Truth.runtimeconfig.json", "Truth.exe", s.milliseconds},
		env:  []string{"COMPlus_PerfMapEnabled=1", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1"},
	}, nil
}
