using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

class App
{
	static int sink;

	static bool IsPrime(int n)
	{
		for (int i = 2; i * i <= n; i++)
			if (n % i == 0)
				return false;
		return true;
	}

	static int CountPrimes(int limit)
	{
		int count = 0;
		for (int n = 2; n < limit; n++)
			if (IsPrime(n))
				count++;
		return count;
	}

	class Stack<T>
	{
		T[] items = new T[4];
		int n;
		public void Push(T item)
		{
			if (n == items.Length)
				Array.Resize(ref items, 2 * n);
			items[n++] = item;
		}
		public T Pop() { return items[--n]; }
	}

	static void Fill<T>(T item)
	{
		var s = new Stack<T>();
		for (int i = 0; i < 20000; i++)
			s.Push(item);
		for (int i = 0; i < 20000; i++)
			s.Pop();
	}

	static int Thrower(int n)
	{
		if (n % 3 == 0)
			throw new InvalidOperationException("three");
		return n;
	}

	static int Catcher(int times)
	{
		int caught = 0;
		for (int i = 0; i < times; i++)
			try { sink += Thrower(i); }
			catch (InvalidOperationException) { caught++; }
		return caught;
	}

	static void Main(string[] args)
	{
		double seconds = args.Length > 0 ? double.Parse(args[0], System.Globalization.CultureInfo.InvariantCulture) : 1.0;
		var end = DateTime.UtcNow.AddSeconds(seconds);
		var threads = new List<Thread>();
		for (int t = 0; t < 2; t++) {
			var thread = new Thread(() => { while (DateTime.UtcNow < end) sink += CountPrimes(20000); });
			thread.Name = "worker " + t;
			thread.Start();
			threads.Add(thread);
		}
		long sum = 0;
		while (DateTime.UtcNow < end) {
			Fill("text");
			Fill(new object());
			Fill(42);
			sum += Catcher(200);
			sum += Enumerable.Range(0, 5000).Where(n => n % 7 == 0).Select(n => n * 2).Sum();
		}
		foreach (var t in threads)
			t.Join();
		Console.WriteLine(sum > 0 ? "done" : "nothing");
	}
}
