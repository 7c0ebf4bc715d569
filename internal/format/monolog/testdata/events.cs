using System; using System.Threading; using System.Runtime.CompilerServices; using System.Runtime.InteropServices;
class Node { public Node Next; public object[] Many; ~Node() { Tiny.Finalized++; } }
struct Pair<T> { public T A, B; [MethodImpl(MethodImplOptions.NoInlining)] public T Swap() { var t = A; A = B; B = t; return t; } }
static class Tiny {
  public static int Finalized; static object gate = new object(); static long sink;
  [MethodImpl(MethodImplOptions.NoInlining)] static long Leaf(int n) { long s = 0; for (int i = 0; i < n; i++) s += i * (long)i ^ s >> 3; return s; }
  [MethodImpl(MethodImplOptions.NoInlining)] static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }
  [MethodImpl(MethodImplOptions.NoInlining)] static void Thrower(int d) { if (d > 0) Thrower(d - 1); else throw new Exception("x"); }
  static void Contend() { lock (gate) { sink += Leaf(2000000); } }
  static int Main() {
    var t = new Thread(Contend); t.Name = "worker"; t.Start(); Contend();
    if (Monitor.TryEnter(gate, 1)) Monitor.Exit(gate);
    sink += Fib(6);
    try { try { Thrower(2); } finally { sink++; } } catch (Exception) { sink--; }
    Node head = null; for (int i = 0; i < 40; i++) head = new Node { Next = i % 7 == 0 ? null : head, Many = i % 10 == 0 ? new object[20] : null };
    for (int k = 0; k < 20; k++) { if (head.Many == null) head.Many = new object[20]; head.Many[k] = head; }
    var h = GCHandle.Alloc(head); h.Free();
    GC.Collect(); GC.WaitForPendingFinalizers();
    var p = new Pair<string> { A = "a", B = "b" }; p.Swap(); var q = new Pair<object> { A = "a" }; q.Swap();
    t.Join(); GC.KeepAlive(head); return 0;
  }
}
