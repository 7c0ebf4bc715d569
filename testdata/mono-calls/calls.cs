using System;
using System.Runtime.CompilerServices;
using System.Threading;

// Known numbers of calls, in two threads; recursion; exceptions that pass through methods.
public class Calls {
	static volatile int sink;

	[MethodImpl(MethodImplOptions.NoInlining)]
	static void Spin(int n) { for (int i = 0; i < n; i++) sink += i; }

	[MethodImpl(MethodImplOptions.NoInlining)]
	static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }

	[MethodImpl(MethodImplOptions.NoInlining)]
	static void Thrower(int n) { if (n == 0) throw new InvalidOperationException("thrown"); Thrower(n - 1); }

	[MethodImpl(MethodImplOptions.NoInlining)]
	static void Catcher() { try { Thrower(3); } catch (InvalidOperationException) { Spin(10); } }

	[MethodImpl(MethodImplOptions.NoInlining)]
	static void Outer(int n) { for (int i = 0; i < n; i++) Inner(i); }

	[MethodImpl(MethodImplOptions.NoInlining)]
	static void Inner(int i) { Spin(20000); }

	[MethodImpl(MethodImplOptions.NoInlining)]
	static void Second() { Outer(400); for (int i = 0; i < 50; i++) Catcher(); }

	public static int Main(string[] args) {
		var t = new Thread(Second);
		t.Name = "second";
		t.Start();
		Outer(300);
		Fib(15);
		for (int i = 0; i < 20; i++) Catcher();
		t.Join();
		if (args.Length > 0) Thread.Sleep(int.Parse(args[0]));
		return 0;
	}
}
