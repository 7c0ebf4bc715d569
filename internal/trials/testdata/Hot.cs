// The program of the trials: see README.md.
using System;
using System.Diagnostics;
using System.IO;

static class Hot {
    static long Inner(long x) { return (x * 31 + 7) % 1000003; }
    static long hot(long n) { long x = n; for (int i = 0; i < 20000; i++) x = Inner(x); return x; }
    static string Env(string name, string other) { return Environment.GetEnvironmentVariable(name) ?? other; }

    static int Main() {
        string mode = Env("TRIAL_MODE", "normal");
        long sum = 0;
        Console.WriteLine("out: begin");
        Console.Error.WriteLine("err: begin");
        if (mode == "work") {
            for (int i = 0, n = int.Parse(Env("TRIAL_WORK", "1")); i < n; i++) sum += hot(i & 1023);
            return 0;
        }
        var clock = Stopwatch.StartNew();
        while (clock.ElapsedMilliseconds < int.Parse(Env("TRIAL_TIME", "600"))) sum += hot(sum & 1023);
        if (mode == "busy") {
            File.WriteAllText(Env("TRIAL_SIGNS", "") + "/ready", Process.GetCurrentProcess().Id + "\n");
            for (;;) sum += hot(1);
        }
        Console.WriteLine("out: end");
        return mode == "code" ? 7 : 0;
    }
}
