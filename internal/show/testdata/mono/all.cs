using System; using System.Threading; using System.Runtime.CompilerServices; using System.Runtime.InteropServices;
class Held { ~Held() { All.sink++; } public Held next; }
static class All {
  public static long sink; static object guard = new object();
  [MethodImpl(MethodImplOptions.NoInlining)] static int Fib(int n) { return n<2?n:Fib(n-1)+Fib(n-2); }
  [MethodImpl(MethodImplOptions.NoInlining)] static void Thrower() { try { throw new Exception("x"); } finally { sink++; } }
  [MethodImpl(MethodImplOptions.NoInlining)] static void Drop() { for (int i=0;i<4;i++) new Held { next = new Held() }; }
  static void Work() { sink+=Fib(6); try { Thrower(); } catch (Exception) { sink--; } lock(guard) { Thread.Sleep(30); } }
  static int Main() { var t=new Thread(Work); t.Name="second"; t.Start(); Work(); t.Join();
    var h = GCHandle.Alloc(new object(), GCHandleType.Pinned); var w = new WeakReference(new object()); h.Free();
    Drop(); GC.Collect(0); GC.Collect(); GC.WaitForPendingFinalizers(); sink += w.IsAlive ? 1 : 0; return 0; }
}
